//! A second index takes the place of the served index.
#![cfg(unix)]

use std::fs;

use crate::common::{Ask, Dir, Service, documents, line, wait_until, words};
use cento_testing::exchanged::{switch, two};
use serde_json::json;

#[test]
fn a_service_acknowledges_nothing_when_a_link_is_switched() {
    let dir = Dir::new();
    two(&dir, 3);
    let service = Service::start(&dir);
    let add =
        |id: &str| service.post("/v1/documents?commit=wait", &line(id, &words(77, 60), json!({})));
    assert_eq!(add("before").status, 200);
    // This document is accepted but not committed yet.
    let accepted = line("accepted", &words(78, 60), json!({}));
    assert_eq!(service.post("/v1/documents?commit=auto", &accepted).status, 202);
    let before = fs::read(dir.path("v2/meta.json")).unwrap();
    switch(&dir, "v2");
    let refused = add("after");
    assert_eq!((refused.status, refused.code().as_str()), (503, "unavailable"));
    assert!(!refused.body.contains("v2") && !refused.body.contains("idx"), "{}", refused.body);
    // Later requests are refused as well.
    assert_eq!(add("after").status, 503);
    assert_eq!(service.ask("GET", "/readyz", "", "").status, 503);
    assert_eq!(fs::read(dir.path("v2/meta.json")).unwrap(), before);
    assert_eq!(documents(&dir, "v2"), 3);
    // After the link is restored, accepted documents are written, and writes succeed again.
    switch(&dir, "v1");
    wait_until("the service writes again", || service.ask("GET", "/readyz", "", "").status == 200);
    assert_eq!(add("after").status, 200);
    service.stop();
    assert_eq!(documents(&dir, "v1"), 6);
}

#[test]
fn a_service_that_is_started_again_serves_the_target_of_the_link() {
    let dir = Dir::new();
    two(&dir, 3);
    let service = Service::start(&dir);
    switch(&dir, "v2");
    let new = line("new", &words(77, 60), json!({}));
    assert_eq!(service.post("/v1/documents?commit=wait", &new).status, 503);
    // No acknowledged document is lost, so the service ends without an error.
    service.stop();
    let service = Service::start(&dir);
    assert_eq!(service.post("/v1/documents?commit=wait", &new).status, 200);
    service.stop();
    assert_eq!((documents(&dir, "v1"), documents(&dir, "v2")), (3, 4));
}
