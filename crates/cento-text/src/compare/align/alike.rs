//! Finds pairs of similar sentences in two texts.
//!
//! Two sentences are alike if the cosine of their weighted words and the Dice coefficient of their
//! word sets are high enough. Method and thresholds come from Sanchez-Perez, Sidorov and Gelbukh,
//! "A winning approach to text alignment for text reuse detection at PAN 2014", section 2.2. cento
//! leaves out stemming, which would require knowing the language.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::ops::Range;

use super::copied::runs_bytes;
use super::groups::Seed;
use super::sentences::Sentences;
use super::summarized::FirstLook;
use super::sums::Sums;
use super::vocabulary::{KnownWords, OtherText, Places, Vocabulary, many_sentences};
use crate::error::Result;
use crate::hash::{BuildKeyHasher, mix64};
use crate::runtime::{Steps, Stop};

/// Minimum cosine of two sentences that form a seed, and of the two sides of a passage.
pub const COSINE_MIN: f64 = 0.3;
/// Two sentences form a seed only if the Dice coefficient of their word sets exceeds this number of
/// hundredths.
const DICE_MIN_HUNDREDTHS: usize = 33;

/// Maximum number of pairs for the shortest query, which take some megabytes.
const SEEDS_MAX: usize = 1 << 14;
/// Maximum memory of a pair, in bytes: the pair, links to the neighbors in both orders, and a
/// group.
const SEED_BYTES: usize = 200;

/// Returns the maximum number of pairs if the shorter text has this many tokens. The pairs may take
/// the memory of the text's runs, which are no longer needed. Two volumes of RFCs of 8 MB, 1.2
/// million tokens each, have 71,000 pairs and may have 300,000.
pub fn seeds_max(tokens: usize) -> usize {
    (runs_bytes(tokens) / SEED_BYTES).max(SEEDS_MAX)
}

/// All seeds of a query and a document, and the best match of each sentence.
pub struct Seeds {
    /// Every seed, in the order of the query.
    pub all: Vec<Seed>,
    /// For each sentence of the query, and of the document: the most similar sentence in the
    /// opposite text (the first of equals) and the cosine of the two.
    pub best: [Vec<Option<(u32, f64)>>; 2],
}

