//! Mistakes of new users: each message explains what to do.

use std::net::TcpListener;

use crate::common::run::{Dir, corpus};
use crate::common::words;

/// Mistaken command lines by kind, and the part of the message with the cure.
const MISTAKES: &[(&str, &[(&str, &str)])] = &[
    (
        "a path of another kind",
        &[
            ("search class a.txt", "class is a folder of 3 files, not an index; index it first"),
            ("search class a.txt", "`cento add x.idx class`"),
            ("list class", "or compare its files with `cento pairs class`"),
            ("stats class", "`cento add x.idx class`"),
            ("serve class", "`cento add x.idx class`"),
            ("merge new.idx idx class", "`cento add x.idx class`"),
            ("pairs class --against old --add", "`cento add x.idx old`"),
            ("pairs idx --against old", "`cento add x.idx old`"),
            ("pairs class --against old.idx", "old.idx does not exist"),
            ("search nothing.idx a.txt", "`cento add nothing.idx FILES` makes an index of files"),
            ("search nothing.idx a.txt", "`cento create nothing.idx` makes an empty one"),
            ("search clas/a.txt", "clas/a.txt does not exist; did you mean class/a.txt?"),
            ("search idx nothing.txt", "nothing.txt does not exist"),
            ("pairs clas", "clas does not exist; did you mean class?"),
            ("dedup corpis.jsonl", "did you mean corpus.jsonl?"),
            (
                "dedup corpus.jsonl --out no/x.jsonl",
                "there is no folder no; create the folder first",
            ),
            ("store push idx s3:bucket/a", "write it as s3://bucket/a"),
            ("store history idx", "idx is an index, not a store"),
            ("add idx idx", "idx is an index, not documents; `cento merge` combines indexes"),
            ("dedup idx", "`cento cluster idx` finds its duplicates"),
            ("recover idx --to idx", "--to needs a new directory"),
            ("recover class", "class is a folder of 3 files, not an index; index it first"),
            ("create idx", "`cento add idx FILES` adds documents to it"),
            ("./nowhere", "./nowhere does not exist; `cento demo FOLDER` compares the files"),
            ("add new.idx nothing", "nothing does not exist; nothing was read"),
            ("create class", "as in `cento add x.idx FILES`"),
            ("compare class old", "`cento pairs` compares the files of folders"),
            ("compare idx idx", "a file is expected here"),
            ("pairs idx class", "name only indexes, or only files"),
            ("cluster idx class", "name only indexes, or only files"),
            ("demo a.txt", "name more files, or the folder that they are in"),
            ("families empty", "there is no document in them"),
            ("trace clas/a.txt a.txt", "did you mean class/a.txt?"),
            ("families nothing.idx", "nothing.idx does not exist"),
            ("check class", "`cento add x.idx class`"),
            ("compare class/d.txt a.txt", "did you mean class/a.txt?"),
            ("pairs a.txt", "name more files, or the folder that they are in"),
        ],
    ),
    (
        "arguments in another order, or too few",
        &[
            ("search a.txt idx", "a.txt is a file, not an index; the index comes first"),
            ("add corpus.jsonl idx", "`cento add idx corpus.jsonl`"),
            ("add class a.txt", "the index comes first and the files after it"),
            ("add class", "the index comes before the files: `cento add x.idx class`"),
            ("add a.txt", "`cento add x.idx a.txt`"),
            ("search idx", "standard input is empty; name a file"),
            ("search idx --url http://127.0.0.1:1", "give either an index or --url, not both"),
            ("search", "for example `cento search articles.idx"),
            ("show idx", "for example `cento show articles.idx"),
            ("merge all.idx", "for example `cento merge all.idx"),
            ("decontaminate --against a.txt", "for example `cento decontaminate pages.jsonl"),
            ("show a idx", "a is not an index, but idx is; the index comes first"),
            ("withdraw a idx", "the index comes first"),
            ("store push s3://b/c idx", "the index comes first"),
            ("list s3://b/c", "`cento store pull s3://b/c x.idx`"),
            ("show idx zzz", "`cento list idx` shows the ids"),
            ("remove idx zzz", "no document has the id `zzz`; `cento list idx` shows the ids"),
            ("families class --document zzz", "or else the path of the file"),
            ("add a.txt corpus.jsonl", "the index comes first, as in `cento add x.idx a.txt`"),
            ("stats a.txt", "a file, not an index; `cento add x.idx a.txt` makes an index of it"),
            ("dedup corpus.jsonl --against a.txt", "not an index, which --against takes"),
            ("demo class --against last", "--against takes a folder, a file, an archive or"),
            ("--for code pairs class", "options come after the verb, as in `cento pairs --for"),
            ("--zzz pairs class", "`cento pairs --help` lists all options"),
            ("serve idx --tokens nope", "nope, which --tokens names, does not exist"),
            ("serve idx --config no.toml", "no.toml, which --config names, does not exist"),
            ("merge idx other.idx", "`cento export other.idx | cento add new.idx -`"),
            (
                "decontaminate corpus.jsonl a.txt",
                "`cento decontaminate corpus.jsonl --against a.txt`",
            ),
            ("info idx", "`cento stats idx` describes an index"),
            ("remove a idx", "the index comes first"),
            ("export a.txt", "a.txt is a file, not an index"),
            ("trace a.txt idx", "the index comes first: `cento trace idx a.txt`"),
            ("add a.txt idx", "the index comes first: `cento add idx a.txt`"),
            ("watch idx", "after `cento watch` comes one of add,"),
            ("method class", "after `cento method` comes one of tune,"),
            ("class", "`cento demo class` compares all files in this folder"),
            ("idx", "`cento search idx FILE` or `cento stats idx`"),
            ("a.txt", "`cento compare a.txt FILE`"),
            ("a.txt idx", "such as `cento search idx a.txt`"),
            ("a.txt corpus.jsonl", "such as `cento compare a.txt corpus.jsonl`"),
        ],
    ),
    (
        "verbs of other programs, and typos",
        &[
            ("find idx a.txt", "`cento search INDEX FILE`"),
            ("query idx a.txt", "`cento search INDEX FILE`"),
            ("index class", "`cento add INDEX PATH`"),
            ("ls idx", "`cento list INDEX`"),
            ("diff a.txt a.txt", "`cento compare FILE FILE`"),
            ("version", "`cento --version`"),
            ("delete idx a", "`cento remove INDEX ID`"),
            ("cat idx a", "`cento show INDEX ID`"),
            ("plagiarism class", "`cento pairs PATH`"),
            ("duplicates corpus.jsonl", "`cento dedup PATH`"),
            ("server idx", "`cento serve INDEX`"),
            ("serach idx a.txt", "did you mean `cento search`?"),
            ("compress idx", "`cento compact INDEX`"),
            ("upload idx", "`cento store push INDEX URL`"),
            ("help serach", "did you mean `cento search`?"),
            ("stat idx", "did you mean `cento stats`?"),
            ("pair class", "did you mean `cento pairs`?"),
        ],
    ),
    (
        "options of other programs, and typos",
        &[
            ("search idx a.txt --limt 5", "'--limit'"),
            ("search idx a.txt --top 5", "`--limit N`"),
            ("search idx a.txt --threshold 0.5", "`--min-resemblance X or --min-containment X"),
            ("pairs class --threshold 0.5", "`--min-resemblance X or --min-containment X"),
            ("pairs class --json", "`--format json`"),
            ("search idx --query words", "`--text TEXT`"),
            ("-v", "`cento --version` prints the version"),
            ("pairs class --output x.csv", "`--out FILE`"),
            ("search idx a.txt --output x.html", "`--report FILE.html`"),
            ("pairs class --html x.html", "`--report FILE.html`"),
            ("serve idx --port 80", "`--listen 127.0.0.1:7227`"),
            ("pairs class --recursive", "folders are read with all folders in them"),
            ("dedup corpus.jsonl --output x.jsonl", "`--out FILE`"),
            ("pairs class --zzz", "`cento pairs --help` lists all options"),
            ("pairs class -v", "`--quiet` turns it off"),
            ("list idx --sort date", "`cento list --help` lists all options"),
            ("compact idx --force", "`cento compact --help` lists all options"),
            ("search idx a.txt --for code", "`cento add x.idx FILES --for code`"),
            ("search idx a.txt --scheme winnow", "the index has this setting"),
            ("export idx --out x.jsonl", "`cento export x.idx > x.jsonl`"),
            ("export idx x.jsonl", "`cento export x.idx > x.jsonl`"),
            ("pairs class -r class.html", "`--report FILE.html` writes a report"),
            ("check idx --repair", "`cento recover INDEX --to NEW`"),
            ("dedup corpus.jsonl --keep last", "`--prefer` decides which duplicate stays"),
            ("add new.idx a.txt --id name", "'--id-field'"),
            ("pairs class --format html", "`--report FILE.html`"),
            ("serve idx --addr 127.0.0.1:80", "`--listen 127.0.0.1:7227`"),
        ],
    ),
    (
        "values",
        &[
            ("search idx a.txt --limit all", "--limit takes a whole number, not \"all\""),
            ("pairs class --limit ten", "--limit takes a whole number, not \"ten\""),
            ("pairs class --min-passage 0", "--min-passage takes a whole number of at least 1"),
            ("pairs class --limit -1", "a value is not negative here"),
            ("pairs class --min-resemblance 50%", "from 0 to 1, such as 0.5 for 50 %"),
            ("cluster idx --min-resemblance high", "from 0 to 1, such as 0.5 for 50 %"),
            ("pairs class --format xml", "human, json, csv, tsv"),
            ("pairs class --for essay", "'essays'"),
            ("pairs class --report x.pdf", "ends in .html, .json or .csv"),
            ("pairs class --report no/x.html", "there is no folder no; create it first"),
            ("pairs class --threads many", "a number of threads from 1 to 1024"),
            ("pairs class --scheme minhas", "did you mean `minhash`?"),
            ("pairs class --scheme winnow(k=5,w=x)", "`w` must be a whole number from 1 to 512"),
            ("pairs class --analyzer word", "did you mean `words`?"),
            ("pairs class --analyzer code", "name the language"),
            ("add new.idx corpus.jsonl --memory lots", "such as 512MiB or 1GB"),
        ],
    ),
    (
        "fields",
        &[
            (
                "add new.idx rows.jsonl",
                "its fields are `name`, `body`; --text-field names the field",
            ),
            ("dedup rows.jsonl", "its fields are `name`, `body`; --text-field names the field"),
            ("cluster rows.jsonl", "its fields are `name`, `body`; --text-field names the field"),
            ("search idx a.txt --filter yaer:2019", "did you mean `year`?"),
            ("search idx a.txt --filter year=2019", "write `year:2019`"),
            ("families idx --date published", "the fields there are `lang`, `year`"),
        ],
    ),
    (
        "a service",
        &[
            ("search --url http://127.0.0.1:1 a.txt", "is `cento serve` running there?"),
            ("stats --url localhost:7227", "such as http://127.0.0.1:7227"),
            ("serve idx --listen 127.0.0.1:PORT", "another program listens there"),
            ("serve idx --listen PORT", "expected an address and a port"),
        ],
    ),
];

