//! Sets that are made from a seed, of articles.

use std::path::Path;

use cento::compare::align::Genre;
use cento::text::Analyzer;
use fastrand::Rng;

use super::{Counts, Text};
use crate::Result;
use crate::cento::documents;

/// The words of articles.
fn articles(dir: &Path) -> Result<Vec<Vec<String>>> {
    let path = dir.join("planted-articles-1000.jsonl.zst");
    let articles = documents(&path)?;
    let words = |text: String| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let articles = articles.map(|article| Ok(words(article?.text)));
    Ok(articles
        .collect::<Result<Vec<_>>>()?
        .into_iter()
        .filter(|words| words.len() > 150)
        .collect())
}

/// Texts of each of the sets.
const TEXTS: usize = 800;

/// A passage planted in an article, taken from a second article.
struct Planted {
    before: Vec<String>,
    passage: Vec<String>,
    after: Vec<String>,
    source: String,
}

fn plant(articles: &[Vec<String>], rng: &mut Rng, words: usize) -> Planted {
    let [host, source] = [(); 2].map(|()| &articles[rng.usize(..articles.len())]);
    let start = rng.usize(..=source.len() - words);
    let at = rng.usize(..=100);
    Planted {
        before: host[..at].to_vec(),
        passage: source[start..start + words].to_vec(),
        after: host[at..].to_vec(),
        source: source.join(" "),
    }
}

fn count(planted: &Planted, passage: &str, counts: &mut Counts) -> Result {
    let before = planted.before.join(" ");
    let (start, end) = (before.len(), before.len() + 1 + passage.len());
    let text = format!("{before} {passage} {}", planted.after.join(" "));
    let a = Text::new(text, &Analyzer::default())?;
    let b = Text::new(planted.source.as_str(), &Analyzer::default())?;
    let is_inside = |at: usize| {
        let span = a.tokens.spans[at];
        start <= span.start as usize && span.end as usize <= end
    };
    let marked = a.marked(&b, Genre::Prose)?;
    counts.add(&marked, (0..a.len()).map(|at| Some(is_inside(at))));
    Ok(())
}

/// A passage after removing, replacing and adding words.
struct Edited {
    /// The words, with a flag for unchanged words.
    words: Vec<(String, bool)>,
}

impl Edited {
    fn new(passage: Vec<String>, percent: usize, others: &[String], rng: &mut Rng) -> Edited {
        let mut words = Vec::new();
        for word in passage {
            let other = (others[word.len() % others.len()].clone(), false);
            if rng.usize(..100) >= percent {
                words.push((word, true));
                continue;
            }
            match rng.u8(..3) {
                0 => {}
                1 => words.push(other),
                _ => words.extend([other, (word, true)]),
            }
        }
        Edited { words }
    }

    fn text(&self) -> String {
        self.words.iter().map(|(word, _)| word.as_str()).collect::<Vec<_>>().join(" ")
    }
}

/// Percent of the words of a passage that are changed.
const CHANGED: [usize; 4] = [0, 5, 10, 20];

pub fn planted(dir: &Path) -> Result<f64> {
    let articles = articles(dir)?;
    let (mut rng, mut counts) = (Rng::with_seed(1), Counts::default());
    for at in 0..TEXTS {
        let words = 20 + rng.usize(..60);
        let mut planted = plant(&articles, &mut rng, words);
        let passage = std::mem::take(&mut planted.passage);
        let edited = Edited::new(passage, CHANGED[at % 4], &articles[0], &mut rng);
        count(&planted, &edited.text(), &mut counts)?;
    }
    Ok(counts.f1())
}

pub fn matched(dir: &Path) -> Result<f64> {
    let articles = articles(dir)?;
    let (mut rng, mut counts) = (Rng::with_seed(6), Counts::default());
    for at in 0..TEXTS {
        let planted = plant(&articles, &mut rng, 40 + at % 60);
        let edited = Edited::new(planted.passage, CHANGED[at % 4], &articles[0], &mut rng);
        let a = Text::new(edited.text(), &Analyzer::default())?;
        let b = Text::new(planted.source, &Analyzer::default())?;
        let mut ends = Vec::new();
        for (word, is_unchanged) in &edited.words {
            let end = ends.last().map_or(0, |&(end, _)| end + 1) + word.len();
            ends.push((end, *is_unchanged));
        }
        let mut matched = vec![false; a.len()];
        for passage in a.passages(&b, Genre::Prose)? {
            passage.matched.into_iter().for_each(|range| matched[range].fill(true));
        }
        let is_unchanged = |span: &cento::text::Span| {
            let word = ends.partition_point(|&(end, _)| end < span.end as usize);
            ends.get(word).map(|&(_, is_unchanged)| is_unchanged)
        };
        counts.add(&matched, a.tokens.spans.iter().map(is_unchanged));
    }
    Ok(counts.f1())
}

