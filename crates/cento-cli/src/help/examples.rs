//! The examples of each verb.

/// Examples for each verb: a command line, and its effect.
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
        "compare",
        &[
            ("cento compare draft.docx final.docx", "what two files have in common"),
            ("cento compare a.txt b.txt --format json", "the same for programs"),
        ],
    ),
    (
        "pairs",
        &[
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
                "cento lineage corpus.idx --date revised --graph versions.gexf",
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
        "analyze",
        &[
            ("cento analyze corpus.idx", "how much of a collection is reused"),
            ("cento analyze corpus.idx --format json", "the same for programs"),
        ],
    ),
    (
        "boilerplate",
        &[
            ("cento boilerplate hand-ins", "what three of four hand-ins have: the assignment"),
            (
                "cento boilerplate corpus.idx --min-share 0.1 --out menus.jsonl",
                "what a tenth of an index has, as other verbs read it with -b",
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
        ],
    ),
    (
        "withdraw",
        &[
            ("cento withdraw corpus.idx rfc1604 --dry-run", "list what would be removed and cut"),
            (
                "cento withdraw corpus.idx rfc1604 --files train.jsonl --record rfc1604.json",
                "also in a file, with a record",
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
        "push",
        &[
            ("cento push corpus.idx s3://bucket/corpus", "the last commit into a store"),
            ("cento push corpus.idx backup --keep 10", "and remove all but ten commits"),
        ],
    ),
    (
        "pull",
        &[
            ("cento pull s3://bucket/corpus copy.idx", "the current commit of a store"),
            ("cento pull backup copy.idx --manifest 3", "an older one"),
        ],
    ),
    (
        "history",
        &[
            ("cento history s3://bucket/corpus", "the commits that were pushed"),
            ("cento history backup --format json", "the same for programs"),
        ],
    ),
    (
        "restore",
        &[
            ("cento restore backup 3", "commit 3 is the current one again"),
            ("cento restore s3://bucket/corpus 3 --format json", "the same for programs"),
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
        "fingerprint",
        &[
            ("cento fingerprint essay.txt", "the fingerprints of a file"),
            (
                "cento fingerprint essay.txt --format json",
                "a signature to search with, without the text",
            ),
        ],
    ),
    (
        "train",
        &[
            ("cento train corpus.jsonl --out counts.freq", "a frequency table of a collection"),
            ("cento train corpus.jsonl --analyzer avtor --out stems.freq", "one of stems"),
        ],
    ),
    (
        "tune",
        &[
            ("cento tune articles.jsonl", "the setting that finds copies of these documents best"),
            (
                "cento tune programs --pairs judged.tsv --for code --report tune.html",
                "the one that tells judged pairs of programs apart, as a file to read",
            ),
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
        "info",
        &[
            ("cento info presets", "what --for sets for each purpose"),
            ("cento info formats --format json", "the files that can be read, for programs"),
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
        "health",
        &[
            ("cento health", "does the service answer?"),
            ("cento health http://127.0.0.1:8080", "one at another address"),
        ],
    ),
    (
        "demo",
        &[
            ("cento demo", "cento on text that is already on this machine"),
            ("cento demo /usr/share/doc", "cento on the text in a directory"),
        ],
    ),
    (
        "completions",
        &[
            ("cento completions bash", "the completions for bash"),
            ("cento completions zsh", "those for zsh"),
        ],
    ),
    (
        "man",
        &[
            ("cento man search", "the manual page of a verb"),
            ("cento man --out share/man/man1", "all manual pages"),
        ],
    ),
];
