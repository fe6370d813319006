//! Specifications and other short strings: a parsed value prints as a text that parses to the same
//! value.

use std::fmt::Display;
use std::str::FromStr;
use std::sync::{Arc, OnceLock};

use cento::Measure;
use cento::Stop;
use cento::index::{Config, MaxDf};
use cento::scheme;
use cento::scheme::frequency::{FrequencyCounter, FrequencyTable};
use cento::text::{Analyzer, Tokens};

use super::{chosen, one_of};

/// The longest message about an input of any length, with the list of allowed values.
const MESSAGE_BYTES_MAX: usize = 8 << 10;

/// The kinds of specifications.
const KINDS: [&str; 5] = ["scheme", "analyzer", "measure", "max_df", "config"];

/// A scheme, an analyzer, a measure, or a limit of document frequency; or scheme and analyzer of an
/// index, with a `;` between them.
pub fn spec(data: &[u8]) {
    let (kind, rest) = chosen(data, one_of(&KINDS), &KINDS);
    let text = &*String::from_utf8_lossy(rest);
    match kind {
        "scheme" => parsed(text, scheme::parse),
        "analyzer" => parsed(text, Analyzer::from_str),
        "measure" => {
            told(text, text.parse::<Measure>().map(|measure| assert!(!measure.name().is_empty())))
        }
        "max_df" => parsed(text, MaxDf::from_str),
        _ => config(text),
    }
}

/// An input that is read is written in one way, which is read as the same.
fn parsed<T: Display>(text: &str, parse: impl Fn(&str) -> cento::Result<T>) {
    let value = parse(text);
    if let Ok(value) = &value {
        let canonical = value.to_string();
        let again = parse(&canonical).expect("a printed value can be parsed");
        assert_eq!(again.to_string(), canonical, "{text}");
    }
    told(text, value);
}

/// A refusal says why, in a few words more than the input.
fn told<T>(text: &str, value: cento::Result<T>) {
    if let Err(error) = value {
        let message = error.to_string();
        assert!(!message.is_empty() && message.len() <= MESSAGE_BYTES_MAX + 3 * text.len());
    }
}

fn config(text: &str) {
    let (scheme, analyzer) = text.split_once(';').unwrap_or((text, "words"));
    static TABLE: OnceLock<Arc<FrequencyTable>> = OnceLock::new();
    let words = TABLE.get_or_init(|| Arc::new(table(1, "words")));
    for table in [None, Some(words.clone())] {
        let Ok(config) = Config::with_frequencies(scheme, analyzer, true, table) else { continue };
        let Ok((tokens, signature)) = config.sign("one two three four five six seven eight") else {
            continue;
        };
        super::text::assert_signed(&config.scheme, tokens, &signature);
    }
}

/// A small table of the frequencies of runs of `q` tokens.
pub fn table(q: usize, analyzer: &str) -> FrequencyTable {
    let analyzer: Analyzer = analyzer.parse().expect("the specification is right");
    let mut counter = FrequencyCounter::new(q, &analyzer.to_string());
    let mut tokens = Tokens::default();
    for text in ["one two three four five", "two three four", "three four five six", "four"] {
        analyzer.analyze(text, &mut tokens, Stop::NEVER).expect("a short text has tokens");
        counter.add(&tokens, None).expect("memory takes every gram");
    }
    let mut bytes = Vec::new();
    counter.write(&mut bytes).expect("memory takes every byte");
    FrequencyTable::new("a table", bytes).expect("it was just written")
}
