//! Programs, whole and broken, in any of the languages.

use std::sync::OnceLock;

use cento::scheme;
use cento::text::{Analyzer, code};

use super::{choice, text};

/// A program in a language that the first byte chooses among those of the build, with its names or
/// without.
pub fn code(data: &[u8]) {
    static PARSED: OnceLock<Vec<Analyzer>> = OnceLock::new();
    let analyzers = PARSED.get_or_init(|| {
        let specs = code::languages().flat_map(|language| {
            [0, 1].map(|names| format!("code(language={language},names={names})"))
        });
        specs.map(|spec| spec.parse().expect("the specification is right")).collect()
    });
    let (number, rest) = choice(data);
    let text = text::text(rest);
    let tokens = text::analyzed(&analyzers[number % analyzers.len()], &text);
    // A token has a byte at least, and every two of them a break at most.
    let bytes = text.len();
    assert!(
        tokens.hashes.len() <= 2 * bytes + 1,
        "{} tokens of {bytes} bytes",
        tokens.hashes.len()
    );
    let syntax = scheme::parse("syntax(min=1)").expect("the specification is right");
    text::sign(&syntax, &tokens);
}
