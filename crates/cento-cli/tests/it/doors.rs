//! Does every door have every option of a search, a join and a comparison?

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::common::run::Dir;

type Names = BTreeSet<String>;

fn read(path: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    fs::read_to_string(root.join(path)).unwrap()
}

/// Splits names separated by spaces.
fn names(text: &str) -> Names {
    text.split_whitespace().map(str::to_owned).collect()
}

/// The option fields of a request. `others` lists the remaining fields: the subject, or files for
/// the command.
fn of_the_service(request: &str, others: &str) -> Names {
    let document: Value = serde_json::from_str(&read("crates/cento-serve/openapi.json")).unwrap();
    let fields = document["components"]["schemas"][request]["properties"].as_object().unwrap();
    &fields.keys().cloned().collect::<Names>() - &names(others)
}

/// The options of a verb with these names, as JSON fields.
fn of_the_command(verb: &str, wanted: &Names) -> Names {
    let help = Dir::new().run(&[verb, "--help"]).out;
    let lines = help.lines().map(str::trim_start).filter_map(|line| {
        let (_, option) = line.split_once("--").filter(|(before, _)| before.len() <= 4)?;
        Some(option.split([' ', ',', '=']).next()?.replace('-', "_"))
    });
    lines.filter(|name| wanted.contains(name)).collect()
}

/// The keys of these Python classes, except `others`, which say how a call runs.
fn of_python(classes: &[&str], others: &str) -> Names {
    let source = read("python/package/cento/_options.py");
    let mut keys = Names::new();
    for class in classes {
        let (_, body) = source.split_once(&format!("class {class}(")).unwrap();
        let lines =
            body.lines().skip(1).take_while(|line| line.is_empty() || line.starts_with("    "));
        keys.extend(lines.filter_map(|line| {
            let (name, _) = line.strip_prefix("    ")?.split_once(": ")?;
            let is_name = |byte: u8| byte.is_ascii_lowercase() || byte == b'_';
            name.bytes().all(is_name).then(|| name.to_owned())
        }));
    }
    &keys - &names(others)
}

/// The public fields of these structs of the library.
fn of_the_library(structs: &[(&str, &str)]) -> Names {
    let fields = structs.iter().flat_map(|(path, name)| {
        let source = read(path);
        let (_, body) = source.split_once(&format!("pub struct {name} {{\n")).unwrap();
        let (body, _) = body.split_once("\n}\n").unwrap();
        let fields = body.lines().filter_map(|line| line.strip_prefix("    pub "));
        fields.map(|field| field.split(':').next().unwrap().to_owned()).collect::<Vec<_>>()
    });
    // Structs that combine options.
    &fields.collect::<Names>() - &names("thresholds")
}

const THRESHOLDS: (&str, &str) = ("crates/cento-api/src/thresholds.rs", "Thresholds");

const DECONTAMINATION: &str = "crates/cento-api/src/decontaminate.rs";

const JOINS: &str = "crates/cento-api/src/join.rs";

#[test]
fn every_door_has_every_option_of_a_search() {
    let options =
        of_the_library(&[("crates/cento-api/src/search.rs", "SearchOptions"), THRESHOLDS]);
    assert!(options.contains("exclude_id") && options.contains("min_containment"), "{options:?}");
    assert_eq!(of_the_service("SearchRequest", "text parts id signature boilerplate"), options);
    // Only programs need to bound the work of a search.
    assert_eq!(of_the_command("search", &options), &options - &names("budget"));
    assert_eq!(of_python(&["SearchOptions", "Thresholds"], ""), options);
}

#[test]
fn every_door_has_every_option_of_pairs() {
    let options = of_the_library(&[(JOINS, "PairOptions"), THRESHOLDS]);
    let known = ["min_similarity", "min_containment"];
    assert!(known.iter().all(|name| options.contains(*name)), "{options:?}");
    assert_eq!(
        of_the_service(
            "PairsRequest",
            "documents boilerplate propose_boilerplate auto_boilerplate against_index sources"
        ),
        options
    );
    assert_eq!(of_the_command("pairs", &options), options);
    assert_eq!(of_python(&["PairOptions", "Thresholds"], "part threads"), options);
}

