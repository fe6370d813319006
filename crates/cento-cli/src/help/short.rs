//! The short help of each verb: one line about it, and what most people need first.
//!
//! It is written as such, not cut out of the long help, which has all arguments.

/// The short help of a verb.
pub struct Short {
    /// The verb, such as `store push`.
    pub verb: &'static str,
    /// Its purpose, in one line.
    pub about: &'static str,
    /// The arguments that it shows, by their ids: all that have a place, and at most
    /// [`OPTIONS_MAX`] options.
    pub arguments: &'static [(&'static str, &'static str)],
}

/// The options that a short help shows at most.
#[cfg(test)]
pub const OPTIONS_MAX: usize = 6;

const INDEX: (&str, &str) = ("index", "Directory of the index");
const FORMAT: (&str, &str) = ("format", "Output format");
const URL: (&str, &str) = ("url", "Use the service at this address instead of an index");
const REPORT: (&str, &str) = ("reports", "Also write a report: FILE.html, .json or .csv");
const FOR: (&str, &str) = ("for", "Kind of the texts");
const BOILERPLATE: (&str, &str) =
    ("boilerplate", "Ignore the text in these files, or what most documents have");
const TEXT_FIELD: (&str, &str) = ("text_field", "Field or column with the text");
const ID_FIELD: (&str, &str) = ("id_field", "Field or column with the id");
const LIMIT: (&str, &str) = ("limit", "Show at most this many");
const INPUTS: (&str, &str) = ("paths", "Files and folders to compare, or an index");
const STORE: (&str, &str) = ("url", "s3://, gs://, az:// or file:///, or a directory");
const NAMES: (&str, &str) = ("names", "Show only these names");
const SERVED: (&str, &str) = ("index", "Directory of the index, omitted with --url");

