//! Rates passages: what a passage says in this collection, and which passages are due to chance.
//!
//! The statistics come from a [`Sample`] of the documents. They are computed when passages are
//! first requested, and kept with the snapshot.

use std::cell::OnceCell;
use std::collections::HashSet;
use std::ops::Range;
use std::slice;

use super::sample::Sample;
use crate::compare::background::{Background, Repeats, TEXTS_MIN};
use crate::compare::chance::{ChanceLaws, Scored, space};
use crate::compare::common_runs::{Sums, equal_runs};
use crate::compare::passages::{PASSAGE_TOKENS_MIN, Passages, Rating, tokens_in};
use crate::compare::variants::variants;
use crate::compare::{Passage, TextPair};
use crate::error::Result;
use crate::hash::{Digest, mix64};
use crate::index::{DocAddress, Snapshot};
use crate::runtime::Stop;
use crate::text::Tokens;
use crate::text::ranges::joined;

/// The statistics of a collection for rating passages.
#[derive(Debug)]
pub struct Chance {
    model: Background,
    laws: ChanceLaws,
    /// The digests of the texts in the model.
    counted: HashSet<Digest>,
    /// Hashes of the beginnings of these texts, to recognize the text of a query.
    beginnings: HashSet<u64>,
    /// The number of documents that a query is compared with.
    documents: u64,
}

impl Chance {
    /// Samples the documents of a snapshot, or of two snapshots whose documents are compared with
    /// each other. The number of documents comes from the last snapshot. `None` without texts.
    ///
    /// # Errors
    /// When a file cannot be read. [`Error::Cancelled`](crate::Error::Cancelled) soon after `stop`.
    pub fn of(snapshots: &[&Snapshot], stop: &Stop) -> Result<Option<Chance>> {
        let documents = snapshots.last().map_or(0, |snapshot| snapshot.documents());
        Ok(Sample::of(snapshots, stop)?.map(|sample| Chance::new(sample, documents)))
    }

    /// Creates the statistics of a sample, for queries that meet this number of documents.
    #[must_use]
    pub(super) fn new(sample: Sample, documents: u64) -> Chance {
        let counted = sample.texts.iter().map(|text| text.digest).collect();
        let mut sampled: Vec<(u64, Vec<u64>)> =
            sample.texts.into_iter().map(|text| (text.hash, text.tokens)).collect();
        // Which copy of a text is counted depends on the order. Sort by hashes of the texts,
        // because digests depend on the key of the index and hashes do not.
        sampled.sort();
        let texts: Vec<Vec<u64>> = sampled.into_iter().map(|(_, text)| text).collect();
        let mut slices: Vec<&[u64]> = texts.iter().map(Vec::as_slice).collect();
        let is_variant = variants(&slices);
        // A sample with some similar texts is better than one with too few texts.
        if is_variant.iter().filter(|&&is| !is).count() as u64 >= TEXTS_MIN {
            let mut is_variant = is_variant.into_iter();
            slices.retain(|_| is_variant.next() != Some(true));
        }
        let model = Background::new(&slices);
        let laws = ChanceLaws::of_texts(&slices, &model);
        let beginnings = texts.iter().map(|text| beginning(text)).collect();
        Chance { model, laws, counted, beginnings, documents }
    }

    /// Returns whether a text that is not stored begins like a text of the sample.
    #[must_use]
    pub(super) fn has_counted_text(&self, text: &Tokens) -> bool {
        self.beginnings.contains(&beginning(&text.hashes))
    }

    /// Returns whether the text of a stored document is in the sample.
    ///
    /// # Errors
    /// When a file is damaged.
    pub(super) fn has_counted(&self, snapshot: &Snapshot, address: DocAddress) -> Result<bool> {
        let digest = snapshot.segment(address).signatures.digest(address.doc)?;
        Ok(self.counted.contains(&digest))
    }
}

