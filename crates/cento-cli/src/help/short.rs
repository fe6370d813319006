//! The short help of each verb: a line about the verb, and the arguments that most people need.
//!
//! New users read the short help, so it is written separately and not cut out of the long help.

/// The short help of a verb.
pub struct Short {
    /// The verb with its group, such as `store push`.
    pub verb: &'static str,
    /// The verb's purpose in one line.
    pub about: &'static str,
    /// The shown arguments by id: every positional argument, and at most [`OPTIONS_MAX`] options.
    pub arguments: &'static [(&'static str, &'static str)],
}

/// Maximum number of options in a short help.
#[cfg(test)]
pub const OPTIONS_MAX: usize = 6;

const INDEX: (&str, &str) = ("index", "Directory of your index");
const FORMAT: (&str, &str) = ("format", "Output format");
const URL: (&str, &str) = ("url", "Use this service instead of an index on disk");
const REPORT: (&str, &str) = ("reports", "Also write a report: FILE.html, .json or .csv");
const FOR: (&str, &str) = ("for", "Kind of documents, such as essays or code");
const BOILERPLATE: (&str, &str) =
    ("boilerplate", "Ignore the text in these files, such as the assignment");
const TEXT_FIELD: (&str, &str) = ("text_field", "JSON field or column with the text");
const ID_FIELD: (&str, &str) = ("id_field", "JSON field or column with the id");
const LIMIT: (&str, &str) = ("limit", "Show at most this many");
const INPUTS: (&str, &str) = ("paths", "Files and folders to compare, or an index");
const STORE: (&str, &str) = ("url", "s3://, gs://, az:// or file:/// address, or a folder");
const NAMES: (&str, &str) = ("names", "Show only these names");
const SERVED: (&str, &str) = ("index", "Directory of your index (omit it with --url)");

