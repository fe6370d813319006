//! Pairs of texts with the user's labels.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Deserializer};
use serde_json::Value;

use cento::{Error, Result};
use cento_collections::tune::{LabelFault, LabelledPair, PairText, label_fault};

/// The maximum length of the file, which is in memory as a whole.
const BYTES_MAX: u64 = 64 << 20;

/// A pair, with the file and line for messages.
#[derive(Debug, PartialEq, Eq)]
pub struct ReadPair {
    /// The file and the line.
    pub place: String,
    pub pair: LabelledPair,
}

/// A line of JSON: ids or texts, and the label.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LabeledLine {
    a: Option<String>,
    b: Option<String>,
    text_a: Option<String>,
    text_b: Option<String>,
    #[serde(default, deserialize_with = "given")]
    same: Option<Value>,
    #[serde(default, deserialize_with = "given")]
    label: Option<Value>,
    kind: Option<String>,
}

/// Keeps `null` apart from a missing label: `null` is not a label, and a missing label means that
/// the pair is the same.
fn given<'de, D: Deserializer<'de>>(reader: D) -> std::result::Result<Option<Value>, D::Error> {
    Value::deserialize(reader).map(Some)
}

/// Reads pairs from JSON lines or a tab-separated table. Passes invalid lines to `refused`.
///
/// # Errors
/// When the file cannot be read or is too long, or when a pair has two equal ids or contradictory
/// labels.
pub fn read(path: &Path, refused: &mut dyn FnMut(Error)) -> Result<Vec<ReadPair>> {
    let failed = |e| Error::io("read", path, e);
    if path.metadata().map_err(failed)?.len() > BYTES_MAX {
        let what = format!("longer than {BYTES_MAX} bytes, the limit for pairs; name fewer pairs");
        return Err(Error::input(path.display().to_string(), what));
    }
    let text = std::fs::read_to_string(path).map_err(failed)?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let mut pairs = Vec::new();
    let is_json = text.trim_start().starts_with('{');
    for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()) {
        let place = format!("{}:{number}", path.display());
        let pair = match is_json {
            true => of_json(line),
            // The names of the columns.
            false if number == 1 && has_names(line) => continue,
            false => of_row(line),
        };
        match pair {
            Ok(pair) => pairs.push(ReadPair { place, pair }),
            Err(what) => refused(Error::input(place, what)),
        }
    }
    check_labels(&pairs)?;
    Ok(pairs)
}

/// Refuses a pair of a text with itself, and a pair with contradictory labels.
fn check_labels(pairs: &[ReadPair]) -> Result<()> {
    let Some(fault) = label_fault(pairs.iter().map(|read| &read.pair)) else { return Ok(()) };
    let (number, what) = match fault {
        LabelFault::Itself { pair, .. } => (pair, fault.to_string()),
        LabelFault::Both { first, second, .. } => {
            (second, format!("{fault}; the other label is at {}", pairs[first].place))
        }
    };
    Err(Error::input(pairs[number].place.clone(), what))
}

/// Returns the ids in the pairs.
pub fn ids(pairs: &[ReadPair]) -> impl Iterator<Item = &str> {
    pairs.iter().flat_map(|ReadPair { pair, .. }| {
        [&pair.a, &pair.b].into_iter().filter_map(|side| match side {
            PairText::Id(id) => Some(id.as_str()),
            PairText::Text(_) => None,
        })
    })
}

