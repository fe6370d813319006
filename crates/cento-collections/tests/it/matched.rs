//! Words of passages: which words the document has, and which words do not count.

use crate::common::words;
use crate::passages::{compare, cut, index, passages};
use cento::index::Config;
use cento::search::{Query, Searcher, Subject};
use cento::{Analyzer, Boilerplate, Comparison, Passage, Stop, Tokens, Unit};
use cento_collections::Thresholds;
use cento_collections::pairs::{PairOptions, PairRank, pairs};

/// The share of a text's tokens that its passages report as matched.
fn matched(found: impl Iterator<Item = u32>, text: &str) -> f64 {
    let mut tokens = Tokens::default();
    Analyzer::default().analyze(text, &mut tokens, Stop::NEVER).unwrap();
    let count: u32 = found.sum();
    f64::from(count) / tokens.hashes.len() as f64
}

#[test]
fn a_passage_counts_the_words_that_the_document_has() {
    // Eight of every twenty words are from the document, and a passage spans the whole.
    let mixed = |seed: u64| {
        let (shared, own) = (words(1, 320), words(seed, 480));
        let (shared, own): (Vec<_>, Vec<_>) =
            (shared.split(' ').collect(), own.split(' ').collect());
        let blocks = shared.chunks(8).zip(own.chunks(12));
        blocks.map(|(a, b)| [a, b].concat().join(" ")).collect::<Vec<_>>().join(" ")
    };
    let (query, document) = (mixed(2), mixed(3));
    let found = compare(&query, &document).passages;
    let spanned: u32 = found.iter().map(|passage| passage.tokens).sum();
    assert!(spanned > 700, "{found:?}");
    let share = matched(found.iter().map(|passage| passage.matched), &query);
    assert!((share - 0.4).abs() < 0.02, "{share}");
    for passage in &found {
        let ranges = passage.matched_in_a();
        assert!(ranges.is_sorted_by(|a, b| a.1 < b.0));
        assert!(passage.a.0 <= ranges[0].0 && ranges[ranges.len() - 1].1 <= passage.a.1);
        // The document has each matched word here, within the passage.
        let hit = cut(&document, passage.b);
        assert!(ranges.iter().all(|&range| hit.contains(cut(&query, range))), "{passage:?}");
    }
    // A copy is matched completely and needs no list of ranges.
    let whole = compare(&words(1, 60), &format!("{} {}", words(4, 40), words(1, 60))).passages;
    assert_eq!((whole[0].matched, whole[0].tokens), (60, 60));
    assert!(whole[0].matched_ranges.is_empty());
}

#[test]
fn a_range_of_fingerprints_counts_the_tokens_that_they_cover() {
    let config = || Config::new("winnow(k=5,w=10)", "words", false).unwrap();
    let document = words(1, 200);
    let searcher = index(config(), &[("d", &document)]);
    let copy = format!("{} {document}", words(2, 50));
    let found = passages(&searcher, Subject::Text(copy));
    assert_eq!((found.len(), found[0].unit), (1, Unit::Tokens));
    assert_eq!((found[0].matched, found[0].matched_ranges.len()), (found[0].tokens, 0));
    // Twenty of every forty words differ.
    let half: Vec<String> = document
        .split(' ')
        .enumerate()
        .map(|(i, word)| if i % 40 < 20 { word.to_owned() } else { format!("x{i}") })
        .collect();
    let found = passages(&searcher, Subject::Text(half.join(" ")));
    let (matched, tokens) =
        found.iter().fold((0, 0), |sum, passage| (sum.0 + passage.matched, sum.1 + passage.tokens));
    assert!((50..=105).contains(&matched) && matched < tokens, "{found:?}");
}

/// The worksheet of an assignment, and two submissions with answers.
fn submissions() -> (String, [String; 2]) {
    let sheet = words(1, 130);
    let parts: Vec<&str> = sheet.split(' ').collect();
    let filled = |seed: u64| {
        let answers = [words(seed, 60), words(seed + 1, 60)];
        format!("{} {} {} {}", parts[..70].join(" "), answers[0], parts[70..].join(" "), answers[1])
    };
    (sheet.clone(), [filled(10), filled(20)])
}

fn without(searcher: Searcher, text: &str) -> Searcher {
    let boilerplate = Boilerplate::new(searcher.snapshot().config()).unwrap();
    searcher.excluding(boilerplate.with_texts([text], Stop::NEVER).unwrap(), Stop::NEVER).unwrap()
}

