//! Passages: the exact ranges that query and hit share.

use crate::common::words;
use cento::Stop;
use cento::index::Document;
use cento::index::{Config, Index, WriterOptions};
use cento::search::{Goal, Query, Rank, Searcher, Subject};
use cento::tantivy::directory::RamDirectory;
use cento::{CompareOptions, Comparison, Passage, TextPair, Unit};
use cento_collections::Thresholds;
use cento_collections::pairs::{PairOptions, PairRank, pairs};
use proptest::prelude::*;

pub fn index(config: Config, documents: &[(&str, &str)]) -> Searcher {
    let index = Index::create_in(RamDirectory::create(), "ram", config).unwrap();
    let mut writer = index.writer(WriterOptions::default()).unwrap();
    for (id, text) in documents {
        let meta = serde_json::Map::new();
        let document = Document::new(*id, *text).with_meta(meta);
        let signed =
            cento::index::SignedDocument::new(document, index.config(), Stop::NEVER).unwrap();
        writer.add_signed(signed).unwrap();
    }
    writer.finish().unwrap();
    Searcher::new(index.snapshot().unwrap())
}

/// Compares two texts with the common configuration.
pub fn compare(a: &str, b: &str) -> Comparison {
    let config = crate::common::config();
    cento::compare(&config.scheme, &config.analyzer, a, b).unwrap()
}

pub fn passages(searcher: &Searcher, subject: Subject) -> Vec<Passage> {
    let query = Query::new(subject).passages(true);
    searcher.search(&query).unwrap().hits.remove(0).passages.unwrap()
}

pub fn cut(text: &str, (start, end): (u32, u32)) -> &str {
    &text[start as usize..end as usize]
}

#[test]
fn spans_are_bytes_of_both_original_texts() {
    let quoted = format!("na\u{ef}ve \u{201c}{}\u{201d} caf\u{e9}", words(1, 60));
    let query = format!("\u{65e5}\u{672c}\u{8a9e} {} -- {quoted}; {}", words(2, 30), words(3, 40));
    let document = format!("{} ({quoted}) \u{442}\u{435}\u{43a}\u{441}\u{442}", words(4, 500));
    let searcher = index(crate::common::config(), &[("d", &document)]);
    let found = passages(&searcher, Subject::Text(query.clone()));
    assert_eq!(found.len(), 1);
    assert_eq!(cut(&query, found[0].a), quoted);
    assert_eq!(cut(&document, found[0].b), quoted);
    assert_eq!((found[0].unit, found[0].tokens, found[0].similarity), (Unit::Bytes, 62, 1.0));
}

#[test]
fn small_edits_do_not_cut_a_passage() {
    let original = words(1, 200);
    // Every ninth word is replaced, every twentieth is removed, and a new word follows every
    // thirtieth.
    let edited: Vec<String> = original
        .split(' ')
        .enumerate()
        .filter(|(i, _)| i % 20 != 7)
        .flat_map(|(i, word)| match i {
            i if i % 9 == 4 => vec![format!("x{i}")],
            i if i % 30 == 11 => vec![word.to_owned(), format!("y{i}")],
            _ => vec![word.to_owned()],
        })
        .collect();
    let edited = edited.join(" ");
    let query = format!("{} {edited} {}", words(2, 100), words(3, 100));
    let searcher = index(crate::common::config(), &[("d", &original)]);
    let found = passages(&searcher, Subject::Text(query.clone()));
    assert_eq!(found.len(), 1, "{found:?}");
    let (text, hit) = (cut(&query, found[0].a), cut(&original, found[0].b));
    // Edits may have removed a word or two at the ends.
    assert!(text.len() + 20 > edited.len() && edited.contains(text));
    assert!(hit.len() + 20 > original.len());
    assert!((0.8..0.95).contains(&found[0].similarity), "{}", found[0].similarity);
}

#[test]
fn unrelated_neighbors_are_not_merged() {
    let (one, other) = (words(1, 40), words(2, 40));
    let document = format!("{one} {} {other}", words(3, 300));
    let query = format!("{one} {other}");
    let searcher = index(crate::common::config(), &[("d", &document)]);
    let found = passages(&searcher, Subject::Text(query.clone()));
    let texts: Vec<&str> = found.iter().map(|passage| cut(&query, passage.a)).collect();
    assert_eq!(texts, [&one, &other]);
    let texts: Vec<&str> = found.iter().map(|passage| cut(&document, passage.b)).collect();
    assert_eq!(texts, [&one, &other]);
    // The opposite order makes no difference.
    let query = format!("{other} {one}");
    assert_eq!(passages(&searcher, Subject::Text(query)).len(), 2);
}