fn of_json(line: &str) -> std::result::Result<LabelledPair, String> {
    let line: LabeledLine = serde_json::from_str(line).map_err(|error| {
        let what = cento_api::json::problem(&error);
        format!("not a pair: {what} at column {}", error.column())
    })?;
    let side = |id: Option<String>, text: Option<String>, name: &str| match (id, text) {
        (Some(id), None) => Ok(PairText::Id(id)),
        (None, Some(text)) => Ok(PairText::Text(text)),
        _ => Err(format!(
            "not a pair: it needs either `{name}`, the id of a document, or `text_{name}`, a text"
        )),
    };
    let label = match (line.same, line.label) {
        (Some(_), Some(_)) => {
            return Err("not a pair: it has both `same` and `label`; give one label".to_owned());
        }
        (same, label) => same.or(label),
    };
    let is_same = match label {
        None => true,
        Some(Value::String(label)) => label_of(&label).ok_or_else(|| unknown(&label))?,
        Some(other) => label_of(&other.to_string()).ok_or_else(|| unknown(&other.to_string()))?,
    };
    let (a, b) = (side(line.a, line.text_a, "a")?, side(line.b, line.text_b, "b")?);
    Ok(LabelledPair { a, b, is_same, kind: line.kind })
}

fn of_row(line: &str) -> std::result::Result<LabelledPair, String> {
    let mut cells = line.trim_end_matches(['\r', '\n']).split('\t');
    let mut id = || cells.next().map(str::trim).filter(|cell| !cell.is_empty());
    let (Some(a), Some(b)) = (id(), id()) else {
        return Err("not a pair: a line has two ids and a label, separated by tabs".to_owned());
    };
    let is_same = match id() {
        None => true,
        Some(label) => label_of(label).ok_or_else(|| unknown(label))?,
    };
    let kind = id().map(str::to_owned);
    Ok(LabelledPair { a: PairText::Id(a.into()), b: PairText::Id(b.into()), is_same, kind })
}

/// Returns whether the first line of a table has column names and no label. A number is never a
/// name, but may be an unknown label.
fn has_names(line: &str) -> bool {
    let label = line.split('\t').nth(2).map(str::trim);
    label.is_some_and(|label| label_of(label).is_none() && label.parse::<f64>().is_err())
}

fn label_of(label: &str) -> Option<bool> {
    match label.to_ascii_lowercase().as_str() {
        "1" | "true" | "yes" | "same" => Some(true),
        "0" | "false" | "no" | "different" => Some(false),
        _ => None,
    }
}

fn unknown(label: &str) -> String {
    format!(
        "unknown label `{label}`: a label is 1, true, yes or same; or 0, false, no or different"
    )
}