/// The short help of every verb that does something itself.
pub const SHORT: &[Short] = &[
    Short {
        verb: "create",
        about: "Create an empty index",
        arguments: &[
            INDEX,
            FOR,
            ("no_text", "Store no text"),
            ("if_missing", "Keep an index that is there"),
        ],
    },
    Short {
        verb: "add",
        about: "Add documents to an index, and create it if it is missing",
        arguments: &[
            SERVED,
            ("paths", "Files and folders, or - for standard input"),
            FOR,
            TEXT_FIELD,
            ID_FIELD,
            ("include", "Read only the files with such names"),
            ("exclude", "Leave out the files with such names"),
            URL,
        ],
    },
    Short {
        verb: "list",
        about: "List the documents of an index",
        arguments: &[INDEX, ("filter", "Only the documents that match, such as lang:de"), FORMAT],
    },
    Short {
        verb: "show",
        about: "Show the text of a document, its fields and its fingerprints",
        arguments: &[INDEX, ("id", "Id of the document"), FORMAT],
    },
    Short {
        verb: "export",
        about: "Write the documents of an index as JSON lines",
        arguments: &[INDEX, ("filter", "Only the documents that match, such as lang:de")],
    },
    Short {
        verb: "remove",
        about: "Remove documents from an index",
        arguments: &[
            SERVED,
            ("ids", "Ids of the documents"),
            ("from_file", "Read the ids from this file, one a line"),
            ("filter", "All documents that match, such as lang:de"),
            ("dry_run", "Count the documents, and remove none"),
            URL,
            FORMAT,
        ],
    },
    Short {
        verb: "withdraw",
        about: "Remove a document with its copies, and list those that quote it",
        arguments: &[
            SERVED,
            ("id", "Id of the document"),
            ("dry_run", "Remove nothing, only list"),
            ("record", "Write a record of the withdrawal to this file"),
            ("min_resemblance", "Minimum resemblance of a copy, from 0 to 1"),
            ("list", "List the documents that were withdrawn"),
            URL,
            FORMAT,
        ],
    },
    Short {
        verb: "compact",
        about: "Merge the segments of an index, and free the space of removed documents",
        arguments: &[SERVED, ("segments", "Leave at most this many segments"), URL],
    },
    Short {
        verb: "merge",
        about: "Make one index of several",
        arguments: &[
            ("index", "Directory of the new index"),
            ("shards", "Directories of the indexes that it is made of"),
            ("on_conflict", "What to do with documents of the same id"),
            ("remove", "Remove the indexes that were taken"),
            URL,
        ],
    },
    Short {
        verb: "stats",
        about: "Show the size and contents of an index",
        arguments: &[SERVED, ("quick", "Leave out what takes long to count"), URL, FORMAT],
    },
    Short {
        verb: "check",
        about: "Read a whole index and report all damage",
        arguments: &[INDEX, FORMAT],
    },
    Short {
        verb: "recover",
        about: "Make an index of the undamaged segments in a directory",
        arguments: &[
            ("index", "Directory of the damaged index"),
            ("to", "Directory of the new index; without it the segments are listed"),
            ("segment", "Only this segment"),
            ("like", "Index that was created with the same options"),
        ],
    },
    Short {
        verb: "search",
        about: "Find the documents that share text with a file",
        arguments: &[
            SERVED,
            ("files", "Files and folders to search for, or - for standard input"),
            ("passages", "Show the passages that they share"),
            REPORT,
            LIMIT,
            ("min_containment", "Minimum share of the file that a document has, from 0 to 1"),
            ("filter", "Only the documents that match, such as lang:de"),
            FORMAT,
        ],
    },
    Short {
        verb: "trace",
        about: "Show which parts of a text other documents have, and which had each first",
        arguments: &[
            SERVED,
            ("files", "Files and folders to trace, or - for standard input"),
            ("date", "Field of meta with the date, which decides the first carrier"),
            ("carriers", "Show this many more carriers of each part"),
            REPORT,
            ("filter", "Only the documents that match, such as lang:de"),
            FORMAT,
        ],
    },
    Short {
        verb: "compare",
        about: "Show the passages that two files have in common, side by side",
        arguments: &[
            ("a", "First file, or - for standard input"),
            ("b", "Second file, or - for standard input"),
            FOR,
            ("min_passage", "Minimum number of words of a passage"),
            REPORT,
            FORMAT,
        ],
    },
    Short {
        verb: "watch add",
        about: "Watch for new documents that share text with these",
        arguments: &[
            SERVED,
            ("files", "Files and folders to watch for, or - for standard input"),
            ("name", "Call the watch so"),
            ("text", "Watch for this text"),
            ("min_containment", "Minimum share of the watched text, from 0 to 1"),
            ("min_passage", "Minimum number of words of a passage"),
            ("webhook", "Address that the service posts events to"),
            URL,
        ],
    },
    Short { verb: "watch list", about: "List the watches", arguments: &[SERVED, URL, FORMAT] },
    Short {
        verb: "watch remove",
        about: "Remove watches",
        arguments: &[SERVED, ("names", "Names of the watches"), URL],
    },
    Short {
        verb: "watch events",
        about: "Show the events of watches",
        arguments: &[
            SERVED,
            ("after", "Only the events after this cursor"),
            ("watch", "Only the events of this watch"),
            LIMIT,
            URL,
            FORMAT,
        ],
    },
    Short {
        verb: "demo",
        about: "Compare all files in a folder, and write a report",
        arguments: &[
            ("dir", "Folder; without it, the sources that Cargo has downloaded"),
            ("against", "Folder of earlier texts, which are not compared with each other"),
            ("open", "Open the report"),
            ("bytes", "Read at most this much text"),
        ],
    },
    Short {
        verb: "pairs",
        about: "Find pairs of documents that share text",
        arguments: &[
            ("paths", "Files and folders to compare, or indexes"),
            FOR,
            ("against", "Earlier texts to compare with too: a folder or an index"),
            ("by", "Unit of a document, such as each folder"),
            BOILERPLATE,
            REPORT,
            LIMIT,
        ],
    },
    Short {
        verb: "families",
        about: "Find each reused passage, with all documents that have it",
        arguments: &[
            INPUTS,
            ("date", "Field with the dates, which tell who had it first"),
            ("min_passage", "Minimum number of words of a passage"),
            ("min_documents", "Minimum number of documents with a passage"),
            BOILERPLATE,
            REPORT,
            LIMIT,
        ],
    },
    Short {
        verb: "lineage",
        about: "Find the versions of each document",
        arguments: &[
            INPUTS,
            ("date", "Field with the dates, which tell the earlier of two"),
            ("min_explained", "Minimum share that an ancestor has of a version, from 0 to 1"),
            REPORT,
            ("graph", "Also write a network: FILE.graphml or .dot"),
            FORMAT,
        ],
    },
    Short {
        verb: "cluster",
        about: "Find groups of documents that are alike",
        arguments: &[
            INPUTS,
            ("min_resemblance", "Minimum resemblance of a group, from 0 to 1"),
            ("prefer", "Which document represents a group"),
            ("min_size", "Minimum number of documents of a group"),
            BOILERPLATE,
            FORMAT,
        ],
    },
    Short {
        verb: "dedup",
        about: "Write the documents that are not duplicates, and list the others",
        arguments: &[
            ("paths", "Files and folders, or - for standard input"),
            ("out", "Write the documents to this file"),
            FOR,
            TEXT_FIELD,
            ID_FIELD,
            ("min_resemblance", "Minimum resemblance of a duplicate, from 0 to 1"),
            ("against", "Index of documents that count as duplicates too"),
        ],
    },
    Short {
        verb: "decontaminate",
        about: "Find the questions of benchmarks in a corpus, and write it without them",
        arguments: &[
            ("paths", "Files and folders of the corpus, or - for standard input"),
            ("against", "Benchmark: a file of questions, or a folder of such files"),
            ("out", "Write the corpus to this file, without contaminated documents"),
            TEXT_FIELD,
            ("question_field", "Field or column with the question"),
            ("cut_passages", "Remove the passages, not the documents"),
            REPORT,
        ],
    },
    Short {
        verb: "method tune",
        about: "Try a dozen settings on a collection, and name the best",
        arguments: &[
            ("paths", "Files, folders and indexes"),
            FOR,
            ("pairs", "Pairs that you labeled, to use instead of planted edits"),
            ("sample", "Take at most this many documents"),
            TEXT_FIELD,
            REPORT,
            FORMAT,
        ],
    },
    Short {
        verb: "method analyze",
        about: "Show how much of a collection is reused, and how",
        arguments: &[INDEX, BOILERPLATE, LIMIT, FORMAT],
    },
    Short {
        verb: "method boilerplate",
        about: "Show the passages that most documents have",
        arguments: &[
            ("paths", "Files and folders, or indexes"),
            ("min_share", "Minimum share of the documents that have a passage"),
            ("out", "Also write the passages to this file, for the option -b"),
            ("by", "Unit of a document, such as each folder"),
            FOR,
            LIMIT,
        ],
    },
    Short {
        verb: "method train",
        about: "Count the runs of tokens of a collection, for schemes that need it",
        arguments: &[
            ("inputs", "Files and folders, or one index"),
            ("out", "Table to write"),
            ("run_length", "Number of tokens of a run"),
            ("analyzer", "How text is split into tokens"),
            TEXT_FIELD,
        ],
    },
    Short {
        verb: "method fingerprint",
        about: "Show the fingerprints of a file",
        arguments: &[
            ("file", "File, or - for standard input"),
            ("like", "Sign it as the documents of this index"),
            FOR,
            ("scheme", "How fingerprints are chosen"),
            ("analyzer", "How text is split into tokens"),
            FORMAT,
        ],
    },
    Short { verb: "info presets", about: "List what --for sets", arguments: &[NAMES, FORMAT] },
    Short {
        verb: "info schemes",
        about: "List the ways of choosing fingerprints",
        arguments: &[NAMES, FORMAT],
    },
    Short {
        verb: "info analyzers",
        about: "List the ways of splitting text into tokens",
        arguments: &[NAMES, FORMAT],
    },
    Short {
        verb: "info measures",
        about: "List the measures of similarity",
        arguments: &[NAMES, FORMAT],
    },
    Short {
        verb: "info formats",
        about: "List the formats of files that can be read",
        arguments: &[NAMES, FORMAT],
    },
    Short {
        verb: "info health",
        about: "Ask whether a service is alive",
        arguments: &[("url", "Address of the service"), ("ready", "Also whether it can write")],
    },
    Short {
        verb: "info completions",
        about: "Print the completion script for a shell",
        arguments: &[("shell", "Shell")],
    },
    Short {
        verb: "info man",
        about: "Print the manual page of a verb",
        arguments: &[("verbs", "Verb"), ("out", "Directory for the pages of all verbs")],
    },
    Short {
        verb: "serve",
        about: "Serve an index over HTTP, with a page for the browser",
        arguments: &[
            INDEX,
            ("others", "More indexes, which are searched as if they were one"),
            ("listen", "Address and port"),
            ("read_only", "Serve an index that another process writes to"),
            ("tokens", "File with the access tokens"),
            ("url", "Serve the index in this object store"),
            ("timeout", "Abort requests that take longer"),
            ("config", "Read the options from this file"),
        ],
    },
    Short {
        verb: "store push",
        about: "Publish an index in an object store",
        arguments: &[
            INDEX,
            STORE,
            ("every", "Push again and again, with this interval"),
            ("keep", "Keep only this many manifests"),
            ("keep_for", "Keep younger manifests too"),
        ],
    },
    Short {
        verb: "store pull",
        about: "Copy an index from an object store",
        arguments: &[
            STORE,
            INDEX,
            ("manifest", "Fetch this manifest, by its number"),
            ("force", "Overwrite changes that were not pushed"),
        ],
    },
    Short {
        verb: "store history",
        about: "List the commits in an object store",
        arguments: &[STORE, FORMAT],
    },
    Short {
        verb: "store restore",
        about: "Make an old commit in an object store the current one",
        arguments: &[
            STORE,
            ("manifest", "Manifest to restore, by its number"),
            ("force", "Although documents come back that were withdrawn"),
        ],
    },
];
