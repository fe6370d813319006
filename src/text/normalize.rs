//! What do these characters become, and where do they come from?
//!
//! NFKC, full case folding, and NFKC again because folding can undo it. The text is normalised in
//! *groups*: the shortest pieces that no normalisation joins with their neighbours. So the result
//! is that of the whole text, and every character of it knows the bytes that it was made from.

use caseless::Caseless;
use unicode_normalization::char::{canonical_combining_class, decompose_compatible};
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

use super::Span;

/// What is done to characters before they are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Normalization {
    /// Compatibility composition: NFKC.
    pub nfkc: bool,
    /// Full case folding.
    pub fold: bool,
}

impl Normalization {
    /// Calls `emit` with each character of the normal form of `piece` and the bytes it was made
    /// from; `piece` begins at byte `start` of its text.
    pub fn run(self, piece: &str, start: usize, mut emit: impl FnMut(char, Span)) {
        for (at, group) in groups(piece) {
            let from = start + at;
            let span = Span { start: from as u32, end: (from + group.len()) as u32 };
            match (self.nfkc, self.fold) {
                (false, false) => group.chars().for_each(|c| emit(c, span)),
                (false, true) => group.chars().default_case_fold().for_each(|c| emit(c, span)),
                (true, false) => group.nfkc().for_each(|c| emit(c, span)),
                (true, true) => {
                    group.nfkc().default_case_fold().nfkc().for_each(|c| emit(c, span));
                }
            }
        }
    }
}

/// The groups of `piece` and where they begin.
fn groups(piece: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut rest = piece;
    std::iter::from_fn(move || {
        let mut chars = rest.char_indices();
        chars.next()?;
        let end = chars.find(|&(_, c)| begins_group(c)).map_or(rest.len(), |(at, _)| at);
        let at = piece.len() - rest.len();
        let (group, tail) = rest.split_at(end);
        rest = tail;
        Some((at, group))
    })
}

/// Whether normalisation never joins `c` with what stands before it.
fn begins_group(c: char) -> bool {
    // Below U+0300 nothing combines; nor do the Han ideographs, which are many.
    if c < '\u{300}' || ('\u{3400}'..='\u{9fff}').contains(&c) {
        return true;
    }
    let mut first = None;
    decompose_compatible(c, |part| {
        first.get_or_insert(part);
    });
    let first = first.unwrap_or(c);
    canonical_combining_class(first) == 0
        && is_nfc_quick(std::iter::once(first)) == IsNormalized::Yes
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const BOTH: Normalization = Normalization { nfkc: true, fold: true };

    fn normalized(normalization: Normalization, text: &str) -> String {
        let mut out = String::new();
        normalization.run(text, 0, |c, _| out.push(c));
        out
    }

    /// Characters that combine, decompose or fold in every way there is.
    fn tricky() -> impl Strategy<Value = String> {
        let special = "aeiAEI<=>09 _.\u{300}\u{301}\u{323}\u{327}\u{338}\u{345}\u{130}\u{131}\u{df}\
            \u{1e9e}\u{fb01}\u{fdfa}\u{ad}\u{200d}\u{200b}\u{feff}\u{ff76}\u{ff9e}\u{ff21}\u{ac00}\
            \u{1100}\u{1161}\u{11a8}\u{ffa1}\u{ffc2}\u{3099}\u{304b}\u{9be}\u{9c7}\u{212b}\u{2126}\
            \u{1f80}\u{3b9}\u{3c2}\u{3a3}\u{4e00}\u{f900}\u{e01}\u{e33}\u{627}\u{653}\u{bd}\u{1d15e}\
            \u{1f600}\u{a0}\u{2024}\u{b5}\u{13a0}\u{ab70}";
        let special: Vec<char> = special.chars().collect();
        let one = prop_oneof![9 => proptest::sample::select(special), 1 => any::<char>()];
        proptest::collection::vec(one, 0..24).prop_map(|chars| chars.into_iter().collect())
    }

    proptest! {
        #[test]
        fn groups_give_what_the_whole_text_gives(text in tricky()) {
            let nfkc: String = text.nfkc().collect();
            let folded: String = nfkc.chars().default_case_fold().nfkc().collect();
            prop_assert_eq!(normalized(BOTH, &text), folded);
            prop_assert_eq!(normalized(Normalization { nfkc: true, fold: false }, &text), nfkc);
            prop_assert_eq!(normalized(Normalization { nfkc: false, fold: false }, &text), text);
        }

        #[test]
        fn normalising_twice_changes_nothing(text in tricky()) {
            let once = normalized(BOTH, &text);
            prop_assert_eq!(normalized(BOTH, &once), once);
        }

        #[test]
        fn spans_cover_the_text_in_order(text in tricky()) {
            let mut last = Span { start: 0, end: 0 };
            BOTH.run(&text, 0, |_, span| {
                assert!(span == last || span.start == last.end, "{span:?} after {last:?}");
                last = span;
            });
        }
    }
}
