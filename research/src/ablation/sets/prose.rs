//! Sets of prose with labels.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;
use std::path::Path;

use cento::compare::align::Genre;
use cento::text::Analyzer;
use fastrand::Rng;
use serde::Deserialize;

use super::{Counts, Text, auc};
use crate::Result;
use crate::cento::{documents, json_lines};
use crate::pan::{Corpus, Labelled};

/// Every n-th pair of PAN 2013 is measured.
const PAN_EVERY: usize = 1;

fn pan_corpus(dir: &Path) -> Corpus {
    Corpus {
        sources: dir.join("pan13-train-source.jsonl.zst"),
        suspicious: dir.join("pan13-train-suspicious.jsonl.zst"),
        truth: dir.join("pan13-train-truth.jsonl"),
    }
}

pub fn pan(dir: &Path) -> Result<f64> {
    Labelled::read(&pan_corpus(dir), &Analyzer::default())?.plagdet(PAN_EVERY)
}

/// Every n-th pair is measured, with the source among this many texts in a document.
const AMONG: (usize, usize) = (9, 12);

pub fn among(dir: &Path) -> Result<f64> {
    let analyzer = Analyzer::default();
    let (every, others) = AMONG;
    Labelled::read(&pan_corpus(dir), &analyzer)?.plagdet_among(every, others, &analyzer)
}

/// The number of pairs drawn at random.
const UNRELATED: usize = 3000;

pub fn unrelated(dir: &Path) -> Result<f64> {
    let corpus = pan_corpus(dir);
    let read = |path: &Path| -> Result<Vec<Text>> {
        documents(path)?.step_by(2).map(|d| Text::new(d?.text, &Analyzer::default())).collect()
    };
    let [a, b] = [read(&corpus.suspicious)?, read(&corpus.sources)?];
    let (mut rng, mut clean) = (Rng::with_seed(1), 0);
    for _ in 0..UNRELATED {
        let (a, b) = (&a[rng.usize(..a.len())], &b[rng.usize(..b.len())]);
        clean += usize::from(a.passages(b, Genre::Prose)?.is_empty());
    }
    Ok(clean as f64 / UNRELATED as f64)
}

#[derive(Deserialize)]
struct Answer {
    id: String,
    text: String,
    meta: Category,
}

#[derive(Deserialize)]
struct Category {
    #[serde(default)]
    category: String,
}

pub fn answers(dir: &Path) -> Result<f64> {
    let (mut answers, mut originals) = (Vec::new(), HashMap::new());
    for answer in json_lines::<Answer>(&dir.join("clough-stevenson.jsonl.zst"))? {
        let Answer { id, text, meta } = answer?;
        let text = Text::new(text, &Analyzer::default())?;
        let task = id.rsplit_once("task").map(|(_, task)| task.to_owned()).unwrap_or_default();
        match id.starts_with("orig") {
            true => _ = originals.insert(task, text),
            false => answers.push((task, text, meta.category != "non")),
        }
    }
    let scored = answers.iter().map(|(task, text, is_copy)| {
        let original = originals.get(task).ok_or_else(|| format!("no article of {task}"))?;
        Ok((text.matched_share(original, Genre::Prose)?, *is_copy))
    });
    Ok(auc(&scored.collect::<Result<Vec<_>>>()?))
}

#[derive(Deserialize)]
struct Page {
    text: String,
    meta: PageKind,
}

#[derive(Deserialize)]
struct PageKind {
    pair: String,
    kind: String,
}

pub fn recognized(dir: &Path) -> Result<f64> {
    let mut open: HashMap<String, Page> = HashMap::new();
    let mut pages: Vec<[Text; 2]> = Vec::new();
    for page in json_lines::<Page>(&dir.join("ocr-dev.jsonl.zst"))? {
        let page = page?;
        let Some(other) = open.remove(&page.meta.pair) else {
            open.insert(page.meta.pair.clone(), page);
            continue;
        };
        let two = if page.meta.kind == "raw" { [other, page] } else { [page, other] };
        let [corrected, raw] = two.map(|page| Text::new(page.text, &Analyzer::default()));
        pages.push([corrected?, raw?]);
    }
    let mut counts = Counts::default();
    for (at, [page, raw]) in pages.iter().enumerate() {
        counts.add(&page.marked(raw, Genre::Prose)?, (0..page.len()).map(|_| Some(true)));
        for other in [1, 2].map(|by| &pages[(at + by) % pages.len()][1]) {
            counts.add(&page.marked(other, Genre::Prose)?, (0..page.len()).map(|_| Some(false)));
        }
    }
    Ok(counts.f1())
}