#[test]
fn boilerplate_makes_no_passage_and_no_matched_word() {
    for analyzer in ["words", "avtor(language=en)"] {
        let (sheet, [honest, other]) = submissions();
        let config = Config::new("winnow(k=3,w=4)", analyzer, true).unwrap();
        // This submission has the answers of another submission, and two words of its own.
        let copied = other.replace(&words(20, 60), &format!("{} again twice", words(20, 60)));
        let searcher = index(config, &[("other", &other), ("copied", &copied)]);
        let searcher = without(searcher, &sheet);
        for id in ["other", "copied"] {
            let of_honest =
                searcher.passages(&Subject::Text(honest.clone()), id, Stop::NEVER).unwrap();
            assert_eq!(of_honest.found, [], "{analyzer}");
        }
        let found =
            searcher.passages(&Subject::Text(copied.clone()), "other", Stop::NEVER).unwrap().found;
        let answers = [words(20, 60), words(21, 60)];
        assert_eq!(found.iter().map(|passage| passage.matched).sum::<u32>(), 120, "{found:?}");
        for passage in &found {
            for &range in passage.matched_in_a() {
                let text = cut(&copied, range);
                assert!(answers.iter().any(|answer| answer.contains(text)), "{text}");
            }
            let (first, last) = (cut(&copied, passage.a), cut(&other, passage.b));
            assert!(answers.iter().any(|answer| first.starts_with(&answer[..20])), "{first}");
            assert!(answers.iter().any(|answer| last.ends_with(&answer[answer.len() - 20..])));
        }
        // The answer tells where the worksheet is.
        let query = Query::text(copied.as_str()).passages(true);
        let boilerplate = searcher.search(&query).unwrap().query.boilerplate;
        let shown: Vec<&str> = boilerplate.iter().map(|&range| cut(&copied, range)).collect();
        assert_eq!(shown.join(" "), sheet);
    }
}

#[test]
fn a_search_for_passages_is_exact_without_boilerplate_and_whatever_tokens_passages_have() {
    // Once the text was split for passages only, and then the numbers were numbers of sketches.
    for (scheme, analyzer) in [
        ("winnow(k=3,w=4)", "words"),
        ("winnow(k=3,w=4)", "avtor(language=en)"),
        ("winnow(k=16,w=8)", "letters"),
    ] {
        let (sheet, [honest, other]) = submissions();
        let config = Config::new(scheme, analyzer, true).unwrap();
        let copied = other.replace(&words(20, 60), &format!("{} again twice", words(20, 60)));
        let documents = [("other", &other[..]), ("copied", &copied), ("honest", &honest)];
        let whole = index(config, &documents);
        let rest = without(whole.clone(), &sheet);
        for (searcher, name) in [(whole, "whole"), (rest, "rest")] {
            let of = |query: Query| {
                let hits = searcher.search(&query).unwrap().hits;
                hits.into_iter().map(|hit| (hit.id, hit.similarity)).collect::<Vec<_>>()
            };
            let query = || Query::text(copied.as_str()).min_overlap(1u32);
            let measured = of(query().verify("containment"));
            assert!(!measured.is_empty(), "{analyzer} {name}");
            assert!(measured.iter().all(|(_, similarity)| similarity.exact), "{measured:?}");
            assert_eq!(of(query().passages(true)), measured, "{analyzer} {name}");
            let both = query().verify("containment").passages(true);
            assert_eq!(of(both), measured, "{analyzer} {name}");
        }
    }
}

#[test]
fn pairs_have_no_passage_in_boilerplate() {
    let (sheet, [one, other]) = submissions();
    let shared = format!("{one} {}", words(30, 50));
    let documents = [("a", &shared[..]), ("b", &format!("{other} {}", words(30, 50)))];
    let searcher = without(index(crate::common::config(), &documents), &sheet);
    let thresholds = Thresholds::default().min_overlap(1);
    let options = PairOptions::default().thresholds(thresholds).passages(true);
    let found: Vec<_> = pairs(&searcher, &options).map(Result::unwrap).collect();
    let passages = found[0].passages.clone().unwrap().found;
    assert_eq!(passages.len(), 1);
    assert_eq!(cut(&shared, passages[0].a), words(30, 50));
    // Ranked pairs too: unless passages decide, they are searched for in the best pairs only.
    for rank in [PairRank::Overlap, PairRank::Passages] {
        let best = pairs(&searcher, &options.clone().rank(rank).limit(5usize)).next();
        assert_eq!(best.unwrap().unwrap().passages.unwrap().found, passages, "{rank:?}");
    }
}

