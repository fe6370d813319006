//! The examples of each verb.

/// Examples for each verb, such as `store push`: a command line, and its effect.
pub const EXAMPLES: &[(&str, &[(&str, &str)])] = &[
    (
        "create",
        &[
            ("cento create corpus.idx", "an empty index with the default scheme"),
            ("cento create rewritten.idx --for rewritten", "an index for text that was rewritten"),
        ],
    ),
    (
        "add",
        &[
            ("cento add corpus.idx articles.jsonl", "a document for each line"),
            (
                "cento add code.idx src --for code --exclude node_modules",
                "the programs in a directory",
            ),
        ],
    ),
    (
        "search",
        &[
            ("cento search corpus.idx essay.docx --passages", "what the essay shares, and where"),
            (
                "cento search corpus.idx essay.docx --report essay.html",
                "the same as a file to read and print",
            ),
        ],
    ),
    (
        "trace",
        &[
            (
                "cento trace archive.idx article.txt --date published",
                "which parts of an article are in an archive, and since when",
            ),
            (
                "cento trace corpus.idx essay.docx --report essay.html",
                "an essay with its sources, as a file to read and print",
            ),
        ],
    ),
    (
        "compare",
        &[
            ("cento compare draft.docx final.docx", "what two files have in common"),
            ("cento compare a.txt b.txt --format json", "the same for programs"),
        ],
    ),
    (
        "pairs",
        &[
            (
                "cento pairs class --report class.html",
                "the essays of a class that share most text, with a report",
            ),
            ("cento pairs corpus.idx --min-resemblance 0.8", "all near-duplicates in an index"),
            (
                "cento pairs handed-in --by directory --for code -b template",
                "the most similar programs of a course",
            ),
            (
                "cento pairs corpus.idx --min-passage 50 --context 40 --format csv",
                "the passages of 50 words and more that documents share, with their texts",
            ),
        ],
    ),
    (
        "families",
        &[
            (
                "cento families corpus.idx --date published",
                "each reused passage with its carriers, the earliest first",
            ),
            (
                "cento families corpus.idx --date published --document press/1841.txt",
                "where the passages of one document come from",
            ),
        ],
    ),
    (
        "lineage",
        &[
            ("cento lineage corpus.idx --date revised", "each version below its ancestor"),
            (
                "cento lineage corpus.idx --date revised --graph versions.graphml",
                "the same as a network for Gephi",
            ),
        ],
    ),
    (
        "cluster",
        &[
            ("cento cluster corpus.idx --min-resemblance 0.8", "groups of near-duplicates"),
            ("cento cluster corpus.idx --format json", "the same for programs"),
        ],
    ),
    (
        "dedup",
        &[
            (
                "cento dedup articles.jsonl --out new.jsonl --dropped dropped.jsonl",
                "the documents without near-duplicates",
            ),
            (
                "cento dedup next.jsonl --against corpus.idx --out new.jsonl",
                "those that the index does not have either",
            ),
        ],
    ),
    (
        "decontaminate",
        &[
            (
                "cento decontaminate articles.jsonl --against quiz.jsonl --report quiz.html",
                "the questions of a benchmark that occur in a corpus, with the evidence",
            ),
            (
                "cento decontaminate articles.jsonl --against quiz.jsonl --out clean.jsonl",
                "the corpus without the documents that contain them",
            ),
        ],
    ),
    (
        "list",
        &[
            ("cento list corpus.idx", "the documents of an index"),
            ("cento list corpus.idx --format json", "the same for programs"),
        ],
    ),
    (
        "show",
        &[
            ("cento show corpus.idx rfc1604", "the text of a document"),
            (
                "cento show corpus.idx rfc1604 --format json",
                "the document with all that the index stores",
            ),
        ],
    ),
    (
        "export",
        &[
            ("cento export corpus.idx", "all documents as JSON lines, which `cento add` reads"),
            ("cento export rfc.idx", "those of another index"),
        ],
    ),
    (
        "remove",
        &[
            ("cento remove corpus.idx rfc1604 rfc1605", "two documents"),
            ("cento remove corpus.idx --from-file ids.txt", "those with an id in a file"),
            (
                "cento remove corpus.idx --filter 'meta.year:[* TO 2023]' --dry-run",
                "count those of 2023 and before",
            ),
        ],
    ),
    (
        "withdraw",
        &[
            (
                "cento withdraw corpus.idx rfc1604 --dry-run",
                "list what would be removed, and what quotes it",
            ),
            (
                "cento withdraw corpus.idx rfc1604 --record rfc1604.json",
                "remove it with its copies, and keep a record",
            ),
        ],
    ),
    (
        "compact",
        &[
            ("cento compact corpus.idx", "fewer segments, without removed documents"),
            ("cento compact --url http://127.0.0.1:7227", "the same in a service"),
        ],
    ),
    (
        "merge",
        &[
            ("cento merge all.idx part-0.idx part-1.idx", "one index of two"),
            (
                "cento merge all.idx part-0.idx --on-conflict later",
                "documents of the shard replace older ones",
            ),
        ],
    ),
    (
        "stats",
        &[
            ("cento stats corpus.idx", "size and contents of an index"),
            ("cento stats corpus.idx --quick --format json", "the numbers that take no time"),
        ],
    ),
    (
        "check",
        &[
            ("cento check corpus.idx", "read all of an index, and name the damage"),
            ("cento check corpus.idx --format json", "the same for programs"),
        ],
    ),
    (
        "recover",
        &[
            ("cento recover damaged.idx", "which segments are whole"),
            ("cento recover damaged.idx --to whole.idx", "an index of these"),
        ],
    ),
    (
        "watch",
        &[
            ("cento watch add corpus.idx essay.txt", "watch for passages of a file"),
            ("cento watch events corpus.idx", "the documents added since that have some"),
        ],
    ),
    (
        "demo",
        &[
            ("cento demo class --open", "which files of a folder share text, with a report"),
            ("cento demo class --against last-year", "the same, with the texts of last year"),
            ("cento demo", "cento on text that is already on this machine"),
        ],
    ),
    (
        "method tune",
        &[
            (
                "cento method tune articles.jsonl",
                "the setting that finds copies of these documents best",
            ),
            (
                "cento method tune programs --pairs judged.tsv --for code --report tune.html",
                "the one that tells judged pairs of programs apart, as a file to read",
            ),
        ],
    ),
    (
        "method analyze",
        &[
            ("cento method analyze corpus.idx", "how much of a collection is reused"),
            ("cento method analyze corpus.idx --format json", "the same for programs"),
        ],
    ),
    (
        "method boilerplate",
        &[
            (
                "cento method boilerplate hand-ins",
                "what three of four hand-ins have: the assignment",
            ),
            (
                "cento method boilerplate corpus.idx --min-share 0.1 --out menus.jsonl",
                "what a tenth of an index has, as other verbs read it with -b",
            ),
        ],
    ),
    (
        "method train",
        &[
            (
                "cento method train corpus.jsonl --out counts.freq",
                "a frequency table of a collection",
            ),
            ("cento method train corpus.jsonl --analyzer avtor --out stems.freq", "one of stems"),
        ],
    ),
    (
        "method fingerprint",
        &[
            ("cento method fingerprint essay.txt", "the fingerprints of a file"),
            (
                "cento method fingerprint essay.txt --format json",
                "a signature to search with, without the text",
            ),
        ],
    ),
    (
        "info",
        &[
            ("cento info presets", "what --for sets for each purpose"),
            ("cento info formats --format json", "the files that can be read, for programs"),
        ],
    ),
    (
        "info health",
        &[
            ("cento info health", "does the service answer?"),
            ("cento info health http://127.0.0.1:8080", "one at another address"),
        ],
    ),
    (
        "info completions",
        &[
            ("cento info completions bash", "the completions for bash"),
            ("cento info completions zsh", "those for zsh"),
        ],
    ),
    (
        "info man",
        &[
            ("cento info man search", "the manual page of a verb"),
            ("cento info man --out share/man/man1", "all manual pages"),
        ],
    ),
    (
        "serve",
        &[
            ("cento serve corpus.idx", "a service on this machine, port 7227"),
            (
                "cento serve corpus.idx --listen 0.0.0.0:7227 --tokens tokens",
                "one for others, who need a token",
            ),
        ],
    ),
    (
        "store push",
        &[
            ("cento store push corpus.idx s3://bucket/corpus", "the last commit into a store"),
            ("cento store push corpus.idx backup --keep 10", "and remove all but ten commits"),
        ],
    ),
    (
        "store pull",
        &[
            ("cento store pull s3://bucket/corpus copy.idx", "the current commit of a store"),
            ("cento store pull backup copy.idx --manifest 3", "an older one"),
        ],
    ),
    (
        "store history",
        &[
            ("cento store history s3://bucket/corpus", "the commits that were pushed"),
            ("cento store history backup --format json", "the same for programs"),
        ],
    ),
    (
        "store restore",
        &[
            ("cento store restore backup 3", "commit 3 is the current one again"),
            ("cento store restore s3://bucket/corpus 3 --format json", "the same for programs"),
        ],
    ),
];
