//! Arrangement of the help: groups of verbs, headings of options, examples.
//!
//! Structs define options where they are used; this module decides, for all verbs, which part the
//! help shows first.

use clap::builder::StyledStr;
use clap::{Arg, Command};

/// The verbs by purpose, in the usual order of use.
pub const GROUPS: [(&str, &[&str]); 5] = [
    (
        "Index",
        &[
            "create", "add", "list", "show", "export", "remove", "withdraw", "compact", "merge",
            "stats", "check", "recover",
        ],
    ),
    ("Search", &["search", "watch", "web", "demo"]),
    (
        "Collections",
        &[
            "pairs",
            "passages",
            "families",
            "lineage",
            "cluster",
            "dedup",
            "decontaminate",
            "analyze",
            "boilerplate",
            "train",
            "tune",
        ],
    ),
    ("Files", &["compare", "fingerprint"]),
    (
        "Service and stores",
        &["serve", "health", "push", "pull", "history", "restore", "info", "completions", "man"],
    ),
];

/// Headings of options that many verbs have, and the options.
const HEADINGS: [(&str, &[&str]); 7] = [
    (
        "Thresholds",
        &[
            "min_containment",
            "min_resemblance",
            "min_overlap",
            "min_weighted_containment",
            "min_weighted_resemblance",
            "min_margin",
            "min_passage",
            "min_similarity",
            "min_explained",
            "min_share",
        ],
    ),
    (
        "Which documents",
        &[
            "against",
            "add",
            "by",
            "group_by",
            "within",
            "filter",
            "exclude_id",
            "boilerplate",
            "sample",
            "date",
            "since",
            "document",
            "min_documents",
        ],
    ),
    (
        "Scheme and analyzer",
        &[
            "scheme",
            "analyzer",
            "frequencies",
            "no_text",
            "store_text",
            "signatures",
            "max_df",
            "key_file",
        ],
    ),
    (
        "Reading files",
        &[
            "include",
            "id_field",
            "text_field",
            "meta_field",
            "encoding",
            "max_record_bytes",
            "all",
            "ignore_files",
            "html",
            "readers",
            "strict",
        ],
    ),
    (
        "Output",
        &[
            "format",
            "out",
            "resume",
            "weighted",
            "measures",
            "clusters",
            "graph",
            "passages",
            "reports",
            "title",
            "anonymous",
            "limit",
            "rank",
            "dropped",
            "annotate",
            "quiet",
            "color",
        ],
    ),
    ("Service", &["url", "token"]),
    ("Time and memory", &["threads", "memory", "budget", "candidates", "parallel", "timeout"]),
];

/// Options that only the long help shows: few need them.
const RARE: &[&str] = &[
    "max_df",
    "threads",
    "memory",
    "budget",
    "candidates",
    "meta_field",
    "id_field",
    "encoding",
    "max_record_bytes",
    "ignore_files",
    "html",
    "title",
    "anonymous",
    "min_weighted_containment",
    "min_weighted_resemblance",
    "min_overlap",
    "signatures",
    "parallel",
    "readers",
    "token",
    "scheme",
    "frequencies",
    "replace",
    "counts_only",
    "signature",
    "jsonl",
    "verify",
    "min_similarity",
    "exclude_id",
    "follow",
    "follow_interval",
    "cache_size",
    "max_lag",
    "no_tokens",
    "compact_at",
    "max_body",
    "max_batch",
    "max_requests",
    "max_connections",
    "idle_timeout",
    "cors_origins",
    "trusted_proxies",
    "webhook_networks",
    "log_requests",
    "log",
    "print_config",
    "commit_every",
    "all",
    "graph",
    "clusters",
    "weighted",
    "resume",
    "within",
    "restart",
    "annotate",
    "min_margin",
    "text_field",
    "no_text",
];

