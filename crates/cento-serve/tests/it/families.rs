//! Families and lineage for clients that read slowly, hang up, or send boilerplate.

use crate::common::{Ask, Dir, Routes, fill, line, words};
use serde_json::{Value, json};

/// The number of families, with two documents that share a thousand words. The answer is several
/// times larger than the part that waits for a client.
const PAIRS: u64 = 90;

fn pairs() -> Dir {
    let dir = Dir::new();
    let texts = (0..2 * PAIRS).map(|at| {
        let text = format!("{} {}", words(1000 + at, 30), words(at / 2, 1000));
        line(&format!("d{at}"), &text, json!({}))
    });
    fill(&dir.path("idx"), &texts.collect::<String>());
    dir
}

fn computations(routes: &Routes) -> f64 {
    routes.metric("cento_computations")
}

#[test]
fn clients_that_read_slowly_keep_no_other_from_its_answer() {
    let dir = pairs();
    // A request reserves half of the memory until everything has been found.
    let routes = Routes::with(&dir, |settings| settings.memory_bytes = 32 << 20);
    for path in ["/v1/families", "/v1/lineage"] {
        let slow: Vec<_> = (0..3).map(|_| routes.begin(path, "{}")).collect();
        assert!(slow.iter().all(|(status, _)| *status == 200));
        if path == "/v1/families" {
            assert_eq!(computations(&routes), 3.0, "their answers are not complete");
        }
        let whole = routes.post(path, "{}");
        assert_eq!(whole.status, 200);
        let summary: Value = serde_json::from_str(whole.body.lines().next().unwrap()).unwrap();
        assert_eq!(summary["lines"], json!(whole.body.lines().count() - 1));
        for (_, body) in slow {
            assert_eq!(routes.read(body), whole.body);
        }
    }
}

#[test]
fn a_client_that_hangs_up_in_the_middle_of_an_answer_ends_the_work() {
    let dir = pairs();
    let routes = Routes::with(&dir, |settings| settings.memory_bytes = 32 << 20);
    for number in 1..=3 {
        let (status, body) = routes.begin("/v1/families", "{}");
        assert_eq!((status, computations(&routes)), (200, 1.0));
        drop(body);
        while computations(&routes) > 0.0 {}
        assert_eq!(routes.metric("cento_computations_stopped_total"), f64::from(number));
    }
    // The two requests below need the whole memory, so nothing is reserved any more.
    let both = [(); 2].map(|()| routes.begin("/v1/families", "{}"));
    for (status, body) in both {
        assert_eq!((status, routes.read(body).lines().count()), (200, PAIRS as usize + 1));
    }
}

#[test]
fn boilerplate_makes_no_families_and_no_versions() {
    let dir = Dir::new();
    let text =
        |at: u64| format!("{} {} {}", words(1, 80), words(2 + at / 2, 60), words(50 + at, 20));
    let texts = (0..6).map(|at| line(&format!("d{at}"), &text(at), json!({})));
    fill(&dir.path("idx"), &texts.collect::<String>());
    let routes = Routes::of(&dir);
    let lines = |path: &str, body: Value| -> Vec<Value> {
        let reply = routes.post(path, &body.to_string());
        assert_eq!(reply.status, 200, "{}", reply.body);
        reply.body.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let documents = |body: Value| -> Vec<Value> {
        let found = lines("/v1/families", body);
        found[1..].iter().map(|family| family["documents"].clone()).collect()
    };
    assert_eq!(documents(json!({}))[0], 6);
    let trees = |body: Value| lines("/v1/lineage", body)[0]["trees"].clone();
    assert_eq!(trees(json!({})), 1);
    for without in [json!({"boilerplate": [words(1, 80)]}), json!({"auto_boilerplate": 0.9})] {
        assert_eq!(documents(without.clone()), [2, 2, 2], "{without}");
        assert_eq!(trees(without.clone()), 3, "{without}");
    }
    for path in ["/v1/families", "/v1/lineage"] {
        let refused = routes.post(path, r#"{"auto_boilerplate": 2}"#);
        assert_eq!(refused.status, 400, "{}", refused.body);
    }
}