/// The information of a query, computed on demand.
#[derive(Debug, Default)]
pub(super) struct QueryInformation {
    /// By the number (0 to 2) of the two compared texts that the model has counted.
    sums: [OnceCell<Sums>; 3],
    /// Where the query repeats itself.
    repeats: OnceCell<Repeats>,
    /// Whether text that most documents have carries no information.
    has_common_text: bool,
}

impl QueryInformation {
    /// For pairs of documents of a collection: text of most documents is not reuse between two. For
    /// a query it is, because the query asks where its text occurs.
    #[must_use]
    pub fn of_pairs() -> QueryInformation {
        QueryInformation { has_common_text: true, ..QueryInformation::default() }
    }

    /// Rates the passages that a document shares with the query. Keeps passages expected at most
    /// `expected_max` times by chance, and every passage of a query too short for more than one.
    /// `counted` is the number of the two texts that the model has counted.
    #[must_use]
    pub fn rated(
        &self,
        passages: Passages,
        chance: &Chance,
        expected_max: f64,
        TextPair { a: query, b: document }: TextPair<&Tokens>,
        counted: usize,
    ) -> Passages {
        if passages.found.is_empty() {
            return passages;
        }
        let make = || {
            let mut bits = chance.model.bits(&query.hashes, counted as u32);
            if self.has_common_text {
                let common = chance.model.common(&query.hashes);
                bits.iter_mut().zip(common).for_each(|(bits, common)| {
                    *bits = if common { 0.0 } else { *bits };
                });
            }
            Sums::new(&bits)
        };
        let sums = self.sums[counted].get_or_init(make);
        let repeats = self.repeats.get_or_init(|| Repeats::of(&query.hashes));
        let lens = (query.hashes.len(), document.hashes.len());
        let longer = lens.0.max(lens.1);
        let runs: Vec<Vec<Range<usize>>> =
            passages.found.iter().map(|passage| matched_runs(passage, query, document)).collect();
        // The text between the passages of a copy was changed.
        let all = without_overlaps(runs.iter().flatten().cloned().collect());
        let are_versions = 2 * all.iter().map(Range::len).sum::<usize>() > longer;
        let of_pair = are_versions.then(|| {
            let (score, _) = scores((&all, &runs), document.hashes.len(), sums, repeats);
            chance.laws.expected_of_pair(score, longer, chance.documents)
        });
        let mut each = runs.iter();
        passages.rated(|passage, place| {
            let passages = each.next().map_or(&[][..], slice::from_ref);
            let matched = passages.first().map_or(&[][..], Vec::as_slice);
            let hit = tokens_in(document, passage.b).len();
            let (score, best_run) = scores((matched, passages), hit, sums, repeats);
            let scored = Scored { score, best_run, runs: matched.len(), tokens: place.len(), lens };
            let mut expected = chance.laws.expected(&scored, chance.documents);
            // A passage with more information than its place has belongs to such a copy.
            if score > space(lens.0, lens.1) {
                expected = of_pair.map_or(expected, |of_pair| expected.min(of_pair));
            }
            // A query of a few words asks where they occur, whether by chance or not, and a reader
            // calls equal texts equal however common each part of them is.
            let are_equal = lens.0 == lens.1 && passage.similarity >= 1.0;
            let is_all = place.len() == lens.0 && (lens.0 < PASSAGE_TOKENS_MIN || are_equal);
            let is_shown = is_all || expected <= expected_max;
            let (evidence, expected) = ((10.0 * score).round() / 10.0, two_digits(expected));
            Rating { evidence, expected, is_shown }
        })
    }
}