/// The short help of every verb that is not only a group of verbs.
pub const SHORT: &[Short] = &[
    Short {
        verb: "create",
        about: "Create an empty index",
        arguments: &[
            INDEX,
            FOR,
            ("no_text", "Store no text, only fingerprints"),
            ("if_missing", "Do nothing if the index exists"),
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
            ("include", "Read only files with such names, such as '*.txt'"),
            ("exclude", "Skip files with such names"),
            URL,
        ],
    },
    Short {
        verb: "list",
        about: "List the documents of an index",
        arguments: &[INDEX, ("filter", "Only documents that match, such as lang:de"), FORMAT],
    },
    Short {
        verb: "show",
        about: "Show the text of a document, its fields and its fingerprints",
        arguments: &[INDEX, ("id", "Id of the document"), FORMAT],
    },
    Short {
        verb: "export",
        about: "Write the documents of an index as JSON lines",
        arguments: &[INDEX, ("filter", "Only documents that match, such as lang:de")],
    },
    Short {
        verb: "remove",
        about: "Remove documents from an index",
        arguments: &[
            SERVED,
            ("ids", "Ids of the documents"),
            ("from_file", "Read the ids from this file, one per line"),
            ("filter", "Remove all documents that match, such as lang:de"),
            ("dry_run", "Count the documents and remove nothing"),
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
            ("dry_run", "List what would be removed, and remove nothing"),
            ("record", "Write a record of the withdrawal to this file"),
            ("min_resemblance", "Minimum resemblance of a copy, 0 to 1"),
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
        about: "Combine several indexes into one",
        arguments: &[
            ("index", "Directory of the new index"),
            ("shards", "Directories of the indexes to combine"),
            ("on_conflict", "What to do if two indexes have the same id"),
            ("remove", "Remove the combined indexes afterwards"),
            URL,
        ],
    },
    Short {
        verb: "stats",
        about: "Show the size and contents of an index",
        arguments: &[SERVED, ("quick", "Omit the slow counts"), URL, FORMAT],
    },
    Short {
        verb: "check",
        about: "Read a whole index and report all damage",
        arguments: &[INDEX, FORMAT],
    },
    Short {
        verb: "recover",
        about: "Rescue the undamaged segments of a damaged index",
        arguments: &[
            ("index", "Directory of the damaged index"),
            ("to", "Directory of the new index. Without it: list the segments"),
            ("segment", "Rescue only this segment"),
            ("like", "Index with the same options, if the list is lost"),
        ],
    },
    Short {
        verb: "search",
        about: "Find the documents that share text with a file",
        arguments: &[
            SERVED,
            ("files", "Files and folders to look for, or - for standard input"),
            ("passages", "Show the shared passages"),
            REPORT,
            LIMIT,
            ("min_containment", "Minimum share of the file in a document, 0 to 1"),
            ("filter", "Only documents that match, such as lang:de"),
            FORMAT,
        ],
    },
    Short {
        verb: "trace",
        about: "Show which parts of a text other documents have, and who had them first",
        arguments: &[
            SERVED,
            ("files", "Files and folders to trace, or - for standard input"),
            ("date", "Field of meta with the date of a document"),
            ("carriers", "Show this many more documents for each part"),
            REPORT,
            ("filter", "Only documents that match, such as lang:de"),
            FORMAT,
        ],
    },
    Short {
        verb: "compare",
        about: "Show the passages that two files share, side by side",
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
        about: "Watch for new documents that share text with your files",
        arguments: &[
            SERVED,
            ("files", "Files and folders to watch for, or - for standard input"),
            ("name", "Give the watch this name"),
            ("text", "Watch for this text"),
            ("min_containment", "Minimum share of the watched text, 0 to 1"),
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
            ("dir", "Folder to compare. Without it: sources that Cargo has downloaded"),
            ("against", "Earlier files to compare with too: a folder or an index"),
            ("open", "Open the report"),
            ("bytes", "Read at most this much text of Cargo's sources"),
        ],
    },
    Short {
        verb: "pairs",
        about: "Find pairs of documents that share text",
        arguments: &[
            ("paths", "Files and folders to compare, or indexes"),
            FOR,
            ("against", "Earlier files to compare with too: a folder or an index"),
            ("by", "What counts as one document: file, directory, archive"),
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
            ("date", "Field with the date, so that you see who was first"),
            ("min_passage", "Minimum number of words of a passage"),
            ("min_documents", "Minimum number of documents that have a passage"),
            BOILERPLATE,
            REPORT,
            LIMIT,
        ],
    },
    Short {
        verb: "lineage",
        about: "Find the versions of each document, and what each was made from",
        arguments: &[
            INPUTS,
            ("date", "Field with the date, which says what came first"),
            ("min_explained", "Minimum share of a version in its ancestor, 0 to 1"),
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
            ("min_resemblance", "Minimum resemblance within a group, 0 to 1"),
            ("prefer", "Which document represents a group"),
            ("min_size", "Minimum number of documents in a group"),
            BOILERPLATE,
            FORMAT,
        ],
    },
    Short {
        verb: "dedup",
        about: "Write documents without near-duplicates, and list the dropped ones",
        arguments: &[
            ("paths", "Files and folders, or - for standard input"),
            ("out", "Write the documents to this file"),
            FOR,
            TEXT_FIELD,
            ID_FIELD,
            ("min_resemblance", "Minimum resemblance of a duplicate, 0 to 1"),
            ("against", "Also drop what this index already has"),
        ],
    },
    Short {
        verb: "decontaminate",
        about: "Find the questions of benchmarks in a corpus, and remove them",
        arguments: &[
            ("paths", "Files and folders of the corpus, or - for standard input"),
            ("against", "Benchmark: a file of questions, or a folder of files"),
            ("out", "Write the corpus without contaminated documents here"),
            TEXT_FIELD,
            ("question_field", "Field or column with the question"),
            ("cut_passages", "Cut the questions, and keep the documents"),
            REPORT,
        ],
    },
    Short {
        verb: "method tune",
        about: "Try a dozen settings on your collection, and recommend the best",
        arguments: &[
            ("paths", "Files, folders and indexes"),
            FOR,
            ("pairs", "Pairs that you labeled, instead of planted edits"),
            ("sample", "Use at most this many documents"),
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
        about: "Show the passages that most documents share",
        arguments: &[
            ("paths", "Files and folders, or indexes"),
            ("min_share", "Minimum share of documents with a passage, 0 to 1"),
            ("out", "Also write the passages to this file, for -b"),
            ("by", "What counts as one document: file, directory, archive"),
            FOR,
            LIMIT,
        ],
    },
    Short {
        verb: "method train",
        about: "Count the runs of tokens of a collection, for schemes that need a table",
        arguments: &[
            ("inputs", "Files and folders, or one index"),
            ("out", "New file for the table"),
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
            ("like", "Use the scheme and analyzer of this index"),
            FOR,
            ("scheme", "Scheme, which chooses fingerprints"),
            ("analyzer", "Analyzer, which splits text into tokens"),
            FORMAT,
        ],
    },
    Short { verb: "info presets", about: "List what --for sets", arguments: &[NAMES, FORMAT] },
    Short {
        verb: "info schemes",
        about: "List the schemes, which choose fingerprints",
        arguments: &[NAMES, FORMAT],
    },
    Short {
        verb: "info analyzers",
        about: "List the analyzers, which split text into tokens",
        arguments: &[NAMES, FORMAT],
    },
    Short {
        verb: "info measures",
        about: "List the measures of similarity",
        arguments: &[NAMES, FORMAT],
    },
    Short {
        verb: "info formats",
        about: "List the file formats that cento reads",
        arguments: &[NAMES, FORMAT],
    },
    Short {
        verb: "info health",
        about: "Check whether a service is alive",
        arguments: &[
            ("url", "Address of the service"),
            ("ready", "Also check whether it can write"),
        ],
    },
    Short {
        verb: "info completions",
        about: "Print the completion script for a shell",
        arguments: &[("shell", "Shell")],
    },
    Short {
        verb: "info man",
        about: "Print the manual page of a verb",
        arguments: &[
            ("verbs", "Verb to describe"),
            ("out", "Directory for the pages of all verbs"),
        ],
    },
    Short {
        verb: "serve",
        about: "Serve an index over HTTP, with a page for the browser",
        arguments: &[
            INDEX,
            ("others", "More indexes, searched as one"),
            ("listen", "Address and port"),
            ("read_only", "Write nothing, because another process does"),
            ("tokens", "File with the access tokens"),
            ("url", "Serve the index in this object store"),
            ("timeout", "Abort requests that take longer than this"),
            ("config", "Read the options from this file"),
        ],
    },
    Short {
        verb: "store push",
        about: "Publish an index in an object store",
        arguments: &[
            INDEX,
            STORE,
            ("every", "Push again after each interval of this length"),
            ("keep", "Keep only this many commits"),
            ("keep_for", "Also keep commits younger than this"),
        ],
    },
    Short {
        verb: "store pull",
        about: "Copy an index from an object store",
        arguments: &[
            STORE,
            INDEX,
            ("manifest", "Fetch the commit with this number"),
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
            ("manifest", "Number of the commit to restore"),
            ("force", "Restore even if it brings back withdrawn documents"),
        ],
    },
];
