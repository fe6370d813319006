//! Makes a corpus of short texts with many near-duplicates: headlines, notices and corrected
//! stories.
//!
//! Such texts are hard for fingerprints: a text of a few words has one or two, many texts share
//! stock phrases, and a corrected story differs by a word. Sentences and names come from existing
//! corpora.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;

use clap::Args;
use fastrand::Rng;

use crate::Result;
use crate::cento::documents;

/// Make a corpus of headlines, notices and corrected stories from the texts of others.
#[derive(Debug, Args)]
pub struct Notices {
    /// A corpus that sentences are taken from: a JSON lines file. Can be repeated.
    #[arg(long, required = true)]
    base: Vec<PathBuf>,
    /// The corpus: a JSON lines file.
    #[arg(long)]
    out: PathBuf,
    /// The number of documents.
    #[arg(long, default_value = "20000")]
    documents: usize,
    /// Seed of the random choices.
    #[arg(long, default_value = "1")]
    seed: u64,
}

/// Templates of company notices: `%c` is a company, `%n` a number, `%m` a month, `%p` a place.
const NOTICES: [&str; 10] = [
    "Qtrly dividend %n cts vs %n cts prior Pay %m %n Record %m %n",
    "%c sets quarterly dividend Qtrly dividend %n cts vs %n cts prior Pay %m %n Record %m %n",
    "Shr profit %n cts vs loss %n cts Net profit %n vs loss %n Revs %n mln vs %n mln Avg shrs %n \
     vs %n",
    "%c said its board declared a regular quarterly dividend of %n cents a share payable %m %n to \
     holders of record on %m %n",
    "%c 1st qtr Shr %n cts vs %n cts Net %n vs %n Sales %n mln vs %n mln Note: figures exclude a \
     gain of %n dlrs from the sale of its works in %p",
    "Copyright (c) %n %c. All rights reserved.",
    "Copyright %n %c. This file is distributed under the same terms as the rest of the package; \
     see the file COPYING for the details.",
    "The meeting of the council of %p planned for %m %n will be held on %m %n at %n a.m. in the \
     town hall. Questions may be sent to the office of %c until %m %n.",
    "%c opens office in %p",
    "%p: water will be turned off in %n streets on %m %n between %n a.m. and %n p.m. for works of \
     %c",
];

pub const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// Per cent of texts that are new. The remaining texts are changed earlier texts.
const NEW: u32 = 45;

/// Pieces to make texts from.
struct Material {
    /// Pieces of at least one sentence.
    pieces: Vec<Vec<String>>,
    /// Capitalized words, used as names.
    names: Vec<String>,
}

impl Notices {
    pub(crate) fn run(self) -> Result {
        let mut rng = Rng::with_seed(self.seed);
        let material = self.material(&mut rng)?;
        let mut out = BufWriter::new(File::create(&self.out)?);
        let mut texts: Vec<Vec<String>> = Vec::new();
        let mut bytes = 0;
        for number in 0..self.documents {
            let words = match texts.is_empty() || rng.u32(0..100) < NEW {
                true => material.text(&mut rng),
                false => {
                    let mut words = texts[rng.usize(0..texts.len())].clone();
                    material.change(&mut words, &mut rng);
                    words
                }
            };
            let text = words.join(" ");
            bytes += text.len();
            writeln!(out, "{}", serde_json::json!({"id": format!("n{number}"), "text": text}))?;
            texts.push(words);
        }
        out.flush()?;
        println!("{} documents, {bytes} bytes of text", self.documents);
        Ok(())
    }

    fn material(&self, rng: &mut Rng) -> Result<Material> {
        let (mut pieces, mut names) = (Vec::new(), Vec::new());
        for base in &self.base {
            for document in documents(base)? {
                let text = document?.text;
                let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
                let is_name = |word: &&String| {
                    word.len() > 3
                        && word.starts_with(|c: char| c.is_ascii_uppercase())
                        && word[1..].bytes().all(|byte| byte.is_ascii_lowercase())
                };
                names.extend(words.iter().filter(is_name).take(5).cloned());
                // A headline, a notice or a story, to the end of a sentence.
                let least = [4, 8, 16, 30, 60, 120, 240][rng.usize(0..7)];
                let is_end = |word: &String| word.ends_with(['.', '!', '?']);
                let end = words
                    .iter()
                    .skip(least)
                    .position(is_end)
                    .map_or(words.len(), |at| at + least + 1);
                if end >= 3 && end <= 2 * least + 20 {
                    pieces.push(words[..end].to_vec());
                }
            }
        }
        names.sort_unstable();
        names.dedup();
        if pieces.is_empty() || names.is_empty() {
            return Err("there are no sentences, or no names, in these corpora".into());
        }
        Ok(Material { pieces, names })
    }
}

impl Material {
    fn name(&self, rng: &mut Rng) -> String {
        self.names[rng.usize(0..self.names.len())].clone()
    }

    /// Returns a piece of an existing text, or a notice.
    fn text(&self, rng: &mut Rng) -> Vec<String> {
        if rng.bool() {
            return self.pieces[rng.usize(0..self.pieces.len())].clone();
        }
        let mut words = Vec::new();
        for word in NOTICES[rng.usize(0..NOTICES.len())].split(' ') {
            let filled = match word.get(..2) {
                Some("%c") => format!("{} {} Inc", self.name(rng), self.name(rng)),
                Some("%p") => self.name(rng),
                Some("%n") => rng.u32(1..100).to_string(),
                Some("%m") => MONTHS[rng.usize(0..MONTHS.len())].to_owned(),
                _ => word.to_owned(),
            };
            let rest = if word.starts_with('%') { &word[2..] } else { "" };
            words.extend(format!("{filled}{rest}").split(' ').map(str::to_owned));
        }
        words
    }

    /// Changes a text as editors correct a story: in one to three places, or at the end.
    fn change(&self, words: &mut Vec<String>, rng: &mut Rng) {
        for _ in 0..rng.usize(1..4) {
            let at = rng.usize(0..words.len());
            match rng.u32(0..6) {
                0 if words.len() > 3 => {
                    words.remove(at);
                }
                1 => words.insert(at, self.name(rng).to_lowercase()),
                2 => words[at] = self.name(rng).to_lowercase(),
                3 => words.push(self.name(rng)),
                // Replace a number or a name, if the text has one.
                4 => self.swap(words, rng, |word| word.bytes().all(|byte| byte.is_ascii_digit())),
                _ => {
                    self.swap(words, rng, |word| word.starts_with(|c: char| c.is_ascii_uppercase()))
                }
            }
        }
    }

    fn swap(&self, words: &mut [String], rng: &mut Rng, is_meant: impl Fn(&str) -> bool) {
        let places: Vec<usize> = (0..words.len()).filter(|&at| is_meant(&words[at])).collect();
        let Some(&at) = places.get(rng.usize(0..places.len().max(1))) else { return };
        words[at] = match words[at].starts_with(|c: char| c.is_ascii_digit()) {
            true => rng.u32(1..100).to_string(),
            false => self.name(rng),
        };
    }
}
