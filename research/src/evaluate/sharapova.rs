//! Sharapova and Sharapova 2018: recall of reordered, inflected and stitched texts.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::ops::Range;
use std::path::PathBuf;

use cento::Stop;
use cento::search::{Query, Searcher};
use cento::text::Tokens;
use clap::Args;
use fastrand::Rng;

use super::{share, trained};
use crate::Result;
use crate::cento::Document;
use crate::measure::{index, texts};

/// Table 1 in shape: tests T1 to T4 made of real documents.
#[derive(Debug, Args)]
pub struct Sharapova {
    /// The documents: a JSON lines file.
    #[arg(long)]
    corpus: PathBuf,
    /// A new directory for indexes.
    #[arg(long)]
    work: PathBuf,
    /// Tests of each kind; the paper has 10.
    #[arg(long, default_value = "50")]
    each: usize,
    /// Seed of the random choices.
    #[arg(long, default_value = "1")]
    seed: u64,
}

/// Scheme, analyzer, and the number of tokens per gram in the frequency table, if the scheme reads
/// a table.
const SCHEMES: [(&str, &str, usize); 13] = [
    (cento::index::REUSE, "avtor(language=en)", 0),
    ("kgram(k=5)", "avtor(language=en)", 0),
    ("kgram(k=5)", "words", 0),
    ("winnow(k=5,w=10)", "words", 0),
    ("winnow(k=3,w=10)", "words", 0),
    ("winnow(k=3,w=10)", "avtor(language=en)", 0),
    ("fbw(q=4,w=146)", "chars", 4),
    ("breaking(p=6)", "words", 0),
    ("minhash(k=5,b=16,r=8)", "words", 0),
    ("simhash(k=2,d=3)", "words", 0),
    ("lsh(b=16,r=8,w=50)", "words", 0),
    ("fuzzy(c=16,r=3,n=3,w=60)", "prefixes", 1),
    ("keywords(min=2,ppm=1000,t=2)", "words", 1),
];

/// Number of words of a test, as in the paper.
const WORDS: usize = 400;

/// A test text, with the source of each range of bytes.
struct Test {
    text: String,
    reused: Vec<(Range<usize>, String)>,
}

impl Sharapova {
    pub(super) fn run(self) -> Result<String> {
        let mut rng = Rng::with_seed(self.seed);
        let all: Vec<Document> = texts(&self.corpus)?;
        let long = all.iter().filter(|document| words(&document.text) >= WORDS);
        let mut long: Vec<&Document> = long.collect();
        rng.shuffle(&mut long);
        if long.len() < 4 * self.each {
            return Err("the corpus has too few documents of 400 words".into());
        }
        // Documents that supply the original text are not indexed.
        let (originals, sources) = long.split_at(self.each);
        let originals: HashSet<&str> =
            originals.iter().map(|document| document.id.as_str()).collect();
        let indexed: Vec<&Document> =
            all.iter().filter(|document| !originals.contains(document.id.as_str())).collect();
        let kinds = ["T1", "T2", "T3", "T4"];
        let tests: Vec<Vec<Test>> = kinds
            .iter()
            .map(|kind| (0..self.each).map(|i| make(kind, i, sources, &long, &mut rng)).collect())
            .collect();
        let mut out = format!(
            "## Sharapova and Sharapova 2018: fuzzy duplicates\n\nRecall in {} tests of each kind, made of documents of {} that are indexed: T1 400 words of one document with its \
             sentences reordered; T2 with a third of its longer words in another form (-s, -ed, -ing); T3 as T1, with a sentence of a document that is not indexed \
             after every third; T4 the sentences of 100 words of four documents each, reordered. First the share of the fingerprints of reused text that the right documents \
             have (what Avtor.NET goes by, with MD5 for a hash), then the share of the reused characters that passages of the right documents cover, last \
             the share of the right documents that are among the ten first hits. Theirs (Avtor.NET): 0.99, 0.97, 0.94, 0.99.\n\n\
             | scheme | analyzer | T1 | T2 | T3 | T4 | fingerprints |\n|---|---|---|---|---|---|---|\n",
            self.each,
            indexed.len()
        );
        for (scheme, analyzer, q) in SCHEMES {
            let texts: Vec<&str> = indexed.iter().map(|document| document.text.as_str()).collect();
            let config = trained(scheme, analyzer, q, &texts)?;
            let path = self.work.join(format!("{scheme}-{analyzer}"));
            let searcher = index(&path, config, indexed.iter().copied())?;
            write!(out, "| `{scheme}` | `{analyzer}` |")?;
            for tests in &tests {
                let mut sums = [0.0; 3];
                for test in tests {
                    let (covered, found) = recall(&searcher, test)?;
                    let shared = shared(&searcher, test, &indexed)?;
                    let shares = sums.iter_mut().zip([shared, covered, found]);
                    shares.for_each(|(sum, share)| *sum += share / tests.len() as f64);
                }
                write!(out, " {:.2} / {:.2} / {:.2} |", sums[0], sums[1], sums[2])?;
            }
            let stats = searcher.snapshot().stats()?;
            writeln!(out, " {:.0} |", stats.postings as f64 / stats.documents as f64)?;
        }
        out += "\nSchemes of whole documents have no passages: cento shows those that the texts of a hit have in common, so that what they find, they find wholly.\n\n";
        Ok(out)
    }
}

