//! Writes the Unicode tables that decide the words of a text.
//!
//! The library keeps the tables in its source. Programs that need other versions of the Unicode
//! crates can therefore use the library, and no new version of a crate changes keys. This tool
//! writes the tables from the crates that `tools/Cargo.toml` pins. A new version of these crates
//! changes the tables, and the digest of the analyzer then makes old indexes unreadable, so
//! CHANGELOG must report the change.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use caseless::Caseless;
use clap::Args;
use unicode_normalization::UnicodeNormalization;
use unicode_properties::{GeneralCategory, GeneralCategoryGroup, UnicodeGeneralCategory};
use unicode_script::{Script, UnicodeScript};

use crate::Result;

/// Write the tables of Unicode that are part of the library's source.
#[derive(Debug, Args)]
pub struct Unicode {
    /// The source file to write.
    #[arg(long, default_value = "crates/cento-text/src/text/unicode/tables.rs")]
    tables: PathBuf,
}

impl Unicode {
    pub fn run(self) -> Result {
        fs::write(&self.tables, tables())?;
        println!("{} is written", self.tables.display());
        Ok(())
    }
}

/// The scripts with letters that look alike (`text::avtor::homoglyphs`).
const ALIKE: [(Script, &str); 3] =
    [(Script::Cyrillic, "Cyrillic"), (Script::Greek, "Greek"), (Script::Latin, "Latin")];

/// The scripts without spaces between words: the scripts of Lucene's CJKBigramFilter (Hangul is
/// spaced, but by phrase), and Thai, Lao, Khmer and Myanmar.
const UNSPACED: [Script; 8] = [
    Script::Han,
    Script::Hiragana,
    Script::Katakana,
    Script::Hangul,
    Script::Thai,
    Script::Lao,
    Script::Khmer,
    Script::Myanmar,
];

fn tables() -> String {
    let version = |(major, minor, update): (u64, u64, u64)| format!("{major}.{minor}.{update}");
    let categories = version(unicode_properties::UNICODE_VERSION);
    let folding = version(caseless::UNICODE_VERSION);
    let scripts = version(unicode_script::UNICODE_VERSION);
    let mut source = format!(
        "\
//! Tables of Unicode, generated: do not edit.
//!
//! `cargo run -p cento-tools -- unicode` writes this file, from the crates that `tools/Cargo.toml`
//! pins. A test of the tools compares the two. Code points are in hexadecimal. The data are those
//! of the Unicode Character Database, whose license is LICENSE-UNICODE in this directory.
//!
//! | table | Unicode | from |
//! |---|---|---|
//! | [`CATEGORIES`], [`UPPER_CASE`] | {categories} | unicode-properties |
//! | [`SECONDS`] | {categories} | unicode-normalization, for characters that [`CATEGORIES`] knows |
//! | [`FOLDS`], [`FULL_FOLDS`] | {folding} | caseless |
//! | [`SCRIPTS`], [`UNSPACED`] | {scripts} | unicode-script |

use super::LetterScript::{{self, Cyrillic, Greek, Latin}};
use super::WordCategory::{{self, Cn, L, M, N, Nl, Other, Pc}};
"
    );
    let mut table = |head: &str, rows: Vec<String>| {
        let (head, element) = head.rsplit_once(": ").expect("a head names the type of a row");
        let count = rows.len();
        write!(source, "\n{head}: [{element}; {count}] = [\n{}];\n", lines(&rows))
            .expect("writing to a string succeeds");
    };
    table(
        "/// The first character of each run of characters of one category.
#[rustfmt::skip]
pub(super) static CATEGORIES: (u32, WordCategory)",
        starts(category).iter().map(|(first, name)| format!("({first:#x}, {name})")).collect(),
    );
    let upper = |c: char| c.general_category() == GeneralCategory::UppercaseLetter;
    let upper = ('\0'..=char::MAX).filter(|&c| upper(c)).map(|c| (c.into(), 0));
    table(
        "/// Runs of upper-case letters: the first and last of the run, and the step from one to the next.
#[rustfmt::skip]
pub(super) static UPPER_CASE: (u32, u32, u32)",
        stepped(upper)
            .iter()
            .map(|(first, last, step, _)| format!("({first:#x}, {last:#x}, {step})"))
            .collect(),
    );
    let seconds = seconds();
    table(
        "/// The first and last of each run of characters that are, or begin with, the second part of some
/// composition (NFKC_Quick_Check is Maybe).
#[rustfmt::skip]
pub(super) static SECONDS: (u32, u32)",
        ranges(|c| seconds.contains(&c)),
    );
    let (folds, full) = folds();
    table(
        "/// Runs of characters that fold to others: the first and last of the run, the step from one to the
/// next, and how much further the one other is; 0 if there are several, which [`FULL_FOLDS`] lists.
#[rustfmt::skip]
pub(super) static FOLDS: (u32, u32, u32, i32)",
        folds,
    );
    table(
        "/// The characters that fold to several; NUL fills up.
#[rustfmt::skip]
pub(super) static FULL_FOLDS: (char, [char; 3])",
        full,
    );
    table(
        "/// The first and last of each run of characters of scripts whose letters look alike.
#[rustfmt::skip]
pub(super) static SCRIPTS: (u32, u32, LetterScript)",
        runs(|c| ALIKE.iter().find(|(script, _)| *script == c.script()).map(|(_, name)| *name))
            .iter()
            .map(|(first, last, script)| format!("({first:#x}, {last:#x}, {script})"))
            .collect(),
    );
    table(
        "/// The first and last of each run of characters whose Script_Extensions have a script that is
/// written without spaces: Han, Hiragana, Katakana, Hangul, Thai, Lao, Khmer, Myanmar.
#[rustfmt::skip]
pub(super) static UNSPACED: (u32, u32)",
        ranges(is_unspaced),
    );
    source
}

