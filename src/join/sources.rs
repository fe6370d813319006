//! Where is the text of new documents from?
//!
//! Each new document is searched for by itself, among the known documents and among the other new
//! ones: those that together have most of its fingerprints (the goal `cover`) are compared with it,
//! text by text. So the answer does not depend on the pairs that a list has room for. What the
//! passages of known and of new documents both have counts as known.

use std::collections::{BTreeMap, HashMap};

use cento_api::Sources;

use super::SymmetricPair;
use super::by_document::Join;
use super::numbering::Numbering;
use super::pairs::Pairs;
use super::series::Series;
use crate::compare::Passages;
use crate::error::Result;
use crate::index::{DocAddress, Snapshot};
use crate::runtime::ordered::in_order;
use crate::search::{Goal, Query, Searcher, Texts};
use crate::text::Tokens;
use cento_api::Unit;

/// The ranges of bytes of a document that are in passages of known documents, and of new ones.
#[derive(Debug, Default)]
struct Reused {
    ranges: [Vec<(u32, u32)>; 2],
    /// Whether some comparison was cut short.
    is_cut: bool,
}

impl Reused {
    /// Adds the matched words of passages with a known document (kind 0) or a new one (kind 1).
    fn add(&mut self, kind: usize, passages: &Passages) {
        self.is_cut |= !passages.complete;
        let found = passages.found.iter().filter(|passage| passage.unit == Unit::Bytes);
        self.ranges[kind].extend(found.flat_map(|passage| passage.matched_in_query()));
    }
}

impl Pairs {
    /// Counts what each document of `new` has from where. The searcher has these documents first,
    /// as those of a [union](Snapshot::union), then the known ones; the passages of `listed`, pairs
    /// of these documents, count too. The thresholds, the rank and the limit of the options do not
    /// matter, but for `min_passage`, which says what a passage is. Returns nothing for an index
    /// that stores no texts.
    ///
    /// A search ends when [`Query::PATIENCE`] documents in a row have no passage, and after
    /// [`Query::CANDIDATES`], which is reported: [`Sources::complete`].
    ///
    /// # Errors
    /// When no document has the field of the scope, or a file is damaged;
    /// [`Error::Cancelled`](crate::Error::Cancelled) soon after the search was stopped.
    pub fn sources(self, new: &Snapshot, listed: &[SymmetricPair]) -> Result<Vec<Sources>> {
        let (mut join, _) = self.into_parts();
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
        in_order(join.threads, 0..addresses.len() as u64, &join.stop, &work, &mut |_, found| {
            let Document { id, places, boilerplate, reused: Reused { ranges, is_cut } } = found;
            let listed = reused.remove(id.as_str()).unwrap_or_default();
            let [known, shared] = ranges;
            let [listed_known, listed_shared] = listed.ranges;
            let ranges =
                [boilerplate, [known, listed_known].concat(), [shared, listed_shared].concat()];
            let is_complete = !is_cut && !listed.is_cut;
            all.push(Sources::of(id, places.into_iter(), ranges, is_complete));
            Ok(())
        })?;
        all.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(all)
    }
}

/// Returns what the passages of pairs have of the first document of each, which is new, by ids.
///
/// What the second one has is not known from them: their matched words are those of the first.
fn reused_in(pairs: &[SymmetricPair]) -> BTreeMap<&str, Reused> {
    let mut all: BTreeMap<&str, Reused> = BTreeMap::new();
    for SymmetricPair { pair, .. } in pairs {
        let kind = usize::from(pair.index_a.is_none() && pair.index_b.is_none());
        let news = [(&pair.a, &pair.index_a), (&pair.b, &pair.index_b)];
        if pair.passages_complete == Some(false) {
            for (id, _) in news.into_iter().filter(|(_, index)| index.is_none()) {
                all.entry(id).or_default().is_cut = true;
            }
        }
        for passage in pair.passages.iter().flatten().filter(|p| p.unit == Unit::Bytes) {
            if pair.index_a.is_none() {
                let own = &mut all.entry(&pair.a).or_default().ranges[kind];
                own.extend(passage.matched_in_a());
            }
        }
    }
    all
}

/// The known facts about a new document.
struct Document {
    id: String,
    /// A byte of each token.
    places: Vec<u32>,
    boilerplate: Vec<(u32, u32)>,
    reused: Reused,
}