/// Two examples for each verb: a command line, and its effect.
pub const EXAMPLES: &[(&str, [(&str, &str); 2])] = &[
    (
        "create",
        [
            ("cento create corpus.idx", "an empty index with the default scheme"),
            ("cento create rewritten.idx --for rewritten", "an index for text that was rewritten"),
        ],
    ),
    (
        "add",
        [
            ("cento add corpus.idx articles.jsonl", "a document for each line"),
            (
                "cento add code.idx src --for code --exclude node_modules",
                "the programs in a directory",
            ),
        ],
    ),
    (
        "search",
        [
            ("cento search corpus.idx essay.docx --passages", "what the essay shares, and where"),
            (
                "cento search corpus.idx essay.docx --report essay.html",
                "the same as a file to read and print",
            ),
        ],
    ),
    (
        "compare",
        [
            ("cento compare draft.docx final.docx", "what two files have in common"),
            ("cento compare a.txt b.txt --format json", "the same for programs"),
        ],
    ),
    (
        "pairs",
        [
            ("cento pairs corpus.idx --min-resemblance 0.8", "all near-duplicates in an index"),
            (
                "cento pairs handed-in --by directory --for code -b template",
                "the most similar programs of a course",
            ),
        ],
    ),
    (
        "passages",
        [
            (
                "cento passages corpus.idx --min-passage 50",
                "passages of 50 words and more that documents share",
            ),
            ("cento passages corpus.idx --format csv", "all passages as a table"),
        ],
    ),
    (
        "families",
        [
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
        [
            ("cento lineage corpus.idx --date revised", "each version below its ancestor"),
            (
                "cento lineage corpus.idx --date revised --graph versions.gexf",
                "the same as a network for Gephi",
            ),
        ],
    ),
    (
        "cluster",
        [
            ("cento cluster corpus.idx --min-resemblance 0.8", "groups of near-duplicates"),
            ("cento cluster corpus.idx --format json", "the same for programs"),
        ],
    ),
    (
        "dedup",
        [
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
        [
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
        [
            ("cento analyze corpus.idx", "how much of a collection is reused"),
            ("cento analyze corpus.idx --format json", "the same for programs"),
        ],
    ),
    (
        "boilerplate",
        [
            ("cento boilerplate hand-ins", "what three of four hand-ins have: the assignment"),
            (
                "cento boilerplate corpus.idx --min-share 0.1 --out menus.jsonl",
                "what a tenth of an index has, as other verbs read it with -b",
            ),
        ],
    ),
    (
        "list",
        [
            ("cento list corpus.idx", "the documents of an index"),
            ("cento list corpus.idx --format json", "the same for programs"),
        ],
    ),
    (
        "show",
        [
            ("cento show corpus.idx rfc1604", "the text of a document"),
            (
                "cento show corpus.idx rfc1604 --format json",
                "the document with all that the index stores",
            ),
        ],
    ),
    (
        "export",
        [
            ("cento export corpus.idx", "all documents as JSON lines, which `cento add` reads"),
            ("cento export rfc.idx", "those of another index"),
        ],
    ),
    (
        "remove",
        [
            ("cento remove corpus.idx rfc1604 rfc1605", "two documents"),
            ("cento remove corpus.idx --from-file ids.txt", "those with an id in a file"),
        ],
    ),
    (
        "withdraw",
        [
            ("cento withdraw corpus.idx rfc1604 --dry-run", "list what would be removed and cut"),
            (
                "cento withdraw corpus.idx rfc1604 --files train.jsonl --record rfc1604.json",
                "also in a file, with a record",
            ),
        ],
    ),
    (
        "compact",
        [
            ("cento compact corpus.idx", "fewer segments, without removed documents"),
            ("cento compact --url http://127.0.0.1:7227", "the same in a service"),
        ],
    ),
    (
        "merge",
        [
            ("cento merge all.idx part-0.idx part-1.idx", "one index of two"),
            (
                "cento merge all.idx part-0.idx --on-conflict later",
                "documents of the shard replace older ones",
            ),
        ],
    ),
    (
        "push",
        [
            ("cento push corpus.idx s3://bucket/corpus", "the last commit into a store"),
            ("cento push corpus.idx backup --keep 10", "and remove all but ten commits"),
        ],
    ),
    (
        "pull",
        [
            ("cento pull s3://bucket/corpus copy.idx", "the current commit of a store"),
            ("cento pull backup copy.idx --manifest 3", "an older one"),
        ],
    ),
    (
        "history",
        [
            ("cento history s3://bucket/corpus", "the commits that were pushed"),
            ("cento history backup --format json", "the same for programs"),
        ],
    ),
    (
        "restore",
        [
            ("cento restore backup 3", "commit 3 is the current one again"),
            ("cento restore s3://bucket/corpus 3 --format json", "the same for programs"),
        ],
    ),
    (
        "stats",
        [
            ("cento stats corpus.idx", "size and contents of an index"),
            ("cento stats corpus.idx --quick --format json", "the numbers that take no time"),
        ],
    ),
    (
        "check",
        [
            ("cento check corpus.idx", "read all of an index, and name the damage"),
            ("cento check corpus.idx --format json", "the same for programs"),
        ],
    ),
    (
        "recover",
        [
            ("cento recover damaged.idx", "which segments are whole"),
            ("cento recover damaged.idx --to whole.idx", "an index of these"),
        ],
    ),
    (
        "fingerprint",
        [
            ("cento fingerprint essay.txt", "the fingerprints of a file"),
            (
                "cento fingerprint essay.txt --format json",
                "a signature to search with, without the text",
            ),
        ],
    ),
    (
        "train",
        [
            ("cento train corpus.jsonl --out counts.freq", "a frequency table of a collection"),
            ("cento train corpus.jsonl --analyzer avtor --out stems.freq", "one of stems"),
        ],
    ),
    (
        "tune",
        [
            ("cento tune articles.jsonl", "the setting that finds copies of these documents best"),
            (
                "cento tune programs --pairs judged.tsv --for code --report tune.html",
                "the one that tells judged pairs of programs apart, as a file to read",
            ),
        ],
    ),
    (
        "watch",
        [
            ("cento watch add corpus.idx essay.txt", "watch for passages of a file"),
            ("cento watch events corpus.idx", "the documents added since that have some"),
        ],
    ),
    (
        "web",
        [
            (
                "cento web essay.docx --engine searxng=http://127.0.0.1:8888 --into web.idx",
                "fetch pages of the web that may share text into an index",
            ),
            (
                "cento web essay.docx --engine searxng=http://127.0.0.1:8888 --into web.idx --queries 20",
                "the same with at most 20 queries",
            ),
        ],
    ),
    (
        "info",
        [
            ("cento info presets", "what --for sets for each purpose"),
            ("cento info formats --format json", "the files that can be read, for programs"),
        ],
    ),
    (
        "serve",
        [
            ("cento serve corpus.idx", "a service on this machine, port 7227"),
            (
                "cento serve corpus.idx --listen 0.0.0.0:7227 --tokens tokens",
                "one for others, who need a token",
            ),
        ],
    ),
    (
        "health",
        [
            ("cento health", "does the service answer?"),
            ("cento health http://127.0.0.1:8080", "one at another address"),
        ],
    ),
    (
        "demo",
        [
            ("cento demo", "cento on text that is already on this machine"),
            ("cento demo /usr/share/doc", "cento on the text in a directory"),
        ],
    ),
    (
        "completions",
        [
            ("cento completions bash", "the completions for bash"),
            ("cento completions zsh", "those for zsh"),
        ],
    ),
    (
        "man",
        [
            ("cento man search", "the manual page of a verb"),
            ("cento man --out share/man/man1", "all manual pages"),
        ],
    ),
];

/// The place of options of every verb: after the others of their heading.
const LAST: usize = 900;

/// Returns the command, with its verbs in groups and its options under headings, with examples.
pub fn arranged(command: Command) -> Command {
    let groups = groups(&command);
    let verbs: Vec<String> =
        command.get_subcommands().map(|verb| verb.get_name().to_owned()).collect();
    // Options of every verb, which only the long help of each shows.
    let common: Vec<Arg> =
        command.get_arguments().filter(|arg| arg.is_global_set()).cloned().collect();
    let arrange = |of_verb: Command| {
        let common = common.iter().cloned();
        verb(of_verb.args(common.map(|arg| arg.hide_short_help(true).display_order(LAST))))
    };
    let arranged =
        verbs.iter().fold(command, |command, name| command.mut_subcommand(name, arrange));
    arranged.help_template(format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n{groups}\nOptions:\n{{options}}\n\n\
         `cento VERB -h` shows the options of a verb, --help all of them with examples.\n"
    ))
}

/// Lists the verbs, a line each, in their groups.
fn groups(command: &Command) -> String {
    let mut text = String::new();
    for (heading, verbs) in GROUPS {
        text += &format!("\n{heading}:\n");
        for name in verbs {
            // A build may lack it.
            let Some(verb) = command.find_subcommand(name) else { continue };
            let about = verb.get_about().map(StyledStr::to_string).unwrap_or_default();
            text += &format!("  {name:<12} {about}\n");
        }
    }
    text
}

/// Puts the options of a verb under headings.
fn verb(command: Command) -> Command {
    let name = command.get_name().to_owned();
    let command = command.mut_args(|arg| option(adapted(&name, arg)));
    match EXAMPLES.iter().find(|(verb, _)| *verb == name) {
        Some((_, examples)) => command.after_long_help(shown(examples)),
        None => command,
    }
}

fn shown(examples: &[(&str, &str)]) -> String {
    let lines = examples.iter().map(|(line, what)| format!("  {line}\n      {what}"));
    format!("Examples:\n{}", lines.collect::<Vec<_>>().join("\n"))
}

/// Verbs without a query.
const OF_PAIRS: [&str; 4] = ["pairs", "passages", "cluster", "dedup"];

/// Adapts an option to this verb, where verbs share its definition.
fn adapted(verb: &str, arg: Arg) -> Arg {
    match arg.get_id().as_str() {
        "min_containment" if OF_PAIRS.contains(&verb) => {
            arg.help("Minimum share of one of both texts that the other contains, 0 to 1")
        }
        "min_weighted_containment" if OF_PAIRS.contains(&verb) => arg.help(
            "Minimum share of the fingerprints of one document that the other contains, weighted \
             by rarity in the index, 0 to 1",
        ),
        _ => arg,
    }
}

/// Puts an option under its heading; the short help has its first sentence.
fn option(arg: Arg) -> Arg {
    let id = arg.get_id().to_string();
    let heading = HEADINGS.iter().find(|(_, ids)| ids.contains(&id.as_str()));
    let arg = match heading {
        Some((heading, _)) if arg.get_help_heading().is_none() && !arg.is_positional() => {
            arg.help_heading(*heading)
        }
        _ => arg,
    };
    // The one option that sets several others comes before all of them.
    let arg = if id == "for" { arg.display_order(0) } else { arg };
    let arg = if RARE.contains(&id.as_str()) { arg.hide_short_help(true) } else { arg };
    let Some(help) = arg.get_help().map(StyledStr::to_string) else { return arg };
    let long = arg.get_long_help().map_or(help.clone(), StyledStr::to_string);
    arg.help(first_sentence(&help)).long_help(long)
}

/// Returns the first sentence of a text, without its full stop, its examples and the explanation
/// after a semicolon.
fn first_sentence(text: &str) -> String {
    let ends = [". ", ".\n", "; ", ", such as ", ", which "];
    let end = ends.iter().filter_map(|end| text.find(end)).min().unwrap_or(text.len());
    text[..end].trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests;