/// Formats the elements of an array in lines of at most 100 columns.
fn lines(rows: &[String]) -> String {
    const WIDTH: usize = 100;
    let mut lines = String::new();
    let mut width = 0;
    for row in rows {
        if width == 0 || width + 1 + row.len() + 1 > WIDTH {
            lines.push_str(if width == 0 { "    " } else { "\n    " });
            width = 4;
        } else {
            lines.push(' ');
            width += 1;
        }
        lines.push_str(row);
        lines.push(',');
        width += row.len() + 1;
    }
    lines.push('\n');
    lines
}

/// Returns the first and last character of each run of equal values. Surrogates do not split a run.
fn runs<T: PartialEq>(value: impl Fn(char) -> Option<T>) -> Vec<(u32, u32, T)> {
    let mut runs: Vec<(u32, u32, T)> = Vec::new();
    let mut before = None;
    for c in '\0'..=char::MAX {
        let this = value(c);
        match (runs.last_mut(), this) {
            (Some((_, last, value)), Some(this)) if before == Some(*last) && *value == this => {
                *last = c.into();
            }
            (_, Some(this)) => runs.push((c.into(), c.into(), this)),
            _ => (),
        }
        before = Some(c.into());
    }
    runs
}

/// Returns the first character of each run, which also ends the previous run.
fn starts(value: impl Fn(char) -> &'static str) -> Vec<(u32, &'static str)> {
    runs(|c| Some(value(c))).into_iter().map(|(first, _, value)| (first, value)).collect()
}

fn ranges(is: impl Fn(char) -> bool) -> Vec<String> {
    let runs = runs(|c| is(c).then_some(()));
    runs.iter().map(|(first, last, ())| format!("({first:#x}, {last:#x})")).collect()
}