/// The search for the sources of new documents.
struct SourceSearch<'a> {
    join: &'a Join,
    numbering: Numbering,
    /// The known documents, and the new ones. Both have the addresses of all.
    searchers: [Searcher; 2],
    series: Option<Series>,
    /// The documents of each series, by its code.
    of_series: HashMap<u32, Vec<DocAddress>>,
    /// The documents that are the first of a listed pair, by the id of the second.
    firsts: HashMap<&'a str, Vec<DocAddress>>,
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
        Ok(SourceSearch { join, numbering, searchers, series, of_series, firsts })
    }

    /// Returns the documents that are in no pair with the one at `address`.
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

    fn of(&self, address: DocAddress) -> Result<Document> {
        let (snapshot, stop) = (self.join.searcher.snapshot(), &self.join.stop);
        let document = snapshot.document(address)?;
        let text = document.text.unwrap_or_default();
        let firsts = self.firsts.get(document.id.as_str()).map_or(&[][..], Vec::as_slice);
        let reused = self.reused(address, &text, firsts)?;
        let mut tokens = Tokens::default();
        snapshot.config().analyzer.of_passages().analyze(&text, &mut tokens, stop)?;
        let boilerplate = match self.join.searcher.boilerplate() {
            Some(boilerplate) => boilerplate.ranges_in(&text, stop)?,
            None => Vec::new(),
        };
        Ok(Document { id: document.id, places: tokens.places(), boilerplate, reused })
    }

    /// Finds what the document at `address` has in common with others, and with these new ones.
    fn reused(&self, address: DocAddress, text: &str, news: &[DocAddress]) -> Result<Reused> {
        let Join { searcher, options, stop, .. } = self.join;
        let tokens_min = options.min_passage.unwrap_or(0);
        // One more tells whether there are more.
        let mut query = Query::text(text).goal(Goal::Cover).limit(Query::CANDIDATES);
        query = query.max_df(options.max_df).memory(self.join.memory.clone());
        query.stop = stop.clone();
        let mut texts = Texts::new(searcher, searcher).within(self.join.stored_memory());
        let hidden = self.hidden(address);
        let mut reused = Reused::default();
        let mut news = news.to_vec();
        for (kind, searcher) in self.searchers.iter().enumerate() {
            let mut in_vain = 0;
            for (at, other) in searcher.covering(&query, hidden.clone())?.into_iter().enumerate() {
                stop.check()?;
                if at == Query::CANDIDATES {
                    reused.is_cut = true;
                    break;
                }
                news.retain(|&one| one != other);
                let passages = texts.passages(address, other, stop)?.of_at_least(tokens_min);
                in_vain = if passages.found.is_empty() { in_vain + 1 } else { 0 };
                reused.add(kind, &passages);
                if in_vain == Query::PATIENCE {
                    break;
                }
            }
        }
        for other in news {
            let passages = texts.passages(address, other, stop)?.of_at_least(tokens_min);
            reused.add(1, &passages);
        }
        Ok(reused)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::{Config, Document as Stored, Index, WriterOptions};
    use crate::join::known::with_known;
    use crate::join::pairs::{PairOptions, pairs};

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
        // The list would lack all of these pairs.
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
        // The whole passage was shared in the second document of a pair.
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
    fn nothing_of_an_equal_program_is_new() {
        // Breaks between paragraphs, which have no bytes, were new before a comment and at the end.
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
        assert_eq!((found[0].new, found[0].known), (0, found[0].tokens));
    }

    #[test]
    fn a_search_that_is_cut_short_is_not_complete() {
        // Each known document is a word of the new one, and a passage.
        let known = |count: u32| {
            let words = (0..count).map(|n| document(&format!("k{n}"), format!("w1x{n}")));
            index(&words.collect::<Vec<_>>())
        };
        let most = Query::CANDIDATES as u32;
        let new = index(&[document("new", words(1, most + 9))]);
        let check = |count: u32, is_complete: bool| {
            let found = sources(&new, &known(count), &PairOptions::default());
            assert_eq!((found[0].known, found[0].complete), (count.min(most), is_complete));
        };
        check(most, true);
        check(most + 9, false);
    }
}