fn words(text: &str) -> usize {
    text.split_whitespace().count()
}

/// Takes sentences of a document, about this many words in total.
fn sentences(document: &Document, words_max: usize) -> Vec<String> {
    let mut sentences = Vec::new();
    let mut count = 0;
    for sentence in document.text.split_inclusive(['.', '!', '?', '\n']) {
        if words(sentence) < 3 || count >= words_max {
            continue;
        }
        count += words(sentence);
        sentences.push(sentence.trim().to_owned());
    }
    sentences
}

fn make(
    kind: &str,
    i: usize,
    sources: &[&Document],
    originals: &[&Document],
    rng: &mut Rng,
) -> Test {
    let parts = if kind == "T4" { 4 } else { 1 };
    let mut reused: Vec<(String, Option<&str>)> = Vec::new();
    for part in 0..parts {
        let source = sources[(i * parts + part) % sources.len()];
        let sentences = sentences(source, WORDS / parts);
        reused.extend(sentences.into_iter().map(|sentence| (sentence, Some(source.id.as_str()))));
    }
    match kind {
        "T2" => reused.iter_mut().for_each(|(sentence, _)| *sentence = inflect(sentence, rng)),
        _ => rng.shuffle(&mut reused),
    }
    if kind == "T3" {
        let new = sentences(originals[i], WORDS);
        let mut with_new = Vec::new();
        for (number, sentence) in reused.into_iter().enumerate() {
            with_new.push(sentence);
            if let Some(new) = new.get(number / 3).filter(|_| number % 3 == 2) {
                with_new.push((new.clone(), None));
            }
        }
        reused = with_new;
    }
    let mut test = Test { text: String::new(), reused: Vec::new() };
    for (sentence, source) in reused {
        let start = test.text.len();
        test.text += &sentence;
        if let Some(source) = source {
            test.reused.push((start..test.text.len(), source.to_owned()));
        }
        test.text.push(' ');
    }
    test
}

/// Inflects a third of the words of more than four letters.
fn inflect(sentence: &str, rng: &mut Rng) -> String {
    let inflected = sentence.split(' ').map(|word| {
        let letters = word.trim_end_matches(|c: char| !c.is_alphabetic());
        let is_plain = letters.len() > 4 && letters.chars().all(|c| c.is_ascii_alphabetic());
        if !is_plain || rng.usize(0..3) != 0 {
            return word.to_owned();
        }
        let after = &word[letters.len()..];
        let stem = ["ing", "ed", "s"].iter().find_map(|ending| letters.strip_suffix(ending));
        let stem = stem.unwrap_or(letters).trim_end_matches('e');
        let endings = ["s", "ed", "ing"];
        let other = endings.iter().filter(|ending| format!("{stem}{ending}") != letters);
        let other: Vec<&&str> = other.collect();
        format!("{stem}{}{after}", other[rng.usize(0..other.len())])
    });
    inflected.collect::<Vec<_>>().join(" ")
}

/// The share of the fingerprints in reused text that the sources also have.
fn shared(searcher: &Searcher, test: &Test, indexed: &[&Document]) -> Result<f64> {
    let config = searcher.snapshot().config();
    let mut known: HashSet<u64> = HashSet::new();
    for id in test.reused.iter().map(|(_, id)| id).collect::<HashSet<_>>() {
        let source = indexed.iter().find(|document| document.id == *id);
        let source = source.ok_or("a source that is not indexed")?;
        known.extend(config.sign(&source.text)?.1.iter().map(|fingerprint| fingerprint.key));
    }
    let mut tokens = Tokens::default();
    let mut signature = config.sign_into(&test.text, &mut tokens, Stop::NEVER)?;
    signature.retain(|fingerprint| {
        let start = tokens.spans[fingerprint.position as usize].start as usize;
        test.reused.iter().any(|(range, _)| range.contains(&start))
    });
    let found = signature.iter().filter(|fingerprint| known.contains(&fingerprint.key)).count();
    Ok(share(found, signature.len()))
}

/// Two shares: reused bytes covered by passages with their source, and sources among the hits.
fn recall(searcher: &Searcher, test: &Test) -> Result<(f64, f64)> {
    let query = Query::text(test.text.clone()).passages(true).limit(10);
    let hits = searcher.search(&query)?.hits;
    let (mut covered, mut all) = (0, 0);
    for (range, source) in &test.reused {
        all += range.len();
        let of_source = hits.iter().filter(|hit| hit.id == *source);
        let passages = of_source.flat_map(|hit| hit.passages.iter().flatten());
        let mut is_covered = vec![false; range.len()];
        for passage in passages {
            let (start, end) = (passage.a.0 as usize, passage.a.1 as usize);
            for byte in start.max(range.start)..end.min(range.end) {
                is_covered[byte - range.start] = true;
            }
        }
        covered += is_covered.iter().filter(|&&is| is).count();
    }
    let sources: HashSet<&str> = test.reused.iter().map(|(_, source)| source.as_str()).collect();
    let found = sources.iter().filter(|source| hits.iter().any(|hit| hit.id == **source)).count();
    Ok((covered as f64 / all as f64, found as f64 / sources.len() as f64))
}
