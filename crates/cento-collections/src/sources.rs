//! Finds out where the text of new documents comes from.
//!
//! Each new document is searched for by itself, among known documents and among the new documents.
//! The documents that together have most of its fingerprints (a cover) are compared by text. So the
//! answer does not depend on how many pairs a list has room for. Text in passages of both known and
//! new documents counts as known.
//!
//! Any two programs share short passages, and the short passages of many programs cover nearly all
//! of an honest program. Passages explained by chance do not count, so a large number of sources
//! finds no more than a small number. A cover leaves out documents that add little to their
//! predecessors, so a program is compared with the programs that share its rarest fingerprints
//! instead.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};

use cento_api::{Passage, SourceRanges, SourcedDocument, Sources, Unit};

use super::SymmetricPair;
use super::by_document::Join;
use super::numbering::Numbering;
use super::pairs::Pairs;
use super::series::Series;
use cento::index::{DocAddress, Snapshot};
use cento::search::{NeighborLimits, Query, Searcher, Weigh};
use cento_api::error::Result;
use cento_text::compare::Passages;
use cento_text::runtime::ordered::in_order;
use cento_text::text::Tokens;

/// Documents that share passages with one document.
#[derive(Debug, Default)]
struct ReusingDocuments {
    sources: Vec<SourceRanges>,
    /// Whether a comparison was cut short, so that sources may be missing.
    is_cut: bool,
}

impl Pairs {
    /// Counts where the text of each document of `new` comes from. The searcher must have these
    /// documents first, as in a [union](Snapshot::union), and then the known documents. Passages of
    /// the `listed` pairs count too. Thresholds, rank and limit of the options have no effect,
    /// except `min_passage`, the minimum length of a passage. Returns nothing for an index that
    /// stores no texts.
    ///
    /// A search ends after [`Query::PATIENCE`] documents in a row without a passage, and after
    /// [`Query::CANDIDATES`] documents, which [`Sources::complete`] reports.
    ///
    /// # Errors
    /// When no document has the field of the scope, or a file is damaged.
    /// [`Error::Cancelled`](cento::Error::Cancelled) soon after the search was stopped.
    pub fn sources(self, new: &Snapshot, listed: &[SymmetricPair]) -> Result<Vec<Sources>> {
        let (mut join, mut progress) = self.into_parts()?;
        if !new.config().store_text {
            return Ok(Vec::new());
        }
        let mut reused = reused_in(listed);
        let mut firsts: HashMap<&str, Vec<DocAddress>> = HashMap::new();
        for SymmetricPair { pair, .. } in listed {
            if pair.index_a.is_none() && pair.index_b.is_none() {
                firsts.entry(&pair.b).or_default().extend(new.find(&pair.a)?);
            }
        }
        let addresses: Vec<DocAddress> = new.live().collect();
        join.documents = 0..Numbering::new(new).end();
        let search = SourceSearch::new(&join, new, &addresses, firsts)?;
        let mut all = Vec::with_capacity(addresses.len());
        let work = |number: u64| search.of(addresses[number as usize]);
        in_order(
            join.threads,
            0..addresses.len() as u64,
            &join.stop,
            &work,
            &mut |number, mut document| {
                progress(number + 1);
                let listed = reused.remove(document.name.as_str()).unwrap_or_default();
                document.sources.extend(listed.sources);
                document.complete &= !listed.is_cut;
                all.push(document.sums());
                Ok(())
            },
        )?;
        all.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(all)
    }
}

/// Returns, by id, the ranges of new documents that are matched words in passages of listed pairs.
///
/// Only the first document of a pair gets ranges, because the matched words of a passage are known
/// for the first document only.
fn reused_in(pairs: &[SymmetricPair]) -> BTreeMap<&str, ReusingDocuments> {
    let mut all: BTreeMap<&str, ReusingDocuments> = BTreeMap::new();
    for SymmetricPair { pair, .. } in pairs {
        let news = [(&pair.a, &pair.index_a), (&pair.b, &pair.index_b)];
        if pair.passages_complete == Some(false) {
            for (id, _) in news.into_iter().filter(|(_, index)| index.is_none()) {
                all.entry(id).or_default().is_cut = true;
            }
        }
        if pair.index_a.is_none() {
            let found = pair.passages.iter().flatten().filter(|p| p.unit == Unit::Bytes);
            let ranges: Vec<_> = found.flat_map(Passage::matched_in_a).copied().collect();
            let (id, index) = (pair.b.clone(), pair.index_b.clone());
            all.entry(&pair.a).or_default().sources.push(SourceRanges { id, index, ranges });
        }
    }
    all
}

