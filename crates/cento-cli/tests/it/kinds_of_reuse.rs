//! The real binary: kinds of reuse counted by `cento method analyze`.

use serde_json::json;

use crate::common::run::{Dir, line};
use crate::common::words;

#[test]
fn the_kinds_of_all_pairs_do_not_depend_on_the_sample() {
    // 66 pairs have a head in common, and ten are copies.
    let dir = Dir::new();
    let head = words(1, 60);
    let headed = (0..12u64)
        .map(|of| line(&format!("t{of}"), &format!("{head} {}", words(10 + of, 120)), json!({})));
    let copies = (0..10u64).flat_map(|of| {
        ["x", "y"].map(|side| line(&format!("{side}{of}"), &words(100 + of, 150), json!({})))
    });
    dir.write("an.jsonl", headed.chain(copies).collect::<String>());
    dir.json(&["add", "idx", "an.jsonl"]);
    for sample in ["5", "50", "500"] {
        let statistics = dir.json(&["method", "analyze", "idx", "--limit", sample]);
        let total = &statistics["total"];
        assert_eq!((&total["pairs"], total["unclassified"].as_u64()), (&json!(76), Some(0)));
        let patterns = total["patterns"].as_array().unwrap();
        assert_eq!(patterns[0], json!(["exact_alias", 10]), "{sample}: {patterns:?}");
        let pairs: u64 = patterns.iter().map(|pattern| pattern[1].as_u64().unwrap()).sum();
        assert_eq!(pairs, 76);
        assert_eq!(statistics["estimated"], sample != "500");
        let shown = dir.run(&["method", "analyze", "idx", "--limit", sample]).out;
        let row = shown.lines().find(|line| line.starts_with("total")).unwrap();
        assert!(row.ends_with(" 13 %"), "{row}");
        assert_eq!(shown.contains("are an estimate from samples"), sample != "500", "{shown}");
    }
}