#[test]
fn a_rewritten_passage_around_one_that_is_copied_from_elsewhere_leaves_that_one_a_passage() {
    // One, two and three together are a rewritten passage around `long`. `long` comes from a
    // different place, so it is a separate passage. One and two are adjacent on both sides, in
    // different orders.
    let [one, two, three] = [11, 12, 13].map(|seed| words(seed, 16));
    let long = words(14, 55);
    let query = format!("{}. {one}. {two}. {long}. {three}. {}.", words(15, 50), words(16, 50));
    let fillers = [17, 18, 19].map(|seed| {
        let sentences: Vec<String> = (0..6).map(|at| words(seed << 8 | at, 20)).collect();
        sentences.join(". ")
    });
    let [before, between, after] = fillers;
    let document = format!("{before}. {two}. {one}. {three}. {between}. {long}. {after}.");
    let found = compare(&query, &document).passages;
    let texts: Vec<&str> = found.iter().map(|passage| cut(&query, passage.a)).collect();
    let around = format!("{one}. {two}. {long}. {three}");
    assert_eq!(texts, [&*around, &*long]);
}

#[test]
fn a_passage_that_the_longer_text_repeats_is_given_each_time_and_one_of_the_shorter_once() {
    let passage = words(1, 50);
    let longer = format!("{passage} {} {passage}", words(2, 200));
    let once = format!("{} {passage}", words(3, 400));
    for (query, document, expected) in
        [(&passage, &longer, 2), (&longer, &passage, 2), (&once, &longer, 1), (&longer, &once, 1)]
    {
        let searcher = index(crate::common::config(), &[("d", document)]);
        assert_eq!(passages(&searcher, Subject::Text(query.clone())).len(), expected);
    }
}

#[test]
fn a_rewritten_passage_is_found_sentence_by_sentence() {
    let original = "The harbour master closed the northern lock before the storm arrived. Three \
        barges loaded with timber were moored along the quay. Their crews spent the night in the \
        chapel above the village. At dawn the water had risen by two metres and covered the road.";
    let rewritten = "Before the storm arrived, the northern lock had been closed by the harbour \
        master. Along the quay three barges lay moored, with timber loaded. The crews of them \
        spent in the chapel above the village that night. The road was covered at dawn, as the \
        water had by two metres risen.";
    let query = format!("{}. {rewritten} {}.", words(5, 80), words(6, 80));
    let document = format!("{}. {original} {}.", words(7, 80), words(8, 80));
    let found = compare(&query, &document).passages;
    assert_eq!(found.len(), 1, "{found:?}");
    let (text, hit) = (cut(&query, found[0].a), cut(&document, found[0].b));
    assert!(text.starts_with("Before the storm") && text.ends_with("risen"), "{text}");
    assert!(hit.starts_with("The harbour") && hit.ends_with("road"), "{hit}");
    assert!(found[0].similarity < 0.95);
}

#[test]
fn without_stored_text_a_passage_is_a_range_of_tokens() {
    let quoted = words(1, 120);
    let document = format!("{} {quoted} {}", words(2, 300), words(3, 100));
    let query = format!("{} {quoted} {}", words(4, 50), words(5, 50));
    let config = || Config::new("winnow(k=5,w=10)", "words", false).unwrap();
    let searcher = index(config(), &[("d", &document)]);
    let (tokens, fingerprints) = config().sign(&query).unwrap();
    let by_text = passages(&searcher, Subject::Text(query));
    let by_signature = passages(&searcher, Subject::Signature { tokens, fingerprints });
    assert_eq!(by_text, by_signature);
    let [passage] = &by_text[..] else { panic!("one passage: {by_text:?}") };
    assert_eq!(passage.unit, Unit::Tokens);
    // One fingerprint is taken from every ten runs of five tokens.
    let near = |(start, end): (u32, u32), from: u32| {
        (from..from + 15).contains(&start) && (from + 105..=from + 120).contains(&end)
    };
    assert!(near(passage.a, 50) && near(passage.b, 300), "{passage:?}");
    assert!(passage.similarity > 0.8);
    let json = serde_json::to_value(passage).unwrap();
    assert_eq!(json["unit"], "tokens");
}