struct SourceSearch<'a> {
    join: &'a Join,
    numbering: Numbering,
    /// Searchers over the known and over the new documents. Both use addresses of the union.
    searchers: [Searcher; 2],
    series: Option<Series>,
    /// The documents of each series, by code.
    of_series: HashMap<u32, Vec<DocAddress>>,
    /// By the id of the second document of each listed pair, the first documents.
    firsts: HashMap<&'a str, Vec<DocAddress>>,
    is_of_programs: bool,
}

impl<'a> SourceSearch<'a> {
    fn new(
        join: &'a Join,
        new: &Snapshot,
        addresses: &[DocAddress],
        firsts: HashMap<&'a str, Vec<DocAddress>>,
    ) -> Result<SourceSearch<'a>> {
        let snapshot = join.searcher.snapshot();
        let numbering = Numbering::new(snapshot);
        let searcher = |snapshot: Snapshot| match join.searcher.boilerplate() {
            Some(boilerplate) => Searcher::new(snapshot).excluding(boilerplate.clone(), &join.stop),
            None => Ok(Searcher::new(snapshot)),
        };
        let searchers = [searcher(snapshot.without(addresses))?, searcher(new.clone())?];
        let series = Series::read(&join.options.scope()?, &[snapshot])?;
        let mut of_series: HashMap<u32, Vec<DocAddress>> = HashMap::new();
        if let Some(series) = &series {
            for address in snapshot.live() {
                let code = series.code(0, numbering.number(address));
                of_series.entry(code).or_default().push(address);
            }
        }
        let is_of_programs = new.config().analyzer.is_of_programs();
        Ok(SourceSearch { join, numbering, searchers, series, of_series, firsts, is_of_programs })
    }

    /// Returns the documents that may not be in a pair with the document at `address`.
    fn hidden(&self, address: DocAddress) -> Vec<DocAddress> {
        let Some(series) = &self.series else { return vec![address] };
        let code = series.code(0, self.numbering.number(address));
        let is_hidden = |other: u32| match series.is_within() {
            true => other != code || code == 0,
            false => other == code && code != 0,
        };
        let others = self.of_series.iter().filter(|(other, _)| is_hidden(**other));
        let others = others.flat_map(|(_, addresses)| addresses.iter().copied());
        others.chain([address]).collect()
    }

    fn of(&self, address: DocAddress) -> Result<SourcedDocument> {
        let (snapshot, stop) = (self.join.searcher.snapshot(), &self.join.stop);
        let document = snapshot.document(address)?;
        let text = document.text.unwrap_or_default();
        let firsts = self.firsts.get(document.id.as_str()).map_or(&[][..], Vec::as_slice);
        let ReusingDocuments { sources, is_cut } = self.reused(address, &text, firsts)?;
        let mut tokens = Tokens::default();
        snapshot.config().analyzer.of_passages().analyze(&text, &mut tokens, stop)?;
        let boilerplate = match self.join.searcher.boilerplate() {
            Some(boilerplate) => boilerplate.ranges_in(&text, stop)?,
            None => Vec::new(),
        };
        let (name, places) = (document.id, tokens.places());
        Ok(SourcedDocument { name, places, boilerplate, sources, complete: !is_cut })
    }

    /// Finds the text that the document at `address` shares with its candidates, and with `news`.
    fn reused(
        &self,
        address: DocAddress,
        text: &str,
        news: &[DocAddress],
    ) -> Result<ReusingDocuments> {
        let Join { options, stop, .. } = self.join;
        let tokens_min = options.min_passage.unwrap_or(0);
        let mut texts = self.join.texts()?;
        let mut reused = ReusingDocuments::default();
        let mut news = news.to_vec();
        for found in self.candidates(address, text)? {
            let mut in_vain = 0;
            for (at, other) in found.into_iter().enumerate() {
                stop.check()?;
                if at == Query::CANDIDATES {
                    reused.is_cut = true;
                    break;
                }
                news.retain(|&one| one != other);
                let passages = texts.passages(address, other, stop)?.of_at_least(tokens_min);
                in_vain = if passages.found.is_empty() { in_vain + 1 } else { 0 };
                self.add(&mut reused, other, &passages)?;
                if in_vain == Query::PATIENCE {
                    break;
                }
            }
        }
        for other in news {
            let passages = texts.passages(address, other, stop)?.of_at_least(tokens_min);
            self.add(&mut reused, other, &passages)?;
        }
        Ok(reused)
    }

    /// Returns the documents to compare with the document at `address`, the most promising first.
    /// For prose, known and new documents are separate lists. A list has one document more than is
    /// compared, which tells whether there are more.
    fn candidates(&self, address: DocAddress, text: &str) -> Result<Vec<Vec<DocAddress>>> {
        let hidden = self.hidden(address);
        if self.is_of_programs {
            return Ok(vec![self.sharing_most(address, &hidden)?]);
        }
        let Join { options, stop, memory, .. } = self.join;
        let mut query = Query::text(text).limit(usize::MAX);
        query = query.max_df(options.max_df).memory(memory.clone());
        query.stop = stop.clone();
        let most = Query::CANDIDATES + 1;
        let covering = |searcher: &Searcher| searcher.covering(&query, hidden.clone(), most);
        self.searchers.iter().map(covering).collect()
    }

    /// Returns the documents that share the greatest weight of fingerprints with the document at
    /// `address`, greatest first, then in stored order. The list has one document more than is
    /// compared.
    fn sharing_most(&self, address: DocAddress, hidden: &[DocAddress]) -> Result<Vec<DocAddress>> {
        let Join { searcher, options, stop, .. } = self.join;
        let hidden: HashSet<DocAddress> = hidden.iter().copied().collect();
        let keys = searcher.keys_of(address, stop)?;
        let (weigh, max_df, except) =
            (Weigh::new(searcher.snapshot()), options.max_df, Some(address));
        let limits = NeighborLimits { overlap_min: 1, share_min: 0.0, max_df, except };
        let (_, mut found) = searcher.weighed_neighbors(&keys, weigh, limits, stop)?;
        found.retain(|(one, _)| !hidden.contains(&one.address));
        found.sort_unstable_by_key(|&(one, weight)| (Reverse(weight), one.address));
        found.truncate(Query::CANDIDATES + 1);
        Ok(found.into_iter().map(|(one, _)| one.address).collect())
    }

    /// Adds the matched words of the passages with document `other`.
    fn add(
        &self,
        reused: &mut ReusingDocuments,
        other: DocAddress,
        passages: &Passages,
    ) -> Result<()> {
        reused.is_cut |= !passages.complete;
        let found = passages.found.iter().filter(|passage| passage.unit == Unit::Bytes);
        let ranges: Vec<_> = found.flat_map(|passage| passage.matched_in_a()).copied().collect();
        if !ranges.is_empty() {
            let snapshot = self.join.searcher.snapshot();
            let index = snapshot.name_of(other).map(str::to_owned);
            reused.sources.push(SourceRanges { id: snapshot.id(other)?, index, ranges });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::known::with_known;
    use crate::pairs::{PairOptions, pairs};
    use cento::index::{Config, Document as Stored, Index, WriterOptions};

    fn index(documents: &[(String, String)]) -> Snapshot {
        index_by("words", documents)
    }

    fn index_by(analyzer: &str, documents: &[(String, String)]) -> Snapshot {
        let index = Index::in_memory(Config::new("kgram(k=1)", analyzer, true).unwrap()).unwrap();
        let mut writer = index.writer(WriterOptions::default()).unwrap();
        for (id, text) in documents {
            let mut meta = serde_json::Map::new();
            meta.insert("author".into(), id.split('/').next().unwrap().into());
            writer.add(Stored::new(id.clone(), text.clone()).with_meta(meta)).unwrap();
        }
        writer.finish().unwrap();
        index.snapshot().unwrap()
    }

    fn words(seed: u32, count: u32) -> String {
        (0..count).map(|n| format!("w{seed}x{n} ")).collect()
    }

    fn document(id: &str, text: String) -> (String, String) {
        (id.into(), text)
    }

    fn sources(new: &Snapshot, known: &Snapshot, options: &PairOptions) -> Vec<Sources> {
        let searcher = Searcher::new(with_known(new, known, "old").unwrap().snapshot);
        let join = pairs(&searcher, options).documents(0..Numbering::new(new).end());
        join.sources(new, &[]).unwrap()
    }

    #[test]
    fn what_known_and_new_documents_both_have_is_known() {
        let known = index(&[document("eve", words(1, 40)), document("ann/0", words(2, 40))]);
        let new = index(&[
            document("ann/1", words(1, 40) + &words(2, 40) + &words(3, 40)),
            document("ann/2", words(3, 40) + &words(4, 40)),
            document("bob/1", words(1, 40) + &words(4, 40)),
        ]);
        let counts = |options: &PairOptions| -> Vec<[u32; 4]> {
            let found = sources(&new, &known, options);
            assert!(found.iter().all(|one| one.complete));
            found.iter().map(|one| [one.tokens, one.new, one.known, one.shared]).collect()
        };
        let all = [[120, 0, 80, 40], [80, 0, 0, 80], [80, 0, 40, 40]];
        assert_eq!(counts(&PairOptions::default()), all);
        // The list of pairs has room for one pair, and would lack these.
        assert_eq!(counts(&PairOptions::default().min_similarity(1.0).limit(1usize)), all);
        let across = PairOptions::default().group_by("author".to_owned());
        assert_eq!(counts(&across), [[120, 80, 40, 0], [80, 40, 0, 40], [80, 0, 40, 40]]);
        let within = PairOptions::default().within("author".to_owned());
        assert_eq!(counts(&within), [[120, 40, 40, 40], [80, 40, 0, 40], [80, 80, 0, 0]]);
        let long = PairOptions::default().min_passage(41u32);
        assert_eq!(counts(&long)[0], [120, 120, 0, 0]);
    }

    #[test]
    fn own_words_within_a_passage_are_new_in_both_documents_of_a_listed_pair() {
        // The second document of a pair once counted the whole passage as shared.
        let edited = words(1, 60).replace("w1x20 ", "own ").replace("w1x40 ", "other ");
        for (first, second) in [(words(1, 60), edited.clone()), (edited, words(1, 60))] {
            let known = index(&[document("eve", words(2, 40))]);
            let new = index(&[document("ann", first), document("bob", second)]);
            let searcher = Searcher::new(with_known(&new, &known, "old").unwrap().snapshot);
            let options = PairOptions::default().passages(true);
            let join = || pairs(&searcher, &options).documents(0..Numbering::new(&new).end());
            let listed = join().most_similar().unwrap().pairs;
            assert_eq!(listed.len(), 1);
            let found = join().sources(&new, &listed).unwrap();
            let counts: Vec<_> = found.iter().map(|one| (one.new, one.known, one.shared)).collect();
            assert_eq!(counts, [(2, 0, 58); 2]);
        }
    }

    #[test]
    fn an_equal_program_has_all_of_it() {
        // Breaks between paragraphs, which have no bytes, once counted as new before a comment and
        // at the end.
        let program: String = ["a", "b", "c"]
            .map(|name| {
                format!(
                    "def {name}(x, y):\n    total = x + y * 2\n    print(total, x, y)\n    \
                     return total\n\n\n# next one\n"
                )
            })
            .concat();
        let index = |id: &str| index_by("code(language=python)", &[document(id, program.clone())]);
        let found = sources(&index("bob"), &index("ann"), &PairOptions::default());
        assert_eq!((found[0].known, found[0].shared), (found[0].tokens, 0));
    }

    #[test]
    fn programs_that_share_a_line_each_are_no_sum() {
        // The old programs together once covered all of the new program.
        let lines = |numbers: &[u32]| -> String {
            let line = |n: &u32| {
                let marks = ["+", "-", "*", "//", "%", "&", "|", "^"];
                let mark = |at: u32| marks[(n >> (3 * at)) as usize % marks.len()];
                format!("a = b {} c {} d {} (e {} 1)\n", mark(0), mark(1), mark(2), mark(1))
            };
            numbers.iter().map(line).collect()
        };
        let old: Vec<_> = (0..6).map(|n| document(&format!("old{n}"), lines(&[n]))).collect();
        let code = "code(language=python)";
        let (old, copy) = (index_by(code, &old), lines(&[3, 9, 11, 30, 47, 61, 78, 92, 104]));
        let of =
            |new: &[(String, String)]| sources(&index_by(code, new), &old, &PairOptions::default());
        let alone = of(&[document("new", lines(&[0, 1, 2, 3, 4, 5]))]);
        assert!(alone[0].known * 3 < alone[0].tokens, "{alone:?}");
        // A copy within the class counts as shared.
        let class = of(&[document("ann", copy.clone()), document("bob", copy)]);
        assert_eq!(class[0].shared, class[0].tokens, "{class:?}");
    }

    #[test]
    fn a_search_that_is_cut_short_is_not_complete() {
        // Each known document is one word of the new document, and a passage.
        let known = |count: u32| {
            let words = (0..count).map(|n| document(&format!("k{n}"), format!("w1x{n}")));
            index(&words.collect::<Vec<_>>())
        };
        let most = Query::CANDIDATES as u32;
        let new = index(&[document("new", words(1, most + 9))]);
        let check = |count: u32, is_complete: bool| {
            // One word is chance, so the option makes a passage of it.
            let options = PairOptions::default().max_expected(1e9);
            let found = sources(&new, &known(count), &options);
            assert_eq!((found[0].known, found[0].complete), (count.min(most), is_complete));
        };
        check(most, true);
        check(most + 9, false);
    }
}
