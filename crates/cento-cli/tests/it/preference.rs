//! The real binary: choosing the representative of a cluster.

use serde_json::json;

use crate::common::run::{Dir, line};
use crate::common::words;

#[test]
fn documents_without_the_field_of_a_preference_are_counted() {
    let dir = Dir::new();
    let date = |of: u64| if of < 3 { json!({"date": 9 - of}) } else { json!({}) };
    let lines = (0..5u64).map(|of| line(&format!("a{of}"), &words(1, 60), date(of)));
    dir.write("in.jsonl", lines.collect::<String>());
    dir.json(&["add", "idx", "in.jsonl"]);
    let run = dir.run(&["cluster", "idx", "--prefer", "date", "--format", "json"]);
    assert_eq!(run.status, 0, "{}", run.err);
    assert!(
        run.err.contains("2 documents without the field `date`: preferred last"),
        "{}",
        run.err
    );
    assert!(run.out.contains("\"representative\":\"a2\""), "{}", run.out);
    let oldest = dir.run(&["cluster", "idx"]);
    assert!(!oldest.err.contains("without the field"), "{}", oldest.err);
}