/// A phrase of `count` words among other words, in a document and in a query.
fn phrase_in_both(count: usize) -> (String, String, String) {
    let phrase = words(1, count);
    let document = format!("{} {phrase} {}", words(2, 100), words(3, 100));
    let query = format!("{} {phrase} {}", words(4, 100), words(5, 100));
    (phrase, document, query)
}

#[test]
fn a_chance_phrase_is_shown_only_on_request() {
    let (phrase, document, query) = phrase_in_both(8);
    let config = || Config::new("kgram(k=5)", "words", true).unwrap();
    let searcher = index(config(), &[("d", &document)]);
    let all = Query::text(query.as_str()).passages(true);
    let hits = searcher.search(&all).unwrap().hits;
    assert_eq!(hits[0].passages, Some(Vec::new()), "a hit by its fingerprints, with no passage");
    for (min_passage, count) in [(8, 1), (9, 0), (12, 0)] {
        let long = Query::text(query.as_str()).min_passage(min_passage);
        let hits = searcher.search(&long).unwrap().hits;
        assert_eq!(hits.len(), count, "{min_passage}");
        for hit in hits {
            let found = &hit.passages.unwrap()[0];
            assert_eq!((cut(&query, found.a), cut(&document, found.b)), (&*phrase, &*phrase));
        }
    }
    // Without texts the index knows no more than fingerprints.
    let bare = index(config().with_text(false).unwrap(), &[("d", &document)]);
    assert_eq!(bare.search(&all).unwrap().hits[0].passages.as_ref().map(Vec::len), Some(1));
    let long = |tokens| all.clone().min_passage(tokens);
    assert_eq!(bare.search(&long(8)).unwrap().hits.len(), 1);
    assert_eq!(bare.search(&long(9)).unwrap().hits.len(), 0);
}

#[test]
fn all_of_a_short_text_is_no_chance() {
    let title = words(1, 7);
    let config = Config::new("kgram(k=5)", "words", true).unwrap();
    let document = format!("{} {title} {}", words(2, 100), words(3, 100));
    let searcher = index(config, &[("d", &document)]);
    let found = passages(&searcher, Subject::Text(title.clone()));
    assert_eq!((found.len(), cut(&document, found[0].b)), (1, &*title));
}

#[test]
fn a_token_in_two_passages_counts_once_for_the_rank() {
    // Two passages of `stitched` share ten of thirty tokens, so `stitched` has no more than the
    // copy.
    let text = words(1, 30);
    let tokens: Vec<&str> = text.split(' ').collect();
    let stitched =
        format!("{} {} {}", tokens[..20].join(" "), words(2, 150), tokens[10..].join(" "));
    let documents = [("copy", &*text), ("stitched", &*stitched)];
    let searcher = index(Config::new("kgram(k=5)", "words", true).unwrap(), &documents);
    let query = Query::text(text.as_str()).rank(Rank::Passages).passages(true);
    let hits = searcher.search(&query).unwrap().hits;
    let found: Vec<_> = hits.iter().map(|hit| (&*hit.id, hit.passage_tokens.unwrap())).collect();
    assert_eq!(found, [("copy", 30), ("stitched", 30)]);
    let lengths = |passages: &[Passage]| passages.iter().map(|p| p.tokens).collect::<Vec<_>>();
    assert_eq!(lengths(hits[1].passages.as_ref().unwrap()), [20, 20]);
    // Passages that are too short to be shown do not count.
    let long = query.min_passage(21);
    assert_eq!(searcher.search(&long).unwrap().hits.len(), 1);
    let options = any_pair().passages(true).rank(PairRank::Passages).limit(1usize);
    let pairs: Vec<_> = pairs(&searcher, &options).map(Result::unwrap).collect();
    assert_eq!(lengths(&pairs[0].passages.as_ref().unwrap().found), [20, 20]);
    assert_eq!(pairs[0].passage_tokens, Some(30));
}