#[derive(Deserialize)]
struct Sentence {
    text: String,
    rewritten: String,
    meta: Judgment,
}

#[derive(Deserialize)]
struct Judgment {
    same: bool,
}

/// Texts with rewritten sentences.
const REWRITTEN: usize = 1000;

pub fn paraphrases(dir: &Path) -> Result<f64> {
    let pairs: Vec<Sentence> =
        json_lines(&dir.join("paraphrases-dev.jsonl.zst"))?.collect::<Result<_>>()?;
    let (same, others): (Vec<Sentence>, Vec<Sentence>) =
        pairs.into_iter().partition(|pair| pair.meta.same);
    let (mut rng, mut counts) = (Rng::with_seed(1), Counts::default());
    for at in 0..REWRITTEN {
        let first = rng.usize(..same.len() - 6);
        let pairs = &same[first..first + 1 + at % 6];
        let texts = [|pair: &Sentence| pair.text.clone(), |pair: &Sentence| pair.rewritten.clone()];
        let around = rng.usize(..others.len() - 20);
        let [a, b] = [(texts[1], 0), (texts[0], 10)].map(|(of, from)| {
            let filler = &others[around + from..around + from + 10];
            let filler = filler.iter().map(|pair| pair.text.clone()).collect::<Vec<_>>();
            let inner = pairs.iter().map(of).collect::<Vec<_>>();
            [filler[..5].join(" "), inner.join(" "), filler[5..].join(" ")]
        });
        let (start, end) = (a[0].len(), a[0].len() + 1 + a[1].len());
        let [a, b] = [a, b].map(|parts| Text::new(parts.join(" "), &Analyzer::default()));
        let (a, b) = (a?, b?);
        let is_inside = |&at: &usize| {
            let span = a.tokens.spans[at];
            start <= span.start as usize && span.end as usize <= end
        };
        let expected = (0..a.len()).map(|at| Some(is_inside(&at)));
        counts.add(&a.marked(&b, Genre::Prose)?, expected);
    }
    Ok(counts.f1())
}

/// Which words of a text are in a run of five that occurs in the second text (true), or in a
/// stretch of twelve without two consecutive words of the second text (false)?
fn by_runs(a: &Text, b: &Text) -> Vec<Option<bool>> {
    let runs = |len: usize| -> HashSet<&[u64]> { b.tokens.hashes.windows(len).collect() };
    let [fives, twos] = [runs(5), runs(2)];
    let (mut is_common, mut is_near) = (vec![false; a.len()], vec![false; a.len()]);
    for (at, run) in a.tokens.hashes.windows(5).enumerate().filter(|(_, run)| fives.contains(run)) {
        is_common[at..at + run.len()].fill(true);
    }
    for (at, run) in a.tokens.hashes.windows(2).enumerate().filter(|(_, run)| twos.contains(run)) {
        is_near[at..at + run.len()].fill(true);
    }
    let mut expected = is_common.iter().map(|&is| is.then_some(true)).collect::<Vec<_>>();
    let mut from = 0;
    for at in 0..=a.len() {
        if at == a.len() || is_near[at] {
            if at - from >= 12 {
                expected[from..at].fill(Some(false));
            }
            from = at + 1;
        }
    }
    expected
}

/// The number of pairs of revisions of each file of similarities.
const REVISIONS: usize = 300;

pub fn revisions(dir: &Path) -> Result<f64> {
    let mut pairs = Vec::new();
    for (name, folder) in [("python-peps", "python-peps"), ("rust-book", "rust-book")] {
        let path = dir.join(format!("revisions-dev-{name}-sims.tsv"));
        let truth = std::fs::read_to_string(path)?;
        let mut of_file = Vec::new();
        for line in truth.lines().skip(1) {
            let fields: Vec<&str> = line.split('\t').collect();
            let (jaccard, runs): (f64, usize) = (fields[3].parse()?, fields[6].parse()?);
            if (0.05..0.9).contains(&jaccard) && runs < 4000 {
                let id = |revision: &str| {
                    format!("{folder}/{}/{}", fields[0], revision.trim_end_matches(".txt"))
                };
                of_file.push([id(fields[1]), id(fields[2])]);
            }
        }
        Rng::with_seed(1).shuffle(&mut of_file);
        of_file.truncate(REVISIONS);
        pairs.extend(of_file);
    }
    let wanted: HashSet<&String> = pairs.iter().flatten().collect();
    let mut texts = HashMap::new();
    for document in documents(&dir.join("revisions-dev.jsonl.zst"))? {
        let document = document?;
        if wanted.contains(&document.id) {
            texts.insert(document.id, Text::new(document.text, &Analyzer::default())?);
        }
    }
    let mut counts = Counts::default();
    for [a, b] in &pairs {
        let of = |id: &String| texts.get(id).ok_or_else(|| format!("no revision {id}"));
        let (a, b) = (of(a)?, of(b)?);
        counts.add(&a.marked(b, Genre::Prose)?, by_runs(a, b));
    }
    Ok(counts.f1())
}