#[test]
fn every_door_has_every_option_of_clusters() {
    let options = of_the_library(&[(JOINS, "ClusterOptions"), THRESHOLDS]);
    assert!(options.contains("linkage"), "{options:?}");
    assert_eq!(of_the_command("cluster", &options), options);
    assert_eq!(of_python(&["ClusterOptions", "Thresholds"], "threads"), options);
}

#[test]
fn every_door_has_every_option_of_deduplication() {
    let options = of_the_library(&[("crates/cento-api/src/dedup.rs", "DedupOptions")]);
    assert!(options.contains("cut_passages"), "{options:?}");
    assert_eq!(of_the_command("dedup", &options), options);
    let others = "against preset scheme analyzer key_file store_text memory threads on_error wait";
    assert_eq!(of_python(&["DedupOptions"], others), options);
}

#[test]
fn every_door_has_every_option_of_decontamination() {
    let options = of_the_library(&[(DECONTAMINATION, "DecontaminateOptions")]);
    assert!(options.contains("min_share"), "{options:?}");
    assert_eq!(of_the_command("decontaminate", &options), options);
    // Python reads every document only once, so it cannot first count the documents with a
    // question.
    assert_eq!(of_python(&["DecontaminateOptions"], ""), &options - &names("common"));
}

#[test]
fn every_door_has_every_option_of_families() {
    let options = of_the_library(&[("crates/cento-api/src/family.rs", "FamilyOptions")]);
    assert!(options.contains("min_documents"), "{options:?}");
    assert_eq!(of_the_service("FamiliesRequest", "boilerplate auto_boilerplate"), options);
    assert_eq!(of_the_command("families", &options), options);
    assert_eq!(of_python(&["FamilyOptions"], "threads"), options);
}

#[test]
fn every_door_has_every_option_of_lineage() {
    let options = of_the_library(&[("crates/cento-api/src/lineage.rs", "LineageOptions")]);
    assert!(options.contains("min_explained"), "{options:?}");
    assert_eq!(of_the_service("LineageRequest", "boilerplate auto_boilerplate"), options);
    assert_eq!(of_the_command("lineage", &options), options);
    assert_eq!(of_python(&["LineageOptions"], "threads"), options);
}

#[test]
fn every_door_has_every_option_of_a_watch() {
    let options = of_the_library(&[("crates/cento-api/src/watch.rs", "WatchOptions"), THRESHOLDS]);
    assert!(options.contains("exclude_id") && options.contains("min_containment"), "{options:?}");
    assert_eq!(of_the_service("WatchRequest", "name text parts id signature webhook"), options);
    assert_eq!(of_python(&["WatchOptions", "Thresholds"], ""), options);
}

#[test]
fn every_door_has_every_option_of_a_withdrawal() {
    let options = of_the_library(&[("crates/cento-api/src/withdraw.rs", "WithdrawOptions")]);
    assert!(options.contains("min_passage"), "{options:?}");
    assert_eq!(of_the_service("WithdrawRequest", "id dry_run"), options);
    assert_eq!(of_the_command("withdraw", &options), options);
    assert_eq!(of_python(&["WithdrawOptions"], ""), options);
}

#[test]
fn every_door_has_every_option_of_a_comparison() {
    let options = of_the_library(&[("crates/cento-api/src/compare.rs", "CompareOptions")]);
    assert!(options.contains("measures"), "{options:?}");
    assert_eq!(of_the_service("CompareRequest", "a b"), options);
    assert_eq!(of_the_command("compare", &options), options);
    assert_eq!(of_python(&["CompareOptions"], ""), options);
}

#[test]
fn every_verb_of_pairs_has_every_threshold() {
    let thresholds = of_the_library(&[THRESHOLDS]);
    for verb in ["pairs", "cluster"] {
        assert_eq!(of_the_command(verb, &thresholds), thresholds, "{verb}");
    }
    // Python classes that inherit the keys.
    let source = read("python/package/cento/_options.py");
    for class in ["SearchOptions", "PairOptions", "ClusterOptions"] {
        assert!(source.contains(&format!("class {class}(Thresholds, total=False):")), "{class}");
    }
}