/// Whether both programs have the same tokens in a passage.
fn is_run(passage: &Passage, [a, b]: [&str; 2]) -> bool {
    let analyzer: Analyzer = "code(language=java)".parse().unwrap();
    let tokens = |text: &str, (start, end): (u32, u32)| {
        let mut tokens = Tokens::default();
        analyzer.analyze(text, &mut tokens, Stop::NEVER).unwrap();
        let hashes = tokens.hashes.into_iter().zip(tokens.spans);
        let inside = hashes.filter(|(_, span)| start <= span.start && span.end <= end);
        inside.filter(|(_, span)| span.start < span.end).map(|found| found.0).collect::<Vec<_>>()
    };
    tokens(a, passage.a) == tokens(b, passage.b)
}

const SUM: &str = "class Sum {
    // Adds even elements.
    static int sum(int[] values) {
        int total = 0;
        for (int i = 0; i < values.length; i++) {
            if (values[i] % 2 == 0) { total += values[i]; }
        }
        return total;
    }
    public static void main(String[] args) {
        System.out.println(sum(new int[] { 1, 2, 3, 4 }));
    }
}
";

const WORDS: &str = "import java.util.Map;
class Words {
    private final Map<String, Integer> counts = new java.util.TreeMap<>();
    void add(String line) {
        for (String word : line.trim().split(\" \")) {
            while (word.endsWith(\".\")) word = word.substring(0, word.length() - 1);
            counts.merge(word, 1, Integer::sum);
        }
    }
    String first() {
        return counts.isEmpty() ? null : counts.keySet().iterator().next();
    }
}
";

#[test]
fn a_passage_of_programs_is_a_run_of_equal_tokens() {
    let config = Config::new("winnow(k=5,w=4)", "code(language=java)", true).unwrap();
    let compare =
        |a: &str, b: &str| cento::compare(&config.scheme, &config.analyzer, a, b).unwrap();
    // Independent programs have no passage across differing parts.
    let independent = compare(SUM, WORDS);
    assert!(independent.passages.iter().all(|passage| is_run(passage, [SUM, WORDS])));
    let mut tokens = Tokens::default();
    config.analyzer.analyze(SUM, &mut tokens, Stop::NEVER).unwrap();
    let share = |found: &Comparison| {
        let matched: u32 = found.passages.iter().map(|passage| passage.matched).sum();
        f64::from(matched) / tokens.hashes.len() as f64
    };
    assert!(share(&independent) < 0.25, "{independent:?}");
    // With different names and another comment, everything is a copy except the added statement.
    let renamed = SUM.replace("total", "result").replace("values", "numbers");
    let renamed = renamed.replace("Adds even elements", "Mine");
    let copy = renamed.replace("return result", "assert result > 0; return result");
    let found = compare(&copy, SUM);
    assert_eq!(found.passages.len(), 2, "{found:?}");
    assert!(found.passages.iter().all(|passage| is_run(passage, [&copy, SUM])));
    let whole = compare(&renamed, SUM);
    assert_eq!((whole.passages.len(), share(&whole)), (1, 1.0));
    // A comment inside a passage is no matched text.
    let matched = whole.passages[0].matched_in_a();
    assert!(
        matched.len() == 2 && matched.iter().all(|&range| !cut(&renamed, range).contains("Mine"))
    );
    let starts = config.analyzer.program_tokens(&renamed).unwrap().unwrap();
    let comment = renamed.find("// Mine").unwrap() as u32;
    assert!(starts.is_sorted() && !starts.contains(&comment) && starts[0] == 0);
    assert_eq!(Analyzer::default().program_tokens(&renamed).unwrap(), None);
}

#[test]
fn programs_without_their_texts_have_no_passage_over_differing_parts() {
    let config = Config::new("winnow(k=5,w=4)", "code(language=java)", false).unwrap();
    let searcher = index(config, &[("sum", SUM), ("words", WORDS)]);
    let renamed = SUM.replace("total", "result");
    let found = searcher.passages(&Subject::Text(renamed), "sum", Stop::NEVER).unwrap().found;
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].matched, found[0].tokens);
    let found =
        searcher.passages(&Subject::Text(SUM.to_owned()), "words", Stop::NEVER).unwrap().found;
    assert!(found.iter().all(|passage| passage.tokens < 20), "{found:?}");
}