/// Returns the score of these ascending runs of passages of the query, as [`Sums::score`] defines
/// it, and the information of the best run. A repeat within a passage has no information. A repeat
/// in another passage has, because two copies of a text are both copies.
fn scores(
    (runs, passages): (&[Range<usize>], &[Vec<Range<usize>>]),
    hit: usize,
    sums: &Sums,
    repeats: &Repeats,
) -> (f64, f64) {
    let of = |sums: &Sums, runs: &[Range<usize>]| {
        (sums.score(runs, hit), runs.iter().map(|run| sums.of(run)).fold(0.0, f64::max))
    };
    let (Some(first), Some(last), false) = (runs.first(), runs.last(), repeats.is_empty()) else {
        return of(sums, runs);
    };
    let mut said = vec![0.0; last.end - first.start];
    for passage in passages {
        let start = passage.first().map_or(0, |run| run.start);
        for at in passage.iter().cloned().flatten().filter(|at| !repeats.has(*at, start)) {
            said[at - first.start] = sums.of(&(at..at + 1));
        }
    }
    let runs: Vec<_> =
        runs.iter().map(|run| run.start - first.start..run.end - first.start).collect();
    of(&Sums::new(&said), &runs)
}

/// Returns the tokens of the query that are equal in a passage, as ascending runs.
fn matched_runs(passage: &Passage, query: &Tokens, document: &Tokens) -> Vec<Range<usize>> {
    let in_query = |&range: &(u32, u32)| {
        let Range { start, end } = tokens_in(query, range);
        start as usize..end as usize
    };
    // A comment of a program lies between tokens and has no token of its own.
    let matched = joined(passage.matched_in_a().iter().map(in_query));
    let hit = tokens_in(document, passage.b);
    let hit = &document.hashes[hit.start as usize..hit.end as usize];
    match passage.similarity < 1.0 {
        true => equal_runs(&query.hashes, &matched, hit),
        false => matched,
    }
}

/// Returns the runs ascending, without the tokens of earlier runs. Adjacent runs stay apart: their
/// places in the document differ, which is less evidence than one run.
fn without_overlaps(mut runs: Vec<Range<usize>>) -> Vec<Range<usize>> {
    runs.sort_unstable_by_key(|run| (run.start, run.end));
    let mut end = 0;
    runs.retain_mut(|run| {
        run.start = run.start.max(end);
        end = end.max(run.end);
        run.start < run.end
    });
    runs
}

/// The number of tokens that identify a text.
const BEGINNING_TOKENS: usize = 256;

/// Returns a hash of the first tokens of a text.
fn beginning(text: &[u64]) -> u64 {
    let tokens = text.iter().take(BEGINNING_TOKENS);
    tokens.fold(text.len().min(BEGINNING_TOKENS) as u64, |hash, &token| mix64(hash ^ token))
}