/// The number of pairs of different documents.
const TOPICS: usize = 1000;

/// The bytes of a document, at most.
const TOPIC_BYTES_MAX: usize = 40_000;

pub fn topics(dir: &Path) -> Result<f64> {
    // The last revision of each document.
    let mut last: BTreeMap<String, String> = BTreeMap::new();
    for document in documents(&dir.join("revisions-dev.jsonl.zst"))? {
        let document = document?;
        let name = document.id.rsplit_once('/').map(|(name, _)| name.to_owned());
        last.insert(name.ok_or("a revision of no document")?, document.text);
    }
    last.retain(|_, text| text.len() < TOPIC_BYTES_MAX);
    let texts: Vec<Text> = last
        .into_values()
        .map(|text| Text::new(text, &Analyzer::default()))
        .collect::<Result<_>>()?;
    let (mut rng, mut clean) = (Rng::with_seed(1), 0);
    for _ in 0..TOPICS {
        let (a, b) = (rng.usize(..texts.len()), rng.usize(..texts.len()));
        let (a, b) = (&texts[a], &texts[(b + usize::from(a == b)) % texts.len()]);
        let common = by_runs(a, b);
        let is_of_others = |place: &Range<usize>| {
            let copied = common[place.clone()].iter().filter(|&&is| is == Some(true)).count();
            copied * 5 < place.len()
        };
        let passages = a.passages(b, Genre::Prose)?;
        clean += usize::from(!passages.iter().any(|passage| is_of_others(&passage.query)));
    }
    Ok(clean as f64 / TOPICS as f64)
}

#[derive(Deserialize)]
struct WebPage {
    html: String,
    article: String,
}

/// The text of a page, roughly: all but tags, scripts and styles.
fn text_of(html: &str) -> String {
    let (mut text, mut rest) = (String::new(), html);
    while let Some((before, tag)) = rest.split_once('<') {
        text.push_str(before);
        text.push('\n');
        let end = ["script", "style"].into_iter().find(|name| tag.starts_with(name));
        let tag = end.and_then(|name| tag.split_once(&format!("</{name}"))).map_or(tag, |t| t.1);
        rest = tag.split_once('>').map_or("", |(_, rest)| rest);
    }
    text.push_str(rest);
    text
}

pub fn pages(dir: &Path) -> Result<f64> {
    let mut pages = Vec::new();
    for page in json_lines::<WebPage>(&dir.join("web-pages-dev.jsonl.zst"))? {
        let WebPage { html, article } = page?;
        let [page, article] =
            [text_of(&html), article].map(|text| Text::new(text, &Analyzer::default()));
        pages.push((page?, article?));
    }
    let mut counts = Counts::default();
    for (at, (page, _)) in pages.iter().enumerate() {
        for article in [0, 1, 2].map(|by| &pages[(at + by) % pages.len()].1) {
            counts.add(&page.marked(article, Genre::Prose)?, by_runs(page, article));
        }
    }
    Ok(counts.f1())
}

#[derive(Deserialize)]
struct Quotation {
    text: String,
    meta: Quoted,
}

#[derive(Deserialize)]
struct Quoted {
    verses: Vec<String>,
}

pub fn quotations(dir: &Path) -> Result<f64> {
    let path = dir.join("quotations-dev-verses.jsonl.zst");
    let verses: Vec<String> =
        documents(&path)?.map(|verse| Ok(verse?.text)).collect::<Result<_>>()?;
    let (mut rng, mut scored) = (Rng::with_seed(1), Vec::new());
    for quotation in json_lines::<Quotation>(&dir.join("quotations-dev-queries.jsonl"))? {
        let Quotation { text, meta } = quotation?;
        let text = Text::new(text, &Analyzer::default())?;
        let first: usize = meta.verses.first().ok_or("a quotation of no verse")?.parse()?;
        for (at, is_quoted) in [(first, true), (rng.usize(..verses.len() - 3), false)] {
            let chapter = verses[at..(at + 3).min(verses.len())].join(" ");
            let chapter = Text::new(chapter, &Analyzer::default())?;
            scored.push((text.matched_share(&chapter, Genre::Prose)?, is_quoted));
        }
    }
    Ok(auc(&scored))
}
