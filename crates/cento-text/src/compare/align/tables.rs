//! Removes tables with different values from tiles. A table is a list of numbers or strings.
//!
//! Programs are compared without the values of literals, so any two tables look equal. A table
//! stays in a passage only if most of its values are the same in both programs.

use std::ops::Range;

use super::chain::Match;
use super::{Side, TILE_TOKENS_MIN};

/// Minimum literals of a table, with separators between. Fewer literals are arguments or a short
/// list.
const LITERALS_MIN: usize = 16;

/// Returns the pieces of a tile without the tables whose values differ.
pub fn without_other_tables(tile: Match, query: Side<'_>, document: Side<'_>) -> Vec<Match> {
    let Match { query: start, hit, len } = tile;
    let kinds: Vec<TokenClass> =
        (0..len).map(|at| TokenClass::of(query.written(start + at))).collect();
    let mut pieces = Vec::new();
    let mut from = 0;
    let mut add = |piece: Range<usize>| {
        if piece.len() >= TILE_TOKENS_MIN {
            let (query, hit) = (start + piece.start, hit + piece.start);
            pieces.push(Match { query, hit, len: piece.len() });
        }
    };
    let mut at = 0;
    for kinds in kinds.chunk_by(|a, b| (*a == TokenClass::Other) == (*b == TokenClass::Other)) {
        let stretch = at..at + kinds.len();
        at = stretch.end;
        let literals = || {
            stretch
                .clone()
                .zip(kinds)
                .filter(|(_, kind)| **kind == TokenClass::Literal)
                .map(|(at, _)| at)
        };
        let is_same = |&at: &usize| query.written(start + at) == document.written(hit + at);
        let count = literals().count();
        if count >= LITERALS_MIN && literals().filter(is_same).count() * 2 < count {
            add(from..stretch.start);
            from = stretch.end;
        }
    }
    add(from..len);
    pieces
}

/// The role of a token in a table.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TokenClass {
    /// A number or a text in quotes.
    Literal,
    /// A sign between two literals, such as a comma.
    Separator,
    /// A token that ends a table.
    Other,
}

impl TokenClass {
    fn of(written: &str) -> TokenClass {
        match written.chars().next() {
            Some('"' | '\'' | '`') => TokenClass::Literal,
            Some(first) if first.is_ascii_digit() => TokenClass::Literal,
            Some(',' | '{' | '}' | '[' | ']' | '(' | ')' | '-' | '+') => TokenClass::Separator,
            _ => TokenClass::Other,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use super::super::{AlignedPassage, Genre, align};
    use crate::hash::mix64;
    use crate::runtime::Stop;
    use crate::text::{AnalyzedText, Analyzer};

    /// A program with a table of these numbers.
    fn program(name: &str, numbers: &[u64], more: &str) -> AnalyzedText {
        let mut text = format!("class {name} {{\n  static int[] table = {{\n");
        numbers.chunks(10).for_each(|row| {
            row.iter().for_each(|number| write!(text, "{number}, ").unwrap());
            text.push('\n');
        });
        text.push_str("  };\n");
        text.push_str(more);
        text.push_str("}\n");
        let analyzer = "code(language=java)".parse::<Analyzer>().unwrap();
        AnalyzedText::new(text, &analyzer, Stop::NEVER).unwrap()
    }

    fn numbers(seed: u64) -> Vec<u64> {
        (0..300).map(|at| mix64(seed << 32 | at) % 10_000).collect()
    }

    fn found(a: &AnalyzedText, b: &AnalyzedText) -> Vec<AlignedPassage> {
        align(a.side(), b.side(), Genre::Program, Stop::NEVER).unwrap().passages
    }

    #[test]
    fn tables_of_other_numbers_are_no_passage() {
        let (a, b) = (program("Primes", &numbers(1), ""), program("Rain", &numbers(2), ""));
        // The nine tokens before the table are the same.
        let [head] = &found(&a, &b)[..] else { panic!() };
        assert_eq!(head.query, 0..9);
        // Most of the values are the same: the table was copied.
        let mut copied = numbers(1);
        copied.iter_mut().step_by(3).for_each(|number| *number += 1);
        let [one] = &found(&a, &program("Rain", &copied, ""))[..] else { panic!() };
        assert!(one.query.len() > 600, "{one:?}");
    }

    #[test]
    fn code_around_tables_of_other_numbers_is_a_passage() {
        let more = "int sum(int n) { int all = 0; for (int i = 0; i < n; i++) { all += table[i]; } \
                    return all; }\n";
        let (a, b) = (program("Primes", &numbers(1), more), program("Rain", &numbers(2), more));
        let found = found(&a, &b);
        let text = |passage: &AlignedPassage| {
            let spans = &a.tokens.spans[passage.query.clone()];
            a.text[spans[0].start as usize..spans[spans.len() - 1].end as usize].to_owned()
        };
        let [_, one] = &found[..] else { panic!("{found:?}") };
        assert!(text(one).contains("return all") && !text(one).contains(", "), "{}", text(one));
    }
}
