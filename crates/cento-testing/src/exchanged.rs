//! Two indexes, and a link that switches between the two.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::json;

use crate::dir::Dir;
use crate::index::fill;
use crate::text::{line, words};

/// Makes two indexes, `v1` and `v2` with `count` documents each, and a link `idx` to the first.
pub fn two(dir: &Dir, count: u64) {
    for (version, name) in ["v1", "v2"].into_iter().enumerate() {
        let id = |i: u64| format!("{name}-{i}");
        let text = |i: u64| words(1000 * version as u64 + i, 60);
        let lines: String = (0..count).map(|i| line(&id(i), &text(i), json!({}))).collect();
        fill(&dir.path(name), &lines);
    }
    symlink(dir.path("v1"), dir.path("idx")).unwrap();
}

/// Lets the link lead to another index.
pub fn switch(dir: &Dir, to: &str) {
    fs::remove_file(dir.path("idx")).unwrap();
    symlink(dir.path(to), dir.path("idx")).unwrap();
}