/// Rounds to two significant digits, because further digits would be noise.
fn two_digits(number: f64) -> f64 {
    format!("{number:.1e}").parse().unwrap_or(number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::{Config, Document, Index, WriterOptions};
    use crate::search::{Query, Searcher, Texts};

    fn words(seed: u64, count: u64) -> String {
        (0..count).map(|at| format!("w{} ", mix64(seed << 32 | at) % 900)).collect()
    }

    #[test]
    fn evidence_depends_neither_on_the_order_of_documents_nor_on_copies_of_a_sampled_one() {
        // A quarter of the documents share a phrase and a story, and two documents are copies.
        let phrase = words(1, 14);
        let story = words(2, 40);
        let text = |n: u64| match n % 4 {
            0 => format!("{} {phrase} {} {story}", words(10 + n, 60), words(100 + n, 60)),
            _ => words(10 + n, 120),
        };
        let mut documents: Vec<(String, String)> =
            (0..24).map(|n| (format!("d{n}"), text(n))).collect();
        documents.extend([0, 4].map(|n| (format!("a copy of {n}"), text(n))));
        let searcher = |documents: &[(String, String)], commit: usize| {
            let config = Config::new("kgram(k=3)", "words", true).unwrap();
            let index = Index::in_memory(config).unwrap();
            for some in documents.chunks(commit) {
                let mut writer = index.writer(WriterOptions::default()).unwrap();
                for (id, text) in some {
                    writer.add(Document::new(id.clone(), text.clone())).unwrap();
                }
                writer.finish().unwrap();
            }
            Searcher::new(index.snapshot().unwrap())
        };
        let found = |searcher: &Searcher, id: &str| {
            let query = Query::id(id).limit(9).passages(true).max_expected(1e9);
            let hits = searcher.search(&query).unwrap().hits;
            let of_hit = |passage: &Passage| (passage.evidence, passage.expected);
            let mut found: Vec<_> = hits
                .iter()
                .filter(|hit| !hit.id.starts_with("a copy") && !["d0", "d4"].contains(&&*hit.id))
                .map(|hit| {
                    let passages = hit.passages.iter().flatten();
                    (hit.id.clone(), passages.map(of_hit).collect::<Vec<_>>())
                })
                .collect();
            found.sort_by(|a, b| a.0.cmp(&b.0));
            found
        };
        let in_order = searcher(&documents, 26);
        let expected = found(&in_order, "d0");
        assert!(expected.iter().any(|(_, passages)| !passages.is_empty()), "{expected:?}");
        assert_eq!(found(&in_order, "a copy of 0"), expected);
        documents.reverse();
        for commit in [26, 5] {
            let other = searcher(&documents, commit);
            assert_eq!(found(&other, "d0"), expected, "{commit}");
            assert_eq!(found(&other, "a copy of 0"), expected, "{commit}");
        }
    }

    #[test]
    fn a_list_of_like_statements_says_once_what_they_are_and_copies_say_it_again() {
        let list: Vec<u64> = (0..90).map(|at| at % 9).collect();
        let (sums, repeats) = (Sums::new(&[1.0; 90]), Repeats::of(&list));
        let score = |passages: &[&[(usize, usize)]]| {
            let runs = |runs: &&[(usize, usize)]| runs.iter().map(|&(a, b)| a..b).collect();
            let passages: Vec<Vec<Range<usize>>> = passages.iter().map(runs).collect();
            scores((&passages.concat(), &passages), 1, &sums, &repeats).0
        };
        assert_eq!(score(&[&[(0, 90)]]), 9.0);
        // Each further run costs one bit, for its place among two.
        assert_eq!(score(&[&[(0, 30), (30, 45)]]), 9.0);
        assert_eq!(score(&[&[(0, 45)], &[(45, 90)]]), 17.0);
        assert_eq!(score(&[&[(20, 26)]]), 6.0);
        assert!(Repeats::of(&(0..90).collect::<Vec<u64>>()).is_empty());
    }

    #[test]
    fn equal_texts_share_a_passage_however_common_its_parts_are() {
        let index = Index::in_memory(Config::new("kgram(k=3)", "words", true).unwrap()).unwrap();
        let mut writer = index.writer(WriterOptions::default()).unwrap();
        for number in 0..14 {
            let text = words(1, 60) + &words(number.max(2), 3);
            writer.add(Document::new(number.to_string(), text)).unwrap();
        }
        writer.finish().unwrap();
        let searcher = Searcher::new(index.snapshot().unwrap());
        let chance = searcher.chance(Stop::NEVER).unwrap();
        let mut texts = Texts::new(&searcher, &searcher).rated(chance, 0.0);
        let [zero, one, last] = ["0", "1", "13"].map(|id| searcher.snapshot().find(id).unwrap());
        let mut count = |a: Option<DocAddress>, b: Option<DocAddress>| {
            texts.passages(a.unwrap(), b.unwrap(), Stop::NEVER).unwrap().found.len()
        };
        assert_eq!([count(zero, one), count(zero, last)], [1, 0]);
    }

    #[test]
    fn answer_sheets_in_ideographs_that_differ_in_answers_share_no_passage() {
        // Another answer was once taken for a letter that was not recognized.
        let sheet = |number: u64| -> String {
            let answer = |at: u64| {
                ['\u{7532}', '\u{4e59}', '\u{4e19}', '\u{4e01}']
                    [mix64(number << 16 | at) as usize % 4]
            };
            let line = |at| format!("\u{7b2c}{at}\u{9898}\u{ff1a}\u{9009}\u{62e9}{}\n", answer(at));
            (1..41).map(line).collect()
        };
        let index = Index::in_memory(Config::new("winnow(k=5,w=10)", "words", true).unwrap());
        let index = index.unwrap();
        let mut writer = index.writer(WriterOptions::default()).unwrap();
        for number in 0..20 {
            writer.add(Document::new(number.to_string(), sheet(number))).unwrap();
        }
        writer.finish().unwrap();
        let searcher = Searcher::new(index.snapshot().unwrap());
        let answer = searcher.search(&Query::text(sheet(99)).passages(true)).unwrap();
        let passages = answer.hits.iter().flat_map(|hit| hit.passages.iter().flatten());
        assert!(!answer.hits.is_empty());
        assert_eq!(passages.count(), 0);
    }

    /// A text of sentences of the same kinds, each with other words.
    fn of_kinds(seed: u64, sentences: usize) -> String {
        const KINDS: [&str; 7] = [
            "It was the _ _, not the _, that _ the _ _.",
            "Some said that a _ _ the _ _; others thought the _ had _ it _.",
            "No _ _ ever _ the _ that the _ _ had _ _.",
            "The _ and the _ _ _ one another _, but the _ stayed across the _.",
            "The _ outside the _ _ _ the _ _ _.",
            "_, a _ _ every _ _ around the _ _.",
            "Against the advice of the elders, a _ _ announced every _ near the _.",
        ];
        let mut state = mix64(seed);
        let mut next = |below: u64| {
            state = mix64(state.wrapping_add(1));
            state % below
        };
        let mut text = String::new();
        for _ in 0..sentences {
            for letter in KINDS[next(KINDS.len() as u64) as usize].chars() {
                match letter {
                    '_' => text.push_str(&format!("word{}", next(200))),
                    other => text.push(other),
                }
            }
            text.push(' ');
        }
        text
    }

    #[test]
    fn texts_of_the_same_kinds_of_sentences_share_few_passages() {
        let (mut queries, mut by_chance) = (0, 0);
        for class in 0..6 {
            let config = Config::new("winnow(k=5,w=10)", "words", true).unwrap();
            let index = Index::in_memory(config).unwrap();
            let mut writer = index.writer(WriterOptions::default()).unwrap();
            // The last two are copies.
            let (number, sentences) = (10 + 5 * class, if class % 2 == 0 { 24 } else { 72 });
            for at in 0..number {
                let text = of_kinds(1000 * (class + 1) + at.min(number - 2), sentences);
                writer.add(Document::new(at.to_string(), text)).unwrap();
            }
            writer.finish().unwrap();
            let searcher = Searcher::new(index.snapshot().unwrap());
            for at in 0..number {
                let answer = searcher.search(&Query::id(at.to_string()).passages(true)).unwrap();
                let mut found: Vec<u64> = answer
                    .hits
                    .iter()
                    .filter(|hit| hit.passages.iter().flatten().count() > 0)
                    .map(|hit| hit.id.parse().unwrap())
                    .collect();
                let copy = (at + 2 >= number).then_some(2 * number - 3 - at);
                if let Some(copy) = copy {
                    assert_eq!(found.first(), Some(&copy), "{at} of {number}");
                }
                found.retain(|hit| Some(*hit) != copy);
                queries += 1;
                by_chance += found.len();
            }
        }
        // While adjacent runs counted as one run, every query had three hits by chance. While
        // passages of any length had the law of whole texts, one query in nine of the shorter texts
        // had a hit.
        assert!(30 * by_chance <= queries, "{by_chance} by chance in {queries} queries");
    }
}
