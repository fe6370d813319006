//! Fuzzes programs, whole and broken, in any language.

use std::sync::LazyLock;

use cento::scheme;
use cento::text::code;

use super::{chosen, one_of, text};

/// A program. The first byte chooses a language of the build, with its names or without.
pub fn code(data: &[u8]) {
    static ANALYZERS: LazyLock<Vec<String>> = LazyLock::new(|| {
        let specs = code::languages().flat_map(|language| {
            [0, 1].map(|names| format!("code(language={language},names={names})"))
        });
        specs.collect()
    });
    // A build without a language reads its programs as a different language.
    let (analyzer, rest) = chosen(data, one_of(&ANALYZERS), &ANALYZERS);
    let analyzer = analyzer.parse().expect("the specification is right");
    let text = text::text(rest);
    let tokens = text::analyzed(&analyzer, &text);
    // A token has at least one byte, and two tokens have at most one break between them.
    let bytes = text.len();
    assert!(
        tokens.hashes.len() <= 2 * bytes + 1,
        "{} tokens of {bytes} bytes",
        tokens.hashes.len()
    );
    let syntax = scheme::parse("syntax(min=1)").expect("the specification is right");
    text::sign(&syntax, &tokens);
}
