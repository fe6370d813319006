//! Checks passages between different pages: do the texts really share them?
//!
//! Forms share lines with other forms, so the corrected texts decide about a passage with a
//! different page. The passage is right if at least half of its letters are in runs of [`RUN`]
//! letters that the other page has too. Wrong passages are shown, for a reader to judge.

use std::collections::{BTreeMap, HashSet};

use cento::search::{Query, Searcher};

use super::{Page, Setting};
use crate::Result;

/// Length of a shared run, in letters: two words. Half of a passage in such runs of a single page
/// is never chance.
const RUN: usize = 8;

/// Maximum number of wrong passages to show.
const SHOWN: usize = 5;

/// Maximum characters to show of a wrong passage.
const SHOWN_CHARS: usize = 300;

/// Prints the passages of hits other than the copy, by language.
pub(super) fn print(raw: &Searcher, setting: &Setting, pages: &[Page]) -> Result {
    // Hits, right passages, wrong passages.
    let mut counts: BTreeMap<&str, [u64; 3]> = BTreeMap::new();
    let mut wrong = Vec::new();
    for page in pages {
        let query = Query::text(page.corrected.text.clone()).passages(true).rank(setting.rank);
        for hit in raw.search(&query)?.hits {
            let other = pages.iter().find(|page| page.raw.id == hit.id);
            let other = other.ok_or_else(|| format!("no page {}", hit.id))?;
            if other.raw.id == page.raw.id {
                continue;
            }
            let [hits, right, others] = counts.entry(&page.language).or_default();
            *hits += 1;
            let mut runs = None;
            for passage in hit.passages.iter().flatten() {
                let runs = runs.get_or_insert_with(|| {
                    letters(&other.corrected.text).windows(RUN).map(<[char]>::to_vec).collect()
                });
                let (start, end) = passage.a;
                let text = &page.corrected.text[start as usize..end as usize];
                match is_in_common(text, runs) {
                    true => *right += 1,
                    false => {
                        *others += 1;
                        let (start, end) = passage.b;
                        let copy = &other.raw.text[start as usize..end as usize];
                        wrong.push(format!("{} {}: {text:?} {copy:?}", page.corrected.id, hit.id));
                    }
                }
            }
        }
    }
    for (language, [hits, right, others]) in counts {
        println!(
            "{}, {language}: {hits} hits of other pages have {right} passages of text in common \
             and {others} others",
            setting.name
        );
    }
    for shown in wrong.iter().take(SHOWN) {
        println!("    {}", shown.chars().take(SHOWN_CHARS).collect::<String>());
    }
    Ok(())
}

fn letters(text: &str) -> Vec<char> {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Returns whether half of the letters of `text` are in runs of the set.
fn is_in_common(text: &str, runs: &HashSet<Vec<char>>) -> bool {
    let letters = letters(text);
    let mut common = vec![false; letters.len()];
    for (at, run) in letters.windows(RUN).enumerate() {
        if runs.contains(run) {
            common[at..at + RUN].fill(true);
        }
    }
    2 * common.iter().filter(|&&is_common| is_common).count() >= letters.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_passage_is_judged_by_the_letters_in_common() {
        let other = letters("Total: 8 articles, Merci de votre visite a bientot");
        let runs = other.windows(RUN).map(<[char]>::to_vec).collect();
        assert!(is_in_common("merci de VOTRE visite, a bien-tot 44", &runs));
        assert!(!is_in_common("merci de vos visites, a demain dans cette rue", &runs));
        assert!(!is_in_common("a bientot 17000 LA ROCHELLE, 33 rue", &runs));
    }
}
