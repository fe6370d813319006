//! Which runs of words does a text have?
//!
//! A run is k tokens in a row; what two texts have in common by definition is what their sets of runs
//! have in common. A run is known by a hash of 64 bits that rolls along the text.

use crate::scheme::run_values;

/// Replaces the contents of `out` with the hashes of all runs of `k` tokens, one for each place, in
/// order. A text with fewer than `k` tokens is one run of all of them; an empty one has none.
///
/// Equal runs have equal hashes. Different ones have different hashes but for one pair in 2^64, whatever
/// their lengths.
pub(crate) fn run_hashes(tokens: &[u64], k: usize, out: &mut Vec<u64>) {
    out.clear();
    out.reserve_exact((tokens.len() + 1).saturating_sub(k).max(1));
    out.extend(run_values(tokens, k));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::hash_bytes;
    use proptest::prelude::*;

    fn hashes(tokens: &[u64], k: usize) -> Vec<u64> {
        let mut out = vec![7];
        run_hashes(tokens, k, &mut out);
        out
    }

    fn tokens(text: &[u8]) -> Vec<u64> {
        text.iter().map(|word| hash_bytes(&[*word])).collect()
    }

    proptest! {
        #[test]
        fn runs_are_equal_where_their_tokens_are(
            text in proptest::collection::vec(0u8..3, 1..40),
            k in 1usize..9,
        ) {
            let tokens = tokens(&text);
            let found = hashes(&tokens, k);
            let k = k.min(text.len());
            let runs: Vec<&[u8]> = text.windows(k).collect();
            prop_assert_eq!(found.len(), runs.len());
            for (a, at_a) in found.iter().zip(&runs) {
                for (b, at_b) in found.iter().zip(&runs) {
                    prop_assert_eq!(a == b, at_a == at_b);
                }
            }
        }
    }

    #[test]
    fn a_text_shorter_than_a_run_is_one_run_of_its_own() {
        let text = tokens(b"abc");
        assert_eq!(hashes(&text, 5).len(), 1);
        assert_eq!(hashes(&text, 5), hashes(&text, 9));
        assert_ne!(hashes(&text, 5), hashes(&tokens(b"abcd"), 5));
        assert_ne!(hashes(&text, 5), hashes(&tokens(b"abd"), 5));
        assert!(hashes(&[], 5).is_empty());
    }
}