#[test]
fn the_passages_of_the_best_pairs_are_those_of_all() {
    // Passages are searched for only in the pairs that are shown.
    let [one, two] = [words(1, 60), words(2, 60)];
    let documents = [
        ("a", format!("{one} {two}")),
        ("b", one.clone()),
        ("c", format!("{} {two}", words(3, 40))),
        ("d", format!("{} {one}", words(4, 30))),
    ];
    let documents: Vec<(&str, &str)> = documents.iter().map(|(id, text)| (*id, &**text)).collect();
    let searcher = index(Config::new("kgram(k=5)", "words", true).unwrap(), &documents);
    let options = any_pair().passages(true);
    let all: Vec<_> = pairs(&searcher, &options).map(Result::unwrap).collect();
    let options = options.limit(3usize);
    let mut best = pairs(&searcher, &options);
    let shown: Vec<_> = best.by_ref().map(Result::unwrap).collect();
    assert_eq!((best.total(), shown.len()), (all.len() as u64, 3));
    for pair in &shown {
        assert!(pair.passages.as_ref().is_some_and(|passages| !passages.found.is_empty()));
        assert!(all.contains(pair), "{pair:?}");
    }
    // Without texts there are no passages, however few pairs are shown.
    let searcher = index(Config::new("kgram(k=5)", "words", false).unwrap(), &documents);
    assert!(pairs(&searcher, &options).next().unwrap().is_err());
}

/// Pairs that share anything.
fn any_pair() -> PairOptions {
    PairOptions::default().thresholds(Thresholds::default().min_overlap(1))
}

/// The passages of two texts by a search for the first text, by comparison, and as a pair, each
/// with its tokens and similarity.
pub fn found_by_all(scheme: &str, [a, b]: [&str; 2], min: Option<u32>) -> [Vec<(u32, f64)>; 3] {
    let config = || Config::new(scheme, "words", true).unwrap();
    let of = |passages: &[Passage]| passages.iter().map(|p| (p.tokens, p.similarity)).collect();
    let searcher = index(config(), &[("a", a), ("b", b)]);
    let query = Query::id("a").passages(true).min_passage(min);
    let hits = searcher.search(&query).unwrap().hits;
    let by_search = hits.first().map_or(Vec::new(), |hit| of(hit.passages.as_ref().unwrap()));
    let Config { scheme, analyzer, .. } = config();
    let options = CompareOptions::default().min_passage(min);
    let compared =
        cento::compare_by(&scheme, &analyzer, TextPair::new(a, b), &[], &options, Stop::NEVER)
            .unwrap();
    let compared = compared.passages;
    let by_comparison = compared.iter().map(|p| (p.tokens, p.similarity)).collect();
    let found = pairs(&searcher, &any_pair().passages(true).min_passage(min));
    let as_pair = found
        .flat_map(|pair| -> Vec<_> { of(&pair.unwrap().passages.as_ref().unwrap().found) })
        .collect();
    [by_search, by_comparison, as_pair]
}

#[test]
fn all_of_a_short_text_is_a_passage_for_search_comparison_and_pairs() {
    let title = words(1, 8);
    let long = format!("{} {title} {}", words(2, 100), words(3, 100));
    let whole = vec![(8, 1.0)];
    for scheme in ["winnow(k=5,w=10)", "kgram(k=2)"] {
        let found = |min| found_by_all(scheme, [&title, &title], min);
        for min in [None, Some(5), Some(8)] {
            assert_eq!(found(min), [whole.clone(), whole.clone(), whole.clone()], "{min:?}");
        }
        assert_eq!(found(Some(9)), [const { Vec::new() }; 3]);
    }
    // The title is inside a longer text, as the query or as the document.
    for texts in [[&*title, &*long], [&*long, &*title]] {
        for min in [None, Some(8)] {
            let expected = [whole.clone(), whole.clone(), whole.clone()];
            assert_eq!(found_by_all("kgram(k=5)", texts, min), expected, "{min:?}");
        }
    }
    // A part of the title is chance.
    let other = format!("{} other words", words(1, 6));
    assert_eq!(found_by_all("kgram(k=5)", [&title, &other], None), [const { Vec::new() }; 3]);
}