/// What a message never says.
const NEVER: [&str; 4] = ["invalid digit", "invalid float", "is not in 1..", "as a value, use '--"];

#[test]
fn the_message_about_a_mistake_names_the_cure() {
    let dir = Dir::new();
    for folder in ["class", "old", "empty"] {
        std::fs::create_dir(dir.path(folder)).unwrap();
    }
    dir.write("corpus.jsonl", corpus());
    dir.write("a.txt", words(1, 80));
    dir.write("rows.jsonl", "{\"name\": \"a\", \"body\": \"one two three four five\"}\n");
    dir.write("old/a.txt", words(1, 80));
    for name in ["class/a.txt", "class/b.txt", "class/c.txt"] {
        dir.write(name, words(1, 80));
    }
    dir.json(&["add", "idx", "corpus.jsonl"]);
    dir.json(&["add", "other.idx", "corpus.jsonl", "--scheme", "kgram(k=3)"]);
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let (mut number, mut wrong) = (0, Vec::new());
    for (kind, mistakes) in MISTAKES {
        for (line, cure) in *mistakes {
            let line = line.replace("PORT", &port);
            let run = dir.run(&line.split(' ').collect::<Vec<_>>());
            number += 1;
            let is_refused = run.status == 2 || line.starts_with("remove ");
            let says_never = NEVER.iter().any(|never| run.err.contains(never));
            if !is_refused || says_never || !run.err.contains(cure) {
                wrong.push(format!("{kind}: cento {line}\nnot {cure:?} but {}", run.err));
            }
        }
    }
    assert!(number >= 130, "{number}");
    assert!(wrong.is_empty(), "{} of {number}\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn words_in_the_place_of_a_file_are_recognized() {
    let dir = Dir::new();
    dir.write("corpus.jsonl", corpus());
    dir.json(&["add", "idx", "corpus.jsonl"]);
    let run = dir.run(&["search", "idx", "some words of a text"]);
    let cure = "to search for these words, give them with --text";
    assert!(run.status == 2 && run.err.contains(cure), "{}", run.err);
}

#[test]
fn a_message_about_damage_names_the_index() {
    // The name of a segment is a number, which does not tell which of two indexes is damaged.
    let dir = Dir::new();
    dir.write("corpus.jsonl", corpus());
    dir.write("a.txt", words(1, 80));
    dir.json(&["add", "whole", "corpus.jsonl"]);
    for extension in ["sig", "store", "json"] {
        dir.json(&["add", "broken", "corpus.jsonl"]);
        let mut files =
            std::fs::read_dir(dir.path("broken")).unwrap().map(|file| file.unwrap().path());
        let is_damaged = |file: &std::path::PathBuf| {
            let is_hidden = file.file_name().unwrap().to_string_lossy().starts_with('.');
            !is_hidden && file.extension().is_some_and(|ending| ending == extension)
        };
        let file = files.find(is_damaged).expect("an index has such a file");
        std::fs::write(&file, b"").unwrap();
        let name = format!("broken/{}: ", file.file_name().unwrap().to_str().unwrap());
        let verb = if extension == "json" { "recover" } else { "check" };
        for line in [
            "search broken a.txt",
            "search whole broken a.txt",
            "add broken corpus.jsonl",
            "list broken",
            "compact broken",
            "pairs whole broken",
            "pairs broken --against whole",
            "merge new whole broken",
            "serve broken --listen 127.0.0.1:0",
        ] {
            let run = dir.run(&line.split(' ').collect::<Vec<_>>());
            let cure = format!("`cento {verb} broken`");
            let is_told = run.err.contains(&name) && run.err.contains(&cure);
            assert!(run.status == 2 && is_told, "cento {line}: not {name} but {}", run.err);
        }
        let check = dir.run(&["check", "broken"]);
        assert!(check.out.contains("`cento recover broken --to NEW`"), "{}", check.out);
        std::fs::remove_dir_all(dir.path("broken")).unwrap();
    }
}

#[test]
fn a_limit_of_zero_says_that_there_is_more() {
    let dir = Dir::new();
    dir.write("corpus.jsonl", corpus());
    dir.json(&["add", "idx", "corpus.jsonl"]);
    let run = dir.run(&["search", "idx", "--text", &words(1, 80), "--limit", "0"]);
    assert!(run.out.contains("0 hits shown, there are more; raise --limit"), "{}", run.out);
    for name in ["a.txt", "b.txt"] {
        dir.write(name, words(1, 80));
    }
    let run = dir.run(&["pairs", "a.txt", "b.txt", "--limit", "0"]);
    assert!(run.err.contains("0 of 1 pairs shown; --limit 1 shows all"), "{}", run.err);
}

#[test]
fn a_search_without_results_says_what_was_compared() {
    // `pairs` of files printed nothing at all.
    let dir = Dir::new();
    dir.write("class/a.txt", words(1, 80));
    dir.write("class/b.txt", words(500, 80));
    for (verb, said) in [
        ("pairs", "0 pairs of 2 documents\n"),
        ("families", "0 families of 2 documents\n"),
        ("cluster", "0 clusters of 0 of 2 documents\n"),
    ] {
        let run = dir.run(&[verb, "class"]);
        assert_eq!((run.status, &*run.out, &*run.err), (1, "", said), "{verb}");
        assert_eq!(dir.run(&[verb, "class", "-q"]).err, "", "{verb}");
    }
    dir.write("class/c.txt", format!("{} {}", words(1, 80), words(500, 80)));
    let run = dir.run(&["families", "class", "--limit", "1"]);
    assert_eq!(run.err, "1 of 2 families shown; --limit 2 shows all\n");
}

#[test]
fn an_id_to_exclude_that_no_document_has_is_told() {
    let dir = Dir::new();
    dir.write("corpus.jsonl", corpus());
    dir.json(&["add", "idx", "corpus.jsonl"]);
    let id = corpus().lines().next().unwrap().split('"').nth(3).unwrap().to_owned();
    let args = ["search", "idx", "--text", &words(1, 80), "--exclude-id", &id, "--exclude-id"];
    let run = dir.run(&[&args[..], &["art01O"]].concat());
    assert_eq!(run.err, "cento: --exclude-id art01O: there is no such document\n");
    assert_eq!(dir.run(&[&args[..], &[&id]].concat()).err, "");
}

#[test]
fn an_id_in_another_case_is_suggested() {
    let dir = Dir::new();
    dir.write("corpus.jsonl", corpus());
    dir.json(&["add", "idx", "corpus.jsonl"]);
    let id = corpus().lines().next().unwrap().split('"').nth(3).unwrap().to_owned();
    let given = id.to_ascii_uppercase();
    assert_ne!(id, given);
    for line in ["show idx", "remove idx", "withdraw idx", "search idx --id", "trace idx --id"] {
        let args: Vec<&str> = line.split(' ').chain([given.as_str()]).collect();
        let run = dir.run(&args);
        let said = format!("no document has the id `{given}`; did you mean `{id}`?");
        assert!(run.status != 0 && run.err.contains(&said), "{line}: {}", run.err);
    }
}

#[test]
fn a_quiet_command_counts_nothing_that_it_does_not_name() {
    let dir = Dir::new();
    for name in ["class/a.txt", "class/b.txt"] {
        dir.write(name, words(1, 80));
    }
    dir.write("class/c.bin", "\0\u{1}\u{2}\0");
    for verb in ["pairs", "families", "cluster"] {
        let run = dir.run(&[verb, "class", "-q"]);
        assert_eq!(run.status, 3, "{verb}: {}", run.err);
        assert!(!run.err.contains("not compared, or only in part"), "{verb}: {}", run.err);
    }
}

#[test]
fn an_option_of_the_other_kind_of_inputs_comes_with_a_cure() {
    let dir = Dir::new();
    dir.write("corpus.jsonl", corpus());
    dir.json(&["add", "idx", "corpus.jsonl"]);
    dir.write("class/a.txt", words(1, 80));
    dir.write("lastyear/a.txt", words(1, 80));
    for verb in ["pairs", "families", "cluster", "lineage"] {
        let run = dir.run(&[verb, "idx", "--for", "ocr"]);
        let said = "idx is an index; leave it out, because the index has its own";
        assert!(run.status == 2 && run.err.contains(said), "{verb}: {}", run.err);
        let run = dir.run(&[verb, "idx", "--by", "directory"]);
        assert!(run.err.contains("or name the files in place of the index"), "{}", run.err);
    }
    // The advice was "compare its files with `cento pairs lastyear`".
    let run = dir.run(&["pairs", "class", "--against", "lastyear", "--add"]);
    let said = "make one with `cento add x.idx lastyear` and name it with --against";
    assert!(run.status == 2 && run.err.contains(said), "{}", run.err);
    dir.json(&["add", "x.idx", "lastyear"]);
    let run = dir.run(&["pairs", "class", "--against", "x.idx", "--add"]);
    assert!(run.status < 2, "{}", run.err);
    // It was accepted and did nothing.
    let run = dir.run(&["dedup", "corpus.jsonl", "--no-text"]);
    assert!(run.status == 2 && run.err.contains("--index <INDEX>"), "{}", run.err);
}