pub fn joined(dir: &Path) -> Result<f64> {
    let articles = articles(dir)?;
    let (mut rng, mut counts) = (Rng::with_seed(2), Counts::default());
    for at in 0..TEXTS / 2 {
        let words = 60 + rng.usize(..60);
        let planted = plant(&articles, &mut rng, words);
        let mut passage = String::new();
        for word in &planted.passage {
            match at % 4 {
                0 => passage += word,
                1 => passage.extend(word.chars().flat_map(|c| [c, ' '])),
                kind => {
                    passage += word;
                    passage += if rng.usize(..4) < kind - 1 { "" } else { " " };
                }
            }
        }
        count(&planted, passage.trim_end(), &mut counts)?;
    }
    Ok(counts.f1())
}

/// A kind of table: the values of its cells.
type Cells = fn(&mut Rng, usize) -> String;

const CELLS: [Cells; 4] = [
    |rng, _| rng.u32(..100).to_string(),
    |rng, _| (*rng.choice(["yes", "no", "none"]).unwrap_or(&"yes")).to_owned(),
    |rng, row| format!("{} {}", 1990 + row, rng.u32(..100_000)),
    |rng, row| format!("team {row} {} {}", rng.u32(..4), rng.u32(..4)),
];

pub fn tables(_: &Path) -> Result<f64> {
    let (mut rng, mut counts) = (Rng::with_seed(3), Counts::default());
    for at in 0..TEXTS {
        let cells = CELLS[at % CELLS.len()];
        let table = |rng: &mut Rng| -> Vec<String> {
            (0..30)
                .map(|row| (0..4).map(|_| cells(rng, row)).collect::<Vec<_>>().join("\t"))
                .collect()
        };
        let rows = table(&mut rng);
        let (is_copy, mut others) = (at / CELLS.len() % 2 == 0, rows.clone());
        if is_copy {
            let from = rng.usize(..5);
            others.drain(..from);
        } else {
            others = table(&mut rng);
        }
        let [a, b] = [rows, others].map(|rows| Text::new(rows.join("\n"), &Analyzer::default()));
        let (a, b) = (a?, b?);
        counts.add(&a.marked(&b, Genre::Prose)?, (0..a.len()).map(|_| Some(is_copy)));
    }
    Ok(counts.f1())
}

/// The lines of a log; one text has a part of the other's.
pub fn repeated(dir: &Path) -> Result<f64> {
    let articles = articles(dir)?;
    let (mut rng, mut counts) = (Rng::with_seed(4), Counts::default());
    for at in 0..TEXTS / 4 {
        let words = &articles[at % articles.len()];
        let kinds: Vec<String> =
            words.chunks(7).take(2 + at % 6).map(|line| line.join(" ")).collect();
        let line = |rng: &mut Rng| {
            let kind = &kinds[rng.usize(..kinds.len())];
            if at % 2 == 0 { format!("{kind} {}", rng.u32(..40)) } else { kind.clone() }
        };
        let lines: Vec<String> = (0..60).map(|_| line(&mut rng)).collect();
        let from = rng.usize(..30);
        let passage = lines[from..from + 12 + at % 18].join(". ");
        let mut planted = plant(&articles, &mut rng, 20);
        planted.source = lines.join(". ");
        count(&planted, &passage, &mut counts)?;
    }
    Ok(counts.f1())
}

/// The Universal Declaration of Human Rights in languages with and without spaces.
const DECLARATIONS: [&str; 6] = [
    include_str!("../../../../tests/data/udhr/deu.txt"),
    include_str!("../../../../tests/data/udhr/rus.txt"),
    include_str!("../../../../tests/data/udhr/hin.txt"),
    include_str!("../../../../tests/data/udhr/cmn.txt"),
    include_str!("../../../../tests/data/udhr/jpn.txt"),
    include_str!("../../../../tests/data/udhr/tha.txt"),
];

pub fn languages(_: &Path) -> Result<f64> {
    let (mut rng, mut counts) = (Rng::with_seed(5), Counts::default());
    for at in 0..TEXTS {
        let articles: Vec<&str> = DECLARATIONS[at % DECLARATIONS.len()]
            .split("\n\n")
            .filter(|of| of.len() > 150)
            .collect();
        let mut order: Vec<usize> = (0..articles.len()).collect();
        rng.shuffle(&mut order);
        let article = |number: usize| articles[order[number]];
        let letters: Vec<char> = article(0).chars().collect();
        let words: Vec<String> = letters.chunks(5).map(|word| word.iter().collect()).collect();
        let changed = [0, 4, 8][at / DECLARATIONS.len() % 3];
        let passage = words.into_iter().filter(|_| rng.usize(..100) >= changed).collect::<String>();
        let to_words = |text: &str| vec![text.to_owned()];
        let planted = Planted {
            before: to_words(article(1)),
            passage: Vec::new(),
            after: to_words(article(2)),
            source: [article(3), article(0), article(4)].join("\n\n"),
        };
        count(&planted, &passage, &mut counts)?;
    }
    Ok(counts.f1())
}
