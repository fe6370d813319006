//! Pages with https, from a host whose certificate an authority of the test has signed.

#[path = "../../../cento-cli/tests/it/https/host.rs"]
mod host;

use cento_testing::{Dir, words};
use serde_json::json;

use crate::command::{Run, command, ran};
use host::{AUTHORITY, OTHER, host};

fn run(dir: &Dir, authorities: &str, engine: &str) -> Run {
    dir.write("authorities.pem", authorities);
    let mut command = command(dir, engine, &["--allow-loopback", "--format", "json"]);
    command.env("SSL_CERT_FILE", dir.path("authorities.pem")).env_remove("SSL_CERT_DIR");
    ran(&mut command)
}

#[test]
fn pages_of_the_web_are_fetched_by_https() {
    let dir = Dir::new();
    let text = words(1, 100);
    dir.write("essay.txt", &text);
    let at = host(move |target, here| match target {
        "/robots.txt" => String::new(),
        "/page" => format!("<html><p>{text}</p></html>"),
        _ => json!({"query": "", "results": [{"url": format!("{here}/page")}]}).to_string(),
    });
    let refused = run(&dir, OTHER, &at);
    assert_eq!(refused.status, 2, "{} {}", refused.out, refused.err);
    assert!(refused.out.contains("UnknownIssuer"), "{} {}", refused.out, refused.err);
    assert!(refused.out.contains("SSL_CERT_FILE"), "{}", refused.out);
    assert!(!dir.path("web.idx").exists());
    let fetched = run(&dir, AUTHORITY, &at);
    assert_eq!(fetched.status, 0, "{} {}", fetched.out, fetched.err);
    assert_eq!(fetched.json()["added"][0]["address"], format!("{at}/page"));
}
