//! Examples for the help of every verb.

/// Examples for each verb, such as `store push`: a command line, and the effect. The short help
/// shows the first example, which works in a copy of `docs/samples` with an index of the articles.
pub const EXAMPLES: &[(&str, &[(&str, &str)])] = &[
    (
        "demo",
        &[
            ("cento demo class", "compare the files of a folder, and write a report"),
            ("cento demo class --against last-year", "also compare them with last year's files"),
            ("cento demo", "try cento on source code that is already on your machine"),
        ],
    ),
    (
        "pairs",
        &[
            (
                "cento pairs class --report class.html",
                "which essays of a class share text, with a report",
            ),
            (
                "cento pairs programs --by directory --for code -b template",
                "the most similar programs of a course, without the template they started from",
            ),
            ("cento pairs articles.idx --min-resemblance 0.8", "all near-duplicates in an index"),
            (
                "cento pairs articles.idx --min-passage 50 --context 40 --format csv",
                "every shared passage of at least 50 words, as a table with the text",
            ),
        ],
    ),
    (
        "dedup",
        &[
            (
                "cento dedup articles.jsonl --out new.jsonl --dropped dropped.jsonl",
                "write the documents without near-duplicates, and list the near-duplicates",
            ),
            (
                "cento dedup next.jsonl --against articles.idx --out new.jsonl",
                "also drop near-duplicates of documents in an index",
            ),
        ],
    ),
    (
        "cluster",
        &[
            ("cento cluster articles.idx", "groups of documents that are alike"),
            ("cento cluster class --min-resemblance 0.3", "the same for the files of a folder"),
        ],
    ),
    (
        "decontaminate",
        &[
            (
                "cento decontaminate pages.jsonl --against quiz.jsonl --out clean.jsonl",
                "write a corpus without the documents that contain questions of a benchmark",
            ),
            (
                "cento decontaminate pages.jsonl --against quiz.jsonl --report quiz.html",
                "report which questions occur in the corpus, with the evidence",
            ),
        ],
    ),
    (
        "families",
        &[
            (
                "cento families press.jsonl --date date",
                "each reprinted passage with the documents that have it, the earliest first",
            ),
            (
                "cento families archive.idx --date date --document press/1841.txt",
                "where the passages of one document come from",
            ),
        ],
    ),
    (
        "lineage",
        &[
            ("cento lineage articles.idx", "each version below the document it was made from"),
            (
                "cento lineage articles.idx --date revised --graph versions.graphml",
                "versions by their dates, and the network for Gephi",
            ),
        ],
    ),
    (
        "search",
        &[
            (
                "cento search articles.idx quote.txt --passages",
                "which documents share text with a file, and where",
            ),
            (
                "cento search articles.idx essay.docx --report essay.html",
                "the same as a file to read and print",
            ),
        ],
    ),
    (
        "trace",
        &[
            (
                "cento trace articles.idx essay.txt",
                "which parts of an essay other documents have, and which part is new",
            ),
            (
                "cento trace archive.idx article.txt --date published",
                "the same for an article, with the date that each part first appeared",
            ),
        ],
    ),
    (
        "compare",
        &[
            ("cento compare class/anna.txt class/ben.txt", "what two files share, side by side"),
            ("cento compare draft.docx final.docx --format json", "the same for programs"),
        ],
    ),
    (
        "watch add",
        &[
            ("cento watch add articles.idx essay.txt", "watch for documents that quote an essay"),
            (
                "cento watch add --url http://127.0.0.1:7227 lists.jsonl",
                "make a watch in a service for each record of a list",
            ),
        ],
    ),
    ("watch list", &[("cento watch list articles.idx", "the watches of an index")]),
    (
        "watch events",
        &[
            ("cento watch events articles.idx", "the new documents that share text with a watch"),
            ("cento watch events articles.idx --after 17", "only the events after 17"),
        ],
    ),
    ("watch remove", &[("cento watch remove articles.idx essay.txt", "stop watching for a file")]),
    (
        "add",
        &[
            ("cento add articles.idx articles.jsonl", "index each line of a file as a document"),
            (
                "cento add code.idx src --for code --exclude node_modules",
                "index the source code in a folder",
            ),
        ],
    ),
    (
        "create",
        &[
            ("cento create new.idx", "an empty index with the default scheme"),
            ("cento create rewritten.idx --for rewritten", "an index for rewritten text"),
        ],
    ),
    (
        "list",
        &[
            ("cento list articles.idx", "the documents of an index"),
            ("cento list articles.idx --format csv", "the same as a table"),
        ],
    ),
    (
        "show",
        &[
            ("cento show articles.idx tides", "the text of a document"),
            ("cento show articles.idx tides --format json", "everything that the index stores"),
        ],
    ),
    (
        "export",
        &[
            ("cento export articles.idx", "all documents as JSON lines"),
            ("cento export articles.idx --filter lang:de", "only the documents in German"),
        ],
    ),
    (
        "remove",
        &[
            ("cento remove articles.idx bees-copy", "remove one document"),
            ("cento remove articles.idx --from-file ids.txt", "remove the ids in a file"),
            (
                "cento remove articles.idx --filter 'meta.year:[* TO 2023]' --dry-run",
                "count the documents of 2023 and before",
            ),
        ],
    ),
    (
        "withdraw",
        &[
            (
                "cento withdraw articles.idx tides --dry-run",
                "list what would be removed, and what quotes it",
            ),
            (
                "cento withdraw articles.idx tides --record tides.json",
                "remove a document with its copies, and keep a record",
            ),
        ],
    ),
    (
        "compact",
        &[
            ("cento compact articles.idx", "free the space of removed documents"),
            ("cento compact --url http://127.0.0.1:7227", "the same in a service"),
        ],
    ),
    (
        "merge",
        &[
            ("cento merge all.idx articles.idx press.idx", "combine two indexes into one"),
            (
                "cento merge all.idx articles.idx --on-conflict later",
                "if both have an id, take the document of articles.idx",
            ),
        ],
    ),
    (
        "stats",
        &[
            ("cento stats articles.idx", "size and contents of an index"),
            ("cento stats articles.idx --quick --format json", "without the slow counts"),
        ],
    ),
    (
        "check",
        &[
            ("cento check articles.idx", "read the whole index and report damage"),
            ("cento check articles.idx --format json", "the same for programs"),
        ],
    ),
    (
        "recover",
        &[
            ("cento recover articles.idx", "list the undamaged segments"),
            ("cento recover damaged.idx --to whole.idx", "make an index of them"),
        ],
    ),
    (
        "serve",
        &[
            ("cento serve articles.idx", "a service for this machine, on port 7227"),
            (
                "cento serve articles.idx --listen 0.0.0.0:7227 --tokens tokens",
                "a service for other machines, which need a token",
            ),
        ],
    ),
    (
        "store push",
        &[
            ("cento store push articles.idx backup", "publish the last commit in a folder"),
            ("cento store push articles.idx s3://bucket/articles --keep 10", "keep ten commits"),
        ],
    ),
    (
        "store pull",
        &[
            ("cento store pull backup copy.idx", "copy the current commit into a directory"),
            ("cento store pull s3://bucket/articles copy.idx --manifest 3", "an older commit"),
        ],
    ),
    (
        "store history",
        &[
            ("cento store history backup", "the commits that were pushed"),
            ("cento store history s3://bucket/articles --format json", "the same for programs"),
        ],
    ),
    (
        "store restore",
        &[
            ("cento store restore backup 1", "make commit 1 the current one again"),
            ("cento store restore s3://bucket/articles 3 --format json", "commit 3 of a bucket"),
        ],
    ),
    (
        "method tune",
        &[
            ("cento method tune articles.jsonl", "which setting finds copies of your documents"),
            (
                "cento method tune programs --pairs judged.tsv --for code --report tune.html",
                "which setting tells judged pairs of programs apart, with a report",
            ),
        ],
    ),
    (
        "method analyze",
        &[
            ("cento method analyze articles.idx", "how much of a collection is reused"),
            ("cento method analyze articles.idx --format json", "the same for programs"),
        ],
    ),
    (
        "method boilerplate",
        &[
            ("cento method boilerplate class", "what most submissions share: the assignment"),
            (
                "cento method boilerplate pages.idx --min-share 0.1 --out menus.jsonl",
                "what a tenth of an index shares, as a file for the option -b",
            ),
        ],
    ),
    (
        "method train",
        &[
            ("cento method train articles.jsonl --out counts.freq", "the table for fbw(q=4)"),
            (
                "cento method train articles.jsonl --analyzer avtor --out stems.freq",
                "a table of stems",
            ),
        ],
    ),
    (
        "method fingerprint",
        &[
            ("cento method fingerprint essay.txt", "the fingerprints of a file"),
            (
                "cento method fingerprint essay.txt --format json",
                "a signature that you can search with, without the text",
            ),
        ],
    ),
    (
        "info",
        &[
            ("cento info presets", "what --for sets for each kind of documents"),
            ("cento info formats --format json", "the file formats that cento reads"),
        ],
    ),
    (
        "info health",
        &[
            ("cento info health", "does the service answer?"),
            ("cento info health http://127.0.0.1:8080", "a service at another address"),
        ],
    ),
    (
        "info completions",
        &[
            ("cento info completions bash", "the completion script for bash"),
            ("cento info completions zsh", "the script for zsh"),
        ],
    ),
    (
        "info man",
        &[
            ("cento info man search", "the manual page of a verb"),
            ("cento info man --out share/man/man1", "all manual pages"),
        ],
    ),
];