#[test]
fn a_text_is_short_if_all_of_its_words_are_few() {
    // Seven and fourteen words. Six and eleven words are signed.
    let config = || Config::new("kgram(k=2)", "avtor(language=en)", true).unwrap();
    let found = |query: &str, document: &str| {
        let searcher = index(config(), &[("d", document)]);
        passages(&searcher, Subject::Text(query.into()))
    };
    let query = "Captains sailed the green harbour boats north";
    let document = "They said: captain sails some green harbour boat north, and were glad";
    assert_eq!(config().sign(query).unwrap().0, 6);
    // The passage is the whole text, as it was signed.
    let whole = found(query, document);
    assert_eq!(whole.len(), 1);
    assert_eq!((cut(query, whole[0].a), whole[0].tokens), (query, 7));
    let query = "Captains sailed the green harbour boats north of a winter storm carrying timber \
        barges";
    let document = "Captains sailed some green harbour boats north from their winter storm \
        carrying other timber barges";
    assert_eq!(config().sign(query).unwrap().0, 11);
    assert_eq!(found(query, document), []);
}

#[test]
fn hits_without_a_long_passage_make_room_for_others() {
    // Several documents have many phrases of the query, and one has fewer fingerprints but a
    // passage.
    let query = words(1, 600);
    let kept: Vec<&str> = query.split(' ').collect();
    let phrases = |seed: u64| {
        let mut text = String::new();
        for (at, phrase) in (0u64..).zip(kept[..400].chunks(25)) {
            text += &format!("{} {} ", phrase[..9].join(" "), words(seed << 10 | at, 30));
        }
        text
    };
    let many = [phrases(2), phrases(3), phrases(4)];
    let one = format!("{} {}", words(5, 50), kept[500..540].join(" "));
    let config = || Config::new("kgram(k=5)", "words", true).unwrap();
    let documents = [("p", &*many[0]), ("q", &*many[1]), ("r", &*many[2]), ("z", &*one)];
    let searcher = index(config(), &documents);
    let ids = |query: &Query| -> Vec<String> {
        searcher.search(query).unwrap().hits.into_iter().map(|hit| hit.id).collect()
    };
    let best = Query::text(query.as_str()).limit(1);
    assert_eq!(ids(&best), ["p"]);
    for goal in [Goal::Hits, Goal::Trace] {
        let long = best.clone().min_passage(40).goal(goal);
        assert_eq!(ids(&long), ["z"], "{goal:?}");
        assert!(ids(&long.min_passage(41)).is_empty(), "{goal:?}");
    }
    let refused = best.min_passage(40).goal(Goal::Passage);
    assert!(searcher.search(&refused).unwrap_err().to_string().contains("min_passage"));
}

#[test]
fn passages_are_looked_for_in_the_candidates_alone() {
    // Once the verified documents were tried in turn until enough of them had a passage.
    let query = words(1, 600);
    let kept: Vec<&str> = query.split(' ').collect();
    let phrases = |part: usize| {
        let mut text = String::new();
        for (at, phrase) in (0u64..).zip(kept[part * 200..(part + 1) * 200].chunks(20)) {
            text +=
                &format!("{} {} ", phrase[..9].join(" "), words((part as u64 + 2) << 10 | at, 30));
        }
        text
    };
    let heavy = [phrases(0), phrases(1), phrases(2)];
    let light = format!("{} {}", words(5, 600), kept[500..540].join(" "));
    let documents = [("p", &*heavy[0]), ("q", &*heavy[1]), ("r", &*heavy[2]), ("z", &*light)];
    let searcher = index(Config::new("kgram(k=5)", "words", true).unwrap(), &documents);
    let ids = |query: &Query| -> Vec<String> {
        searcher.search(query).unwrap().hits.into_iter().map(|hit| hit.id).collect()
    };
    for verify in [None, Some("overlap".to_owned())] {
        let best = Query::text(query.as_str()).rank(Rank::Weight).limit(4);
        assert_eq!(ids(&best)[3], "z", "by weight it is the last");
        let mut one = best.rank(Rank::Passages).min_passage(40).limit(1).candidates(3);
        one.options.verify = verify;
        assert!(ids(&one).is_empty(), "{:?}", one.options.verify);
        assert_eq!(ids(&one.clone().candidates(4)), ["z"]);
        // There are as many candidates as the limit of hits.
        assert_eq!(ids(&one.limit(4)), ["z"]);
    }
}

/// Documents with 12 runs of five words of `query` each, which are too short for passages.
fn with_chance_runs(query: &str, count: u64) -> Vec<(String, String)> {
    let kept: Vec<&str> = query.split(' ').collect();
    let document = |number: u64| {
        let runs = (0u64..12).map(|at| {
            let run = kept[at as usize * 20..][..5].join(" ");
            format!("{run} {}", words((number + 9) << 10 | at, 30))
        });
        (format!("chance{number:02}"), runs.collect::<Vec<_>>().join(" "))
    };
    (0..count).map(document).collect()
}