/// Returns the general category of a character, as far as the library distinguishes categories.
fn category(c: char) -> &'static str {
    match (c.general_category_group(), c.general_category()) {
        (_, GeneralCategory::Unassigned) => "Cn",
        (GeneralCategoryGroup::Letter, _) => "L",
        (GeneralCategoryGroup::Mark, _) => "M",
        (_, GeneralCategory::LetterNumber) => "Nl",
        (GeneralCategoryGroup::Number, _) => "N",
        (_, GeneralCategory::ConnectorPunctuation) => "Pc",
        _ => "Other",
    }
}

/// Returns the characters unchanged by NFKC that are, or begin with, the second part of a
/// composition. Decomposing the characters that stay composed finds the compositions. Omits
/// compositions with a character unknown to [`category`], because texts are split at such
/// characters.
fn seconds() -> BTreeSet<char> {
    let assigned: Vec<char> = ('\0'..=char::MAX).filter(|&c| category(c) != "Cn").collect();
    let is_composed = |c: char| {
        c.nfd().nth(1).is_some() && c.nfc().eq([c]) && c.nfd().all(|part| category(part) != "Cn")
    };
    let composed = assigned.iter().filter(|&&c| is_composed(c));
    let seconds: BTreeSet<char> = composed.filter_map(|c| c.nfd().last()).collect();
    let is_second =
        |c: char| c.nfkc().eq([c]) && c.nfd().next().is_some_and(|c| seconds.contains(&c));
    assigned.into_iter().filter(|&c| is_second(c)).collect()
}

/// Returns all foldings in runs, and the foldings to several characters.
fn folds() -> (Vec<String>, Vec<String>) {
    let (mut all, mut full) = (Vec::new(), Vec::new());
    for c in '\0'..=char::MAX {
        let folded: Vec<char> = [c].into_iter().default_case_fold().collect();
        match folded[..] {
            [only] if only == c => (),
            [only] => all.push((u32::from(c), i64::from(u32::from(only)) - i64::from(c as u32))),
            _ => {
                all.push((c.into(), 0));
                let part = |i: usize| folded.get(i).map_or(0, |&part| u32::from(part));
                let parts: Vec<String> =
                    (0..3).map(|i| format!("'\\u{{{:x}}}'", part(i))).collect();
                full.push(format!("('\\u{{{:x}}}', [{}])", u32::from(c), parts.join(", ")));
            }
        }
    }
    let row = |(first, last, step, by): &(u32, u32, u32, i64)| {
        format!("({first:#x}, {last:#x}, {step}, {by})")
    };
    (stepped(all.into_iter()).iter().map(row).collect(), full)
}

/// Returns the ranges of every or every second character with equal values, as first and last
/// character, step and value.
fn stepped(characters: impl Iterator<Item = (u32, i64)>) -> Vec<(u32, u32, u32, i64)> {
    let mut runs: Vec<(u32, u32, u32, i64)> = Vec::new();
    for (c, value) in characters {
        match runs.last_mut() {
            // The second character of a run decides its step, because pairs of cases alternate.
            Some((first, last, step, of_run))
                if *of_run == value && *first == *last && c - *last <= 2 =>
            {
                (*step, *last) = (c - *last, c);
            }
            Some((_, last, step, of_run)) if *of_run == value && c - *last == *step => *last = c,
            _ => runs.push((c, c, 1, value)),
        }
    }
    runs
}

/// Returns whether a script of `c` is in [`UNSPACED`]. The Script_Extensions are used because the
/// prolonged sound mark U+30FC belongs to two scripts.
fn is_unspaced(c: char) -> bool {
    let scripts = c.script_extension();
    !scripts.is_common()
        && !scripts.is_inherited()
        && UNSPACED.iter().any(|&script| scripts.contains_script(script))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_library_has_the_tables_of_the_pinned_crates() {
        let path =
            concat!(env!("CARGO_MANIFEST_DIR"), "/../crates/cento-text/src/text/unicode/tables.rs");
        let kept = fs::read_to_string(path).unwrap();
        // `assert_eq` would print both tables.
        assert!(kept == tables(), "run `cargo run -p cento-tools -- unicode`");
    }
}