/// Refuses a file of pairs among the documents to read.
pub fn check_apart(path: &Path, inputs: &[PathBuf]) -> Result<()> {
    if inputs.iter().any(|input| input == path) {
        let what = "the file of --pairs is also named as a collection; name it once";
        return Err(Error::argument("pairs", what));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str) -> (Vec<LabelledPair>, Vec<String>) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("pairs");
        std::fs::write(&path, text).unwrap();
        let mut refused = Vec::new();
        let pairs = read(&path, &mut |error| refused.push(error.to_string())).unwrap();
        (pairs.into_iter().map(|read| read.pair).collect(), refused)
    }

    fn pair(a: &str, b: &str, is_same: bool) -> LabelledPair {
        let id = |id: &str| PairText::Id(id.to_owned());
        LabelledPair { a: id(a), b: id(b), is_same, kind: None }
    }

    #[test]
    fn tables_and_json_lines_are_read_with_and_without_names() {
        let all = vec![pair("a.txt", "b.txt", true), pair("a.txt", "c.txt", false)];
        for text in [
            "a.txt\tb.txt\t1\na.txt\tc.txt\t0\n",
            "\u{feff}a\tb\tcopied\r\na.txt\tb.txt\tyes\r\n\r\na.txt\tc.txt\tno\r\n",
            "{\"a\":\"a.txt\",\"b\":\"b.txt\"}\n{\"a\":\"a.txt\",\"b\":\"c.txt\",\"same\":0}\n",
        ] {
            assert_eq!(check(text), (all.clone(), Vec::new()), "{text}");
        }
        let (pairs, _) = check("{\"text_a\":\"one\",\"b\":\"b\",\"same\":true,\"kind\":\"short\"}");
        assert_eq!(pairs[0].a, PairText::Text("one".into()));
        assert_eq!(pairs[0].kind.as_deref(), Some("short"));
    }

    #[test]
    fn what_is_no_pair_is_refused_with_its_line() {
        let (pairs, refused) = check("a\tb\t1\nonly one\nc\td\tmaybe\n");
        assert_eq!(pairs.len(), 1);
        let (_, numbered) = check("a\tb\t2\nc\td\t1\n");
        assert!(numbered[0].contains("pairs:1") && numbered[0].contains("unknown label `2`"));
        assert!(refused[0].contains("pairs:2") && refused[1].contains("unknown label `maybe`"));
        let (pairs, refused) =
            check("{\"a\":\"a\"}\n{\"a\":\"a\",\"text_a\":\"x\",\"b\":\"b\"}\n{\n");
        assert!(pairs.is_empty() && refused.len() == 3, "{refused:?}");
    }

    #[test]
    fn a_label_of_json_is_read_as_that_of_a_table_and_no_unknown_field_is_ignored() {
        let labelled =
            |field: &str| check(&format!("{{\"a\":\"a.txt\",\"b\":\"b.txt\",{field}}}\n"));
        for (label, is_same) in [
            ("1", true),
            ("0", false),
            ("true", true),
            ("false", false),
            ("\"yes\"", true),
            ("\"different\"", false),
        ] {
            for name in ["label", "same"] {
                let found = labelled(&format!("\"{name}\":{label}"));
                assert_eq!(found, (vec![pair("a.txt", "b.txt", is_same)], Vec::new()), "{name}");
            }
        }
        let refuses = |field: &str, parts: &[&str]| {
            let (pairs, refused) = labelled(field);
            assert!(pairs.is_empty() && refused.len() == 1, "{field}: {refused:?}");
            assert!(refused[0].contains("pairs:1"), "{refused:?}");
            assert!(parts.iter().all(|part| refused[0].contains(part)), "{refused:?}");
        };
        let there = "`a`, `b`, `text_a`, `text_b`, `same`, `label`, `kind` at column";
        refuses("\"Same\":false", &["unknown field `Same`", there]);
        refuses("\"score\":0", &["unknown field `score`"]);
        refuses("\"same\":true,\"label\":1", &["both `same` and `label`"]);
        // The pair has not been judged.
        refuses("\"label\":null", &["unknown label `null`"]);
        refuses("\"label\":2", &["unknown label `2`"]);
    }

    #[test]
    fn labels_that_contradict_each_other_are_refused_with_both_lines() {
        let refuses = |text: &str, parts: &[&str]| {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("pairs");
            std::fs::write(&path, text).unwrap();
            let error = read(&path, &mut |error| panic!("{error}")).unwrap_err().to_string();
            assert!(parts.iter().all(|part| error.contains(part)), "{error}");
        };
        let both = ["`c0` and `o0` are labelled the same and different"];
        refuses("c0\to0\t1\nc1\to1\t1\nc0\to0\t0\n", &[both[0], "pairs:1", "pairs:3"]);
        refuses("c0\to0\t0\nc0\to0\t1\n", &[both[0], "pairs:1", "pairs:2"]);
        refuses("o0\tc0\t1\nc0\to0\t0\n", &[both[0], "pairs:1", "pairs:2"]);
        refuses("c0\to0\t1\nc1\tc1\t1\n", &["`c1` is paired with itself", "pairs:2"]);
        let text =
            "{\"text_a\":\"x y\",\"b\":\"b\"}\n{\"b\":\"b\",\"text_a\":\"x y\",\"same\":0}\n";
        refuses(text, &["a text and `b`", "pairs:1", "pairs:2"]);
        // Repeating a label does not contradict it.
        assert_eq!(check("c0\to0\t1\nc0\to0\t1\no0\tc0\t1\n").0.len(), 3);
    }
}