fn ids_of(documents: &[(String, String)], query: &Query) -> Vec<String> {
    let config = Config::new("kgram(k=5)", "words", true).unwrap();
    let documents: Vec<(&str, &str)> =
        documents.iter().map(|(id, text)| (id.as_str(), text.as_str())).collect();
    let hits = index(config, &documents).search(query).unwrap().hits;
    hits.into_iter().map(|hit| hit.id).collect()
}

#[test]
fn without_a_limit_all_sources_are_found() {
    // Once only ten sources were found, whatever their number, and the answer looked complete.
    let sources: Vec<(String, String)> = (0..25)
        .map(|n| {
            (format!("source{n:02}"), format!("{} {}", words(100 + n, 40), words(500 + n, 300)))
        })
        .collect();
    let query: Vec<String> = (0..25).map(|n| words(100 + n, 40)).collect();
    let query = query.join(" and then ");
    let plain = Query::text(query.as_str());
    let passages = plain.clone().passages(true);
    for (expected, query) in [
        (10, plain.clone()),
        (25, passages.clone()),
        (25, passages.clone().rank(Rank::Weight)),
        (25, plain.clone().rank(Rank::Passages)),
        (25, plain.clone().min_passage(20)),
        (25, plain.clone().goal(Goal::Trace)),
        // A given limit is obeyed.
        (3, passages.clone().limit(3)),
        (3, plain.clone().limit(3).rank(Rank::Passages)),
        (3, plain.clone().limit(3).goal(Goal::Trace)),
        (12, plain.clone().candidates(12).rank(Rank::Passages)),
        (25, passages.limit(100)),
    ] {
        assert_eq!(ids_of(&sources, &query).len(), expected, "{query:?}");
    }
}

#[test]
fn passages_are_looked_for_until_thirty_documents_in_a_row_have_none() {
    let query = words(1, 300);
    let passages = Query::text(query.as_str()).passages(true);
    let kept: Vec<&str> = query.split(' ').collect();
    let source = format!("{} {} {}", words(7, 100), kept[280..295].join(" "), words(8, 100));
    for (chance, is_found) in [(29, true), (30, false)] {
        let mut documents = with_chance_runs(&query, chance);
        documents.push(("source".into(), source.clone()));
        for query in [passages.clone(), passages.clone().goal(Goal::Hits).min_passage(12)] {
            let found = ids_of(&documents, &query);
            assert_eq!(found.contains(&"source".into()), is_found, "{chance}: {found:?}");
        }
        let all = passages.clone().limit(100);
        assert_eq!(ids_of(&documents, &all).last().unwrap(), "source", "it ranks last");
        // If nothing follows, the best ten documents without a passage are shown.
        let few = ids_of(&documents, &passages).len();
        assert_eq!(few, if is_found { 30 } else { 10 });
    }
}

#[test]
fn a_summary_is_one_passage_of_the_whole() {
    let sentences: Vec<String> = (0..40).map(|at| words(100 + at, 14)).collect();
    // Every sixth sentence without its last words, three words at a time in reverse order.
    let shortened = |sentence: &String| {
        let words: Vec<&str> = sentence.split(' ').take(11).collect();
        words.chunks(3).rev().flatten().copied().collect::<Vec<&str>>().join(" ")
    };
    let kept: Vec<String> = sentences.iter().step_by(6).map(shortened).collect();
    let summary = kept.join(". ");
    let query = format!("{}. {summary}. {}.", words(5, 80), words(6, 80));
    let document = sentences.join(". ");
    let found = compare(&query, &document).passages;
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(cut(&query, found[0].a), summary);
    assert!(document.starts_with(cut(&document, found[0].b)));
    assert_eq!(found[0].tokens, 77);
}

#[test]
fn a_text_shorter_than_a_fingerprint_has_no_more_tokens_than_it_has() {
    for store_text in [true, false] {
        let config = Config::new("winnow(k=5,w=10)", "words", store_text).unwrap();
        let searcher = index(config, &[("d", "hello world")]);
        let found = passages(&searcher, Subject::Text("hello world".into()));
        let end = if store_text { 11 } else { 2 };
        assert_eq!((found[0].a, found[0].b, found[0].tokens), ((0, end), (0, end), 2));
    }
}