/// Returns whether an `open` sentence may be like an open sentence of the other text. If not,
/// [`seeds`] finds nothing, and `look` has seen the whole text. The check needs no weights, and
/// saves time because many candidates of a search contain a copy and nothing else.
///
/// # Errors
/// [`Error::Cancelled`](crate::Error::Cancelled) when it is stopped.
pub fn may_be(
    words: &KnownWords,
    other: &OtherText<'_>,
    [open, open_in_other]: [&[bool]; 2],
    look: &mut FirstLook,
    stop: &Stop,
) -> Result<bool> {
    let known = &words.sentences;
    let open: Vec<usize> = (0..known.count()).filter(|&at| open[at]).collect();
    if open.len() > u64::BITS as usize {
        return Ok(true);
    }
    // For each word, a bit for every open sentence with the word.
    let mut in_open = vec![0u64; words.count()];
    for (bit, &at) in open.iter().enumerate() {
        known.words(at).iter().for_each(|word| in_open[word.number as usize] |= 1 << bit);
    }
    // The last sentence seen with each word. Unknown words share places, so some words are not
    // counted, and a sentence only seems more alike.
    let mut last_of_known = vec![u32::MAX; words.count()];
    let mut last_of_others = vec![u32::MAX; look.of_others.len()];
    for (sentence, range) in (0u32..).zip(&other.ranges) {
        stop.check_at(sentence as usize)?;
        let mut common = [0u32; u64::BITS as usize];
        let mut distinct = 0;
        for at in range.clone() {
            let number = other.number(at);
            let (last, count) = match number {
                Some(number) => {
                    let number = number as usize;
                    (&mut last_of_known[number], &mut look.of_known[number])
                }
                None => {
                    let place = look.place(other.tokens[at]);
                    (&mut last_of_others[place], &mut look.of_others[place])
                }
            };
            if std::mem::replace(last, sentence) == sentence {
                continue;
            }
            *count += 1;
            distinct += 1;
            let mut bits = number.map_or(0, |number| in_open[number as usize]);
            while bits != 0 {
                common[bits.trailing_zeros() as usize] += 1;
                bits &= bits - 1;
            }
        }
        let is_alike = |(&at, common): (&usize, u32)| {
            have_in_common(common as usize, known.words(at).len() + distinct)
        };
        if open_in_other[sentence as usize] && open.iter().zip(common).any(is_alike) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns whether two sets exceed the minimum Dice coefficient. `words` is the sum of the two
/// sizes.
#[inline]
fn have_in_common(common: usize, words: usize) -> bool {
    200 * common > DICE_MIN_HUNDREDTHS * words
}

/// Returns the pairs of alike sentences among the `open` sentences of the query and the document.
/// The search ends when the steps are used up, or after the sentence that reaches `seeds_max`.
///
/// # Errors
/// [`Error::Cancelled`](crate::Error::Cancelled) when it is stopped.
pub fn seeds(
    texts: &Vocabulary<'_>,
    [open, open_in_hit]: [&[bool]; 2],
    seeds_max: usize,
    steps: &mut Steps<'_>,
) -> Result<Seeds> {
    let (q, d, stop) = (texts.q(), texts.d(), steps.stop());
    let places = texts.places_in(d, stop)?;
    // Frequent words say little, so they bring up no pair.
    let many = many_sentences(d.count());
    // Computed on first use, because few sentences are ever weighed.
    let mut norms = vec![None; d.count()];
    let frequent = Frequent::new(d, &places, many, stop)?;
    let mut seeds = Seeds { all: Vec::new(), best: [vec![None; q.count()], vec![None; d.count()]] };
    let mut counted = CandidateSentences::new(d.count());
    let mut own = Sums::new(texts.count());
    for at in (0..q.count()).filter(|&at| open[at]) {
        if seeds.all.len() >= seeds_max {
            steps.cut();
            break;
        }
        let words = q.words(at);
        let mut brought = 0;
        let mut kept = FrequentWords::default();
        for word in words {
            let sentences = places.of(word.number);
            if sentences.len() > many {
                kept.add(frequent.place(word.number));
                continue;
            }
            brought += sentences.len();
            counted.add(sentences);
        }
        // At most sixty words, each in at most sixty sentences.
        if !steps.take((words.len() + 2 * brought) as u64)? {
            break;
        }
        // Most sentences share only a word or two, and the counts alone show that they are not
        // alike.
        let may_be_alike = counted.drain(|other, count| {
            let together = words.len() + d.words(other as usize).len();
            let common_max = count as usize + kept.common_max(&frequent.kept[other as usize]);
            open_in_hit[other as usize] && have_in_common(common_max, together)
        });
        // Weighed on first use, because many sentences resemble no sentence.
        let mut norm = None;
        for &other in may_be_alike {
            let others = d.words(other as usize);
            let together = words.len() + others.len();
            if !steps.take(together as u64)? {
                return Ok(seeds);
            }
            let norm = *norm.get_or_insert_with(|| {
                own.set(texts.weighed(words));
                texts.norm(words)
            });
            let (mut product, mut common) = (0.0, 0);
            for word in others {
                let weight = own.weight(word.number);
                product += texts.weight(word) * weight;
                common += usize::from(weight > 0.0);
            }
            let norms = norm * *norms[other as usize].get_or_insert_with(|| texts.norm(others));
            if product > COSINE_MIN * norms && have_in_common(common, together) {
                seeds.push((at as u32, other), product / norms);
            }
        }
    }
    Ok(seeds)
}

/// Counts, for each sentence of a document, how many words of a query sentence it has.
struct CandidateSentences {
    /// Words counted so far, by sentence of the document.
    counts: Vec<u32>,
    /// Sentences with a count, in the first `len` places. The vector always has room for every
    /// sentence.
    sentences: Vec<u32>,
    len: usize,
}

impl CandidateSentences {
    /// Makes room for this many sentences, with counts of 0.
    fn new(sentences: usize) -> CandidateSentences {
        // One place more than sentences, because `add` writes the place after the last sentence
        // too.
        CandidateSentences { counts: vec![0; sentences], sentences: vec![0; sentences + 1], len: 0 }
    }

    /// Counts a word with occurrences in these sentences.
    #[inline]
    fn add(&mut self, sentences: &[u32]) {
        for &sentence in sentences {
            let count = &mut self.counts[sentence as usize];
            // The write has no branch, because a branch would be unpredictable. The next write
            // overwrites a sentence that is not new.
            self.sentences[self.len] = sentence;
            self.len += usize::from(*count == 0);
            *count += 1;
        }
    }

    /// Clears the counts and returns the sentences that satisfy `is_wanted(sentence, count)`,
    /// ascending.
    fn drain(&mut self, is_wanted: impl Fn(u32, u32) -> bool) -> &[u32] {
        let mut wanted = 0;
        for at in 0..std::mem::take(&mut self.len) {
            let sentence = self.sentences[at];
            let count = std::mem::take(&mut self.counts[sentence as usize]);
            self.sentences[wanted] = sentence;
            wanted += usize::from(is_wanted(sentence, count));
        }
        self.sentences[..wanted].sort_unstable();
        &self.sentences[..wanted]
    }
}

/// The frequent words of a sentence, packed so that counting the common words of two sentences is
/// fast.
#[derive(Clone, Copy, Default)]
struct FrequentWords {
    /// A bit for each of the 64 most frequent words.
    bits: u64,
    /// Number of frequent words beyond the first 64.
    others: u32,
}

impl FrequentWords {
    fn add(&mut self, place: u32) {
        match place {
            0..64 => self.bits |= 1 << place,
            _ => self.others += 1,
        }
    }

    /// Returns an upper bound for the number of common words. Beyond the first 64, every word
    /// counts as common.
    fn common_max(&self, other: &FrequentWords) -> usize {
        ((self.bits & other.bits).count_ones() + self.others.min(other.others)) as usize
    }
}

/// Words too frequent in a document to bring up a sentence.
struct Frequent {
    /// Rank by hashed word number, the most frequent word first.
    places: HashMap<u64, u32, BuildKeyHasher>,
    /// The frequent words of each sentence of the document.
    kept: Vec<FrequentWords>,
}

impl Frequent {
    /// Collects the words that occur in more than `many` sentences.
    fn new(d: &Sentences, words: &Places, many: usize, stop: &Stop) -> Result<Frequent> {
        let mut frequent: Vec<(Reverse<usize>, u32)> = Vec::new();
        for number in 0..words.count() {
            stop.check_at(number as usize)?;
            let sentences = words.of(number).len();
            if sentences > many {
                frequent.push((Reverse(sentences), number));
            }
        }
        frequent.sort_unstable();
        let mut kept = vec![FrequentWords::default(); d.count()];
        let mut places = HashMap::default();
        for (place, &(_, number)) in (0u32..).zip(&frequent) {
            stop.check()?;
            places.insert(mix64(u64::from(number)), place);
            words.of(number).iter().for_each(|&sentence| kept[sentence as usize].add(place));
        }
        Ok(Frequent { places, kept })
    }

    fn place(&self, number: u32) -> u32 {
        self.places[&mix64(u64::from(number))]
    }
}

impl Seeds {
    fn push(&mut self, seed: Seed, cosine: f64) {
        self.all.push(seed);
        let [of_query, of_document] = &mut self.best;
        let sides =
            [(&mut of_query[seed.0 as usize], seed.1), (&mut of_document[seed.1 as usize], seed.0)];
        for (best, other) in sides {
            if best.is_none_or(|(_, most)| cosine > most) {
                *best = Some((other, cosine));
            }
        }
    }
}

/// Returns the range of sentences from the first seed to the last, in the query and in the
/// document.
pub fn extent(seeds: &[Seed]) -> (Range<usize>, Range<usize>) {
    let range = |of: fn(&Seed) -> u32| {
        let first = seeds.iter().map(of).min().unwrap_or(0);
        first as usize..seeds.iter().map(of).max().unwrap_or(0) as usize + 1
    };
    (range(|seed| seed.0), range(|seed| seed.1))
}

#[cfg(test)]
mod tests {
    use super::super::sentences;
    use super::super::testing::analyzed;
    use super::*;
    use crate::text::AnalyzedText;

    /// Returns sentences of words. Six words of seven are drawn from many words. In a third of the
    /// texts, every fourth sentence is drawn from a few words only.
    fn text(seed: u64, sentences: u64) -> AnalyzedText {
        let word = |sentence: u64, i: u64| {
            let drawn = mix64(mix64(seed << 20 | sentence) ^ i);
            let is_like_others = seed.is_multiple_of(3) && sentence.is_multiple_of(4);
            let of = if i.is_multiple_of(7) || is_like_others { 9 } else { 4000 };
            format!("w{} ", drawn % of)
        };
        let sentence = |at: u64| {
            let words: String = (0..4 + mix64(seed ^ at) % 12).map(|i| word(at, i)).collect();
            words + "end. "
        };
        let text: String = (0..sentences).map(sentence).collect();
        analyzed(text)
    }

    #[test]
    fn where_no_sentences_may_be_alike_none_are() {
        let (mut outcomes, mut alike) = ([0; 2], 0);
        for seed in 0..300 {
            let (a, b) = (text(seed, 1 + seed % 5), text(999 + seed, 1 + seed % 17));
            let [q, d] = [&a, &b].map(|text| sentences::ranges(text.side(), Stop::NEVER).unwrap());
            let open: Vec<bool> = (0..q.len()).map(|at| at % 3 != 1).collect();
            let open_in_other: Vec<bool> = (0..d.len()).map(|at| at % 5 != 2).collect();
            let words = KnownWords::new(q, &a.tokens.hashes, Stop::NEVER).unwrap();
            let other = OtherText::new(&words, d, &b.tokens.hashes, Stop::NEVER).unwrap();
            let (open, look) = ([&open[..], &open_in_other], &mut FirstLook::new(words.count()));
            let may_be = may_be(&words, &other, open, look, Stop::NEVER).unwrap();
            let is_turned = seed % 2 == 1;
            let texts = Vocabulary::new(&words, other, is_turned, Stop::NEVER).unwrap();
            let open = if is_turned { [open[1], open[0]] } else { open };
            let steps = &mut Steps::unbounded(Stop::NEVER);
            let found = seeds(&texts, open, usize::MAX, steps).unwrap().all;
            assert!(may_be || found.is_empty(), "{seed}: {found:?}");
            outcomes[usize::from(may_be)] += 1;
            alike += usize::from(!found.is_empty());
        }
        // `may_be` excludes many texts, and rarely keeps a text without seeds.
        assert!(outcomes[0] > 50 && alike > 50, "{outcomes:?} {alike}");
        assert!(outcomes[1] < 2 * alike, "{outcomes:?} {alike}");
    }

    #[test]
    fn a_word_that_a_sentence_repeats_counts_once() {
        // If repetitions counted, the first and the second text would share four words.
        let a = "alpha b1 b2 b3 b4 b5 b6 b7 b8. Alpha c1 c2 c3.";
        for (b, expected) in [
            ("alpha alpha alpha alpha d1 d2 d3 d4 d5 d6 d7 d8.", false),
            ("alpha b1 alpha b1 d1 d2 d3 d4 d5 d6.", false),
            ("alpha b1 alpha b2 d1 d2 d3 d4 d5 d6.", true),
        ] {
            let [a, b] = [a, b].map(analyzed);
            let [q, d] = [&a, &b].map(|text| sentences::ranges(text.side(), Stop::NEVER).unwrap());
            let words = KnownWords::new(q, &a.tokens.hashes, Stop::NEVER).unwrap();
            let other = OtherText::new(&words, d, &b.tokens.hashes, Stop::NEVER).unwrap();
            let (open, look) = ([&[true, false][..], &[true]], &mut FirstLook::new(words.count()));
            assert_eq!(may_be(&words, &other, open, look, Stop::NEVER).unwrap(), expected);
        }
    }

    #[test]
    fn a_query_of_more_sentences_than_bits_may_always_be_alike() {
        let (a, b) = (text(1, 90), text(2, 1));
        let [q, d] = [&a, &b].map(|text| sentences::ranges(text.side(), Stop::NEVER).unwrap());
        let count = q.len();
        let words = KnownWords::new(q, &a.tokens.hashes, Stop::NEVER).unwrap();
        let other = OtherText::new(&words, d, &b.tokens.hashes, Stop::NEVER).unwrap();
        let ask = |open: &[bool]| {
            let look = &mut FirstLook::new(words.count());
            may_be(&words, &other, [open, &[true]], look, Stop::NEVER).unwrap()
        };
        assert!(ask(&vec![true; count]));
        assert!(!ask(&vec![false; count]));
    }

    #[test]
    fn words_are_counted_in_the_sentences_that_they_bring_up() {
        let mut counted = CandidateSentences::new(300);
        for words in [&[&[0, 64, 299][..], &[64, 299], &[63, 64]][..], &[], &[&[128], &[128]]] {
            for least in 0..4 {
                words.iter().for_each(|sentences| counted.add(sentences));
                let count =
                    |sentence: &u32| words.concat().iter().filter(|s| *s == sentence).count();
                let expected: Vec<u32> = (0..300).filter(|s| count(s) >= least.max(1)).collect();
                let found = counted.drain(|sentence, found| {
                    assert_eq!(found as usize, count(&sentence));
                    found as usize >= least
                });
                assert_eq!(found, expected);
            }
        }
    }
}
