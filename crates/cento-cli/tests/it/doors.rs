//! Does every door have every option of a search?

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

/// The fields of a request that are options: all but the subject, and what is a file to the command.
fn of_the_service(request: &str) -> Names {
    let document: Value = serde_json::from_str(&read("crates/cento-serve/openapi.json")).unwrap();
    let fields = document["components"]["schemas"][request]["properties"].as_object().unwrap();
    let others = ["text", "id", "signature", "boilerplate"];
    fields.keys().filter(|name| !others.contains(&name.as_str())).cloned().collect()
}

/// The options of a verb with these names, as fields of JSON.
fn of_the_command(verb: &str, wanted: &Names) -> Names {
    let help = Dir::new().run(&[verb, "--help"]).out;
    let lines = help.lines().map(str::trim_start).filter_map(|line| {
        let (_, option) = line.split_once("--").filter(|(before, _)| before.len() <= 4)?;
        Some(option.split([' ', ',', '=']).next()?.replace('-', "_"))
    });
    lines.filter(|name| wanted.contains(name)).collect()
}

/// The keys of the classes of Python with these names.
fn of_python(classes: &[&str]) -> Names {
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
    keys
}

/// The public fields of the structs of the library with these names.
fn of_the_library(structs: &[(&str, &str)]) -> Names {
    let fields = structs.iter().flat_map(|(path, name)| {
        let source = read(path);
        let (_, body) = source.split_once(&format!("pub struct {name} {{\n")).unwrap();
        let (body, _) = body.split_once("\n}\n").unwrap();
        let fields = body.lines().filter_map(|line| line.strip_prefix("    pub "));
        fields.map(|field| field.split(':').next().unwrap().to_owned()).collect::<Vec<_>>()
    });
    fields.collect()
}

#[test]
fn every_door_has_every_option_of_a_search() {
    let options = of_the_library(&[
        ("src/search/options.rs", "SearchOptions"),
        ("src/search/thresholds.rs", "Thresholds"),
    ]);
    assert!(options.contains("exclude_id") && options.contains("min_containment"), "{options:?}");
    assert_eq!(of_the_service("SearchRequest"), options);
    assert_eq!(of_the_command("search", &options), options);
    assert_eq!(of_python(&["SearchOptions", "Thresholds"]), options);
}

#[test]
fn every_verb_of_pairs_has_every_threshold() {
    let thresholds = of_the_library(&[("src/search/thresholds.rs", "Thresholds")]);
    for verb in ["pairs", "cluster", "passages"] {
        assert_eq!(of_the_command(verb, &thresholds), thresholds, "{verb}");
    }
    // Classes of Python that have them by inheritance.
    let source = read("python/package/cento/_options.py");
    for class in ["SearchOptions", "PairOptions", "ClusterOptions"] {
        assert!(source.contains(&format!("class {class}(Thresholds, total=False):")), "{class}");
    }
}