#[test]
fn hits_that_fail_verification_make_room_for_others() {
    // The first document has every run of five words with a fingerprint, and little else of the
    // query. The second document has four fifths of the query.
    let query = words(1, 300);
    let sampled = Config::new("mod(k=5,p=20)", "words", true).unwrap();
    let signature = sampled.sign(&query).unwrap().1;
    let kept: Vec<&str> = query.split(' ').collect();
    let mut fake = String::new();
    for fingerprint in &signature {
        let at = fingerprint.position as usize;
        fake += &kept[at..at + 5].join(" ");
        fake += &format!(" {} ", words(u64::from(fingerprint.position), 40));
    }
    let documents = [("a-fake", fake.as_str()), ("true", &query[..query.len() * 4 / 5])];
    let searcher = index(sampled, &documents);
    let all = Query::text(query.as_str()).limit(2);
    let hits = searcher.search(&all).unwrap().hits;
    assert_eq!(hits[0].id, "a-fake", "by fingerprints it is the better one");
    for goal in [Goal::Hits, Goal::Trace] {
        let one = all.clone().limit(1).verify("containment").min_containment(0.5).goal(goal);
        let answer = searcher.search(&one).unwrap();
        assert_eq!(answer.hits[0].id, "true");
        if goal == Goal::Trace {
            assert!(answer.hits[0].adds.is_some());
        }
    }
}

#[test]
fn one_sentence_rewritten_is_found() {
    let one = "The harbour master closed the northern lock before the storm arrived while three \
        barges loaded with timber were moored along the quay and their crews spent the night";
    let other = "Before the storm arrived the northern lock was closed by the harbour master and \
        along the quay three barges were moored, timber loaded, the night spent by their crews";
    assert_eq!(compare(one, other).passages.len(), 1);
}

#[test]
fn verification_measures_all_of_both_texts() {
    let (document, query) = (words(1, 300), format!("{} {}", words(1, 100), words(2, 100)));
    let searcher = index(crate::common::config(), &[("d", &document)]);
    let search = |measure: &str, min_containment, min_similarity| {
        let query = Query::text(query.as_str())
            .verify(measure)
            .min_containment(min_containment)
            .min_similarity(min_similarity);
        searcher.search(&query).unwrap().hits
    };
    let similarity = |measure| search(measure, 0.0, 0.0)[0].verified.clone().unwrap().similarity;
    // 96 of the 196 runs of five words in the query, and of the 296 runs in the document.
    assert_eq!(similarity("containment"), 96.0 / 196.0);
    assert_eq!(similarity("resemblance"), 96.0 / 396.0);
    assert_eq!(similarity("overlap"), 100.0 / 200.0);
    assert_eq!(search("containment", 0.4, 0.0).len(), 1);
    assert_eq!(search("containment", 0.495, 0.0).len(), 0);
    assert_eq!(search("resemblance", 0.4, 0.2).len(), 1);
    assert_eq!(search("resemblance", 0.4, 0.3).len(), 0);
    let config = Config::new("winnow(k=5,w=10)", "words", false).unwrap();
    let without_text = index(config, &[("d", &document)]);
    let error = without_text.search(&Query::text(query).verify("resemblance")).unwrap_err();
    assert!(error.to_string().contains("verif"), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn passages_of_any_texts_are_ranges_of_them(
        a in "([a-c \\n.,\u{e9}\u{4e00}]{0,3}[a-c]{1,2}){1,120}",
        b in "([a-c \\n.,\u{e9}\u{4e00}]{0,3}[a-c]{1,2}){1,120}",
    ) {
        for passage in compare(&a, &b).passages {
            prop_assert!(!cut(&a, passage.a).is_empty() && !cut(&b, passage.b).is_empty());
            prop_assert!((0.0..=1.0).contains(&passage.similarity));
        }
    }

    #[test]
    fn a_text_is_one_passage_of_itself(seed: u64, count in 1usize..400) {
        let text = words(seed, count);
        let passages = compare(&text, &text).passages;
        prop_assert_eq!(passages.len(), 1);
        prop_assert_eq!(passages[0].a, (0, text.len() as u32));
        prop_assert_eq!(passages[0].similarity, 1.0);
    }
}
