//! The real binary: searching and serving several indexes as one.

use cento_testing::several::{DOCUMENTS, text, third, without_names};
use serde_json::{Value, json};

use crate::common::run::{Dir, line};
use crate::common::service::Service;
use crate::common::words;

/// Indexes `a`, `b` and `c` with a third of the documents each, and the merged index `all`.
fn parts() -> Dir {
    let dir = Dir::new();
    for (part, name) in (0..).zip(["a", "b", "c"]) {
        dir.write("part.jsonl", third(part));
        dir.json(&["add", name, "part.jsonl"]);
    }
    dir.json(&["merge", "all", "a", "b", "c"]);
    dir
}

#[test]
fn a_service_over_several_indexes_answers_as_the_command_and_as_the_merged_one() {
    let dir = parts();
    let service = Service::over(&dir, &["a", "b", "c"]);
    let ask = |number: u64| -> Value {
        let request = json!({"text": text(number), "limit": 20, "passages": true, "max_df": "12"});
        let reply = service.post("/v1/search", &request.to_string());
        assert_eq!(reply.status, 200, "{reply:?}");
        serde_json::from_str(&reply.body).unwrap()
    };
    for number in [0, 7] {
        let text = text(number);
        let options = ["--text", &text, "-n", "20", "--passages", "--max-df", "12"];
        let mut found = ask(number);
        let mut told = dir.json(&[&["search", "a", "b", "c"], &options[..]].concat());
        let mut whole = dir.json(&[&["search", "all"], &options[..]].concat());
        let names = without_names(&mut found);
        assert_eq!(names, without_names(&mut told));
        assert!(names.len() > 4 && without_names(&mut whole).is_empty(), "{found}");
        assert_eq!(found, told);
        assert_eq!(found, whole);
        for (hit, name) in found["hits"].as_array().unwrap().iter().zip(&names) {
            let number: usize = hit["id"].as_str().unwrap()[1..].parse().unwrap();
            assert_eq!(*name, ["a", "b", "c"][number % 3]);
        }
        assert!(found["query"]["stopped"].as_u64().unwrap() > 0, "{found}");
    }
}

#[test]
fn indexes_that_do_not_fit_are_not_served() {
    let dir = parts();
    dir.write("other.jsonl", line("x", &words(1, 50), json!({})));
    dir.json(&["add", "other", "other.jsonl", "--scheme", "kgram(k=3)"]);
    let refused = |args: &[&str], expected: &str| {
        let run = dir.run(&[&["serve", "--listen", "127.0.0.1:0"], args].concat());
        assert!(run.status == 2 && run.err.contains(expected), "{args:?}: {}", run.err);
    };
    refused(&["a", "other"], "kgram(k=3)");
    refused(&["a", "a"], "named twice");
    refused(&["a", "missing"], "missing");
    refused(&["a", "b", "--compact-at", "03:00"], "--compact-at");
}

#[test]
fn documents_are_compared_with_several_indexes_as_with_the_merged_one() {
    let dir = parts();
    let mut lines = String::new();
    for number in 0..DOCUMENTS {
        let near = format!("{} {}", text(number), words(2000 + number, 3));
        let part = format!("{} {}", words(number % 5, 40), words(3000 + number, 40));
        lines += &line(&format!("exact{number}"), &text(number), json!({}));
        lines += &line(&format!("near{number}"), &near, json!({}));
        lines += &line(&format!("part{number}"), &part, json!({}));
    }
    dir.write("next.jsonl", lines);
    let report = |against: &[&str], options: &[&str]| -> Vec<Value> {
        for name in ["out", "report"] {
            let _ = std::fs::remove_file(dir.path(name));
        }
        let mut args = vec!["dedup", "next.jsonl", "--out", "out", "--dropped", "report"];
        against.iter().for_each(|index| args.extend(["--against", index]));
        args.extend(options);
        let run = dir.run(&args);
        assert!(run.status < 2, "{}", run.err);
        let lines = std::fs::read_to_string(dir.path("report")).unwrap();
        let kept = std::fs::read_to_string(dir.path("out")).unwrap();
        let lines = lines.lines().map(|line| serde_json::from_str(line).unwrap());
        lines.chain([json!({ "kept": kept })]).collect()
    };
    for options in [&[][..], &["--min-containment", "0.3"], &["--cut-passages", "20"]] {
        let expected = report(&["all"], options);
        let mut found = report(&["a", "b", "c"], options);
        let mut named = 0;
        for line in &mut found {
            let holders: Vec<&mut Value> = match line.get("cut").is_some() {
                true => line["cut"].as_array_mut().unwrap().iter_mut().collect(),
                false => vec![line],
            };
            for holder in holders {
                let Some(name) = holder.as_object_mut().unwrap().remove("index") else { continue };
                let number: usize = holder["of"].as_str().unwrap()[1..].parse().unwrap();
                assert_eq!(name, ["a", "b", "c"][number % 3]);
                named += 1;
            }
        }
        assert!(named >= DOCUMENTS, "{named} of {options:?}");
        assert_eq!(found, expected, "{options:?}");
    }
}
