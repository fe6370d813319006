//! Makes corpora with known contents.
//!
//! `plant` writes a background of unrelated documents, and queries made from these documents: whole
//! copies and passages of 50 to 100 words, with a share of the words edited. The corpus does not
//! contain the queries, and each query names the document that it was made from. `repeat` enlarges
//! a corpus with edited copies or with copies in other letters. The same seed produces the same
//! bytes.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;

use clap::Args;
use fastrand::Rng;
use serde::Serialize;

use crate::Result;
use crate::cento::{Document, documents};

/// The number of words in the synthetic vocabulary.
const VOCABULARY: usize = 60_000;

/// The shares of edited words in copies, in hundredths.
pub const COPY_LEVELS: [u32; 4] = [2, 5, 10, 20];
/// The shares of edited words in passages, in hundredths.
pub const PASSAGE_LEVELS: [u32; 4] = [0, 5, 10, 20];

/// Make a corpus, and queries with known sources.
#[derive(Debug, Args)]
pub struct Plant {
    /// The corpus: a JSON lines file.
    #[arg(long)]
    out: PathBuf,
    /// The queries: a JSON lines file; each has its kind, its level and the id of its source.
    #[arg(long)]
    queries: PathBuf,
    /// Take the background from this corpus instead of making it up.
    #[arg(long)]
    base: Option<PathBuf>,
    /// Bytes of background text.
    #[arg(long, default_value = "120000000")]
    bytes: usize,
    /// Queries of each kind and level.
    #[arg(long, default_value = "250")]
    each: usize,
    /// Seed of the random choices.
    #[arg(long, default_value = "1")]
    seed: u64,
}

/// A query with its known source.
#[derive(Debug, Serialize, serde::Deserialize)]
pub struct Planted {
    /// The id has the form `kind-level-number`.
    pub id: String,
    /// The text after the edits.
    pub text: String,
    /// `copy`, `passage`, or `quoting`: a passage inside an unrelated text.
    pub kind: String,
    /// The share of edited words, in hundredths.
    pub level: u32,
    /// The id of the document that the query was made from.
    pub source: String,
}

impl Plant {
    /// Writes the corpus and the queries.
    ///
    /// # Errors
    /// When a file cannot be read or written.
    pub fn run(self) -> Result {
        let mut rng = Rng::with_seed(self.seed);
        let words = Vocabulary::new(&mut rng);
        let background = match &self.base {
            Some(base) => take_bytes(documents(base)?, self.bytes)?,
            None => made_up(&words, self.bytes, &mut rng).collect(),
        };
        let mut out = BufWriter::new(File::create(&self.out)?);
        for document in &background {
            writeln!(out, "{}", serde_json::to_string(document)?)?;
        }
        out.flush()?;
        let mut queries = BufWriter::new(File::create(&self.queries)?);
        let kinds =
            [("copy", COPY_LEVELS), ("passage", PASSAGE_LEVELS), ("quoting", PASSAGE_LEVELS)];
        for (kind, levels) in kinds {
            for level in levels {
                for number in 0..self.each {
                    let mut planted = plant(kind, level, &background, &words, &mut rng);
                    planted.id = format!("{kind}-{level}-{number}");
                    writeln!(queries, "{}", serde_json::to_string(&planted)?)?;
                }
            }
        }
        queries.flush()?;
        let bytes: usize = background.iter().map(|document| document.text.len()).sum();
        println!(
            "{} documents, {bytes} bytes of text; {} queries",
            background.len(),
            12 * self.each
        );
        Ok(())
    }
}

fn take_bytes(
    documents: impl Iterator<Item = Result<Document>>,
    bytes_max: usize,
) -> Result<Vec<Document>> {
    let mut taken = Vec::new();
    let mut bytes = 0;
    for document in documents {
        let document = document?;
        bytes += document.text.len();
        if bytes > bytes_max {
            break;
        }
        taken.push(document);
    }
    Ok(taken)
}

fn plant(
    kind: &str,
    level: u32,
    background: &[Document],
    words: &Vocabulary,
    rng: &mut Rng,
) -> Planted {
    // A source has at least 120 words, so that a passage is only a part of the source.
    let (source, text) = loop {
        let source = rng.choice(background).expect("a corpus has documents");
        let text: Vec<&str> = source.text.split_whitespace().collect();
        if text.len() >= 120 {
            break (source, text);
        }
    };
    let piece = match kind {
        "copy" => &text[..],
        _ => {
            let len = rng.usize(50..=100);
            let start = rng.usize(0..=text.len() - len);
            &text[start..start + len]
        }
    };
    let edited = edit(piece, level, words, rng);
    let text = match kind {
        "quoting" => {
            let (before, after) = (words.text(150, rng), words.text(150, rng));
            format!("{before}\n\n{edited}\n\n{after}")
        }
        _ => edited,
    };
    Planted { id: String::new(), text, kind: kind.into(), level, source: source.id.clone() }
}

/// Edits `level` in a hundred words: a word is substituted, deleted or followed by a new word with
/// equal probability.
pub fn edit(text: &[&str], level: u32, words: &Vocabulary, rng: &mut Rng) -> String {
    let mut edited: Vec<&str> = Vec::with_capacity(text.len());
    for word in text {
        if rng.u32(0..100) >= level {
            edited.push(word);
            continue;
        }
        match rng.u32(0..3) {
            0 => edited.push(words.draw(rng)),
            1 => {}
            _ => edited.extend([*word, words.draw(rng)]),
        }
    }
    edited.join(" ")
}

/// Words with the frequencies of a natural language (Zipf).
#[derive(Debug)]
pub struct Vocabulary {
    words: Vec<String>,
    /// The cumulated frequencies of the words.
    sums: Vec<f64>,
}

impl Vocabulary {
    /// Draws a vocabulary from this generator.
    pub fn new(rng: &mut Rng) -> Vocabulary {
        const ONSETS: [&str; 16] =
            ["b", "c", "d", "f", "g", "h", "l", "m", "n", "p", "r", "s", "t", "v", "st", "tr"];
        const VOWELS: [&str; 8] = ["a", "e", "i", "o", "u", "ea", "io", "ou"];
        const CODAS: [&str; 6] = ["", "n", "r", "s", "t", "l"];
        let mut words = Vec::with_capacity(VOCABULARY);
        let mut seen = std::collections::HashSet::new();
        while words.len() < VOCABULARY {
            let syllables = 1 + (words.len() as f64).log10() as usize / 2 + rng.usize(0..2);
            let mut word = String::new();
            for _ in 0..syllables {
                for part in [&ONSETS[..], &VOWELS, &CODAS] {
                    word += rng.choice(part).expect("no part is empty");
                }
            }
            if seen.insert(word.clone()) {
                words.push(word);
            }
        }
        let mut sum = 0.0;
        let sums = (1..=VOCABULARY).map(|rank| {
            // Mandelbrot's form of the law: the first words are less frequent than under Zipf's
            // law.
            sum += 1.0 / (rank as f64 + 2.7);
            sum
        });
        Vocabulary { sums: sums.collect(), words }
    }

    fn draw(&self, rng: &mut Rng) -> &str {
        let at = rng.f64() * self.sums[VOCABULARY - 1];
        let rank = self.sums.partition_point(|&sum| sum < at);
        &self.words[rank.min(VOCABULARY - 1)]
    }

    /// Draws a text of `count` words.
    pub fn text(&self, count: usize, rng: &mut Rng) -> String {
        let mut text = String::new();
        for i in 0..count {
            text += self.draw(rng);
            text += match (i % 13, i % 80) {
                (_, 79) => ".\n",
                (12, _) => ". ",
                _ => " ",
            };
        }
        text
    }
}

/// Makes up documents of 100 to 3,000 words until the texts have `bytes` bytes in total.
pub fn made_up<'a>(
    words: &'a Vocabulary,
    bytes: usize,
    rng: &'a mut Rng,
) -> impl Iterator<Item = Document> + 'a {
    let (mut made, mut number) = (0, 0);
    std::iter::from_fn(move || {
        (made < bytes).then(|| {
            let count = (100.0 * 30f64.powf(rng.f64())) as usize;
            let text = words.text(count, rng);
            made += text.len();
            number += 1;
            Document { id: format!("doc{}", number - 1), text }
        })
    })
}

/// Make a corpus larger by copies with edits, or with other letters.
#[derive(Debug, Args)]
pub struct Repeat {
    /// The corpus to enlarge: a JSON lines file.
    #[arg(long)]
    base: PathBuf,
    /// The larger corpus: a JSON lines file, or `-`, standard output.
    #[arg(long)]
    out: PathBuf,
    /// Cut the documents of the corpus at line ends into pieces of about this many bytes.
    #[arg(long, value_name = "BYTES")]
    pieces: Option<usize>,
    /// Replace every letter of a copy, differently in every copy, instead of editing words. The
    /// vocabulary and the shared text then grow with the corpus as in new text.
    #[arg(long)]
    letters: bool,
    /// Bytes of text to write.
    #[arg(long, default_value = "1000000000")]
    bytes: usize,
    /// Leave out the first rounds through the corpus, to go on where another corpus ended.
    #[arg(long, value_name = "ROUNDS", default_value = "0", requires = "letters")]
    skip: usize,
    /// Write this many rounds through the corpus, whatever their bytes.
    #[arg(long, conflicts_with = "bytes")]
    rounds: Option<usize>,
    /// Edited words of a copy, in hundredths.
    #[arg(long, default_value = "3")]
    edits: u32,
    /// Seed of the random choices.
    #[arg(long, default_value = "1")]
    seed: u64,
}

impl Repeat {
    /// Writes the larger corpus.
    ///
    /// # Errors
    /// When a file cannot be read or written.
    pub fn run(self) -> Result {
        let mut rng = Rng::with_seed(self.seed);
        let words = Vocabulary::new(&mut rng);
        let out: Box<dyn Write> = match self.out.to_str() {
            Some("-") => Box::new(std::io::stdout()),
            _ => Box::new(File::create(&self.out)?),
        };
        let mut out = BufWriter::with_capacity(1 << 20, out);
        // Read once, because reading JSON takes longer than replacing the letters.
        let base: Vec<Document> = documents(&self.base)?
            .map(|document| Ok(pieces(document?, self.pieces)))
            .collect::<Result<Vec<_>>>()?
            .concat();
        if base.iter().all(|document| document.text.is_empty()) {
            return Err("the corpus has no text to repeat".into());
        }
        let end = self.rounds.map(|rounds| self.skip + rounds);
        let (mut bytes, mut count) = (0, 0);
        'corpus: for round in 0..end.unwrap_or(usize::MAX) {
            let alphabet = Alphabet::new(&mut rng);
            if round < self.skip {
                continue;
            }
            for document in &base {
                let mut document = document.clone();
                if round > 0 {
                    document.id += &format!("~{round}");
                    document.text = match self.letters {
                        true => alphabet.write(&document.text),
                        false => edit_lines(&document.text, self.edits, &words, &mut rng),
                    };
                }
                bytes += document.text.len();
                count += 1;
                serde_json::to_writer(&mut out, &document)?;
                out.write_all(b"\n")?;
                if end.is_none() && bytes >= self.bytes {
                    break 'corpus;
                }
            }
        }
        out.flush()?;
        eprintln!("{count} documents, {bytes} bytes of text");
        Ok(())
    }
}

/// Cuts the document at line ends into pieces of at least `bytes` bytes. The last piece may be
/// smaller.
fn pieces(document: Document, bytes: Option<usize>) -> Vec<Document> {
    let Some(bytes) = bytes else { return vec![document] };
    let mut pieces: Vec<Document> = Vec::new();
    for line in document.text.split_inclusive('\n') {
        match pieces.last_mut() {
            Some(piece) if piece.text.len() < bytes => piece.text += line,
            _ => {
                let id = format!("{}.{}", document.id, pieces.len());
                pieces.push(Document { id, text: line.into() });
            }
        }
    }
    pieces
}

/// A permutation of the letters a to z, for each byte of a text in UTF-8.
struct Alphabet {
    bytes: [u8; 256],
}

impl Alphabet {
    fn new(rng: &mut Rng) -> Alphabet {
        let mut letters: [u8; 26] = std::array::from_fn(|i| i as u8);
        rng.shuffle(&mut letters);
        let mut bytes = std::array::from_fn(|byte| byte as u8);
        for (i, letter) in letters.into_iter().enumerate() {
            bytes[usize::from(b'a') + i] = b'a' + letter;
            bytes[usize::from(b'A') + i] = b'A' + letter;
        }
        Alphabet { bytes }
    }

    fn write(&self, text: &str) -> String {
        let bytes = text.bytes().map(|byte| self.bytes[usize::from(byte)]);
        String::from_utf8(bytes.collect()).expect("letters of ASCII replace letters of ASCII")
    }
}

/// Edits like [`edit`], but keeps the lines.
fn edit_lines(text: &str, level: u32, words: &Vocabulary, rng: &mut Rng) -> String {
    let lines = text.lines().map(|line| {
        let indent = line.len() - line.trim_start().len();
        let pieces: Vec<&str> = line.split_whitespace().collect();
        format!("{}{}", &line[..indent], edit(&pieces, level, words, rng))
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_makes_the_same_corpus() {
        let make = |seed| {
            let mut rng = Rng::with_seed(seed);
            let words = Vocabulary::new(&mut rng);
            let background: Vec<Document> = made_up(&words, 50_000, &mut rng).collect();
            let planted = plant("quoting", 10, &background, &words, &mut rng);
            (background.into_iter().map(|d| d.text).collect::<String>(), planted.text)
        };
        assert_eq!(make(1), make(1));
        assert_ne!(make(1), make(2));
    }

    #[test]
    fn as_many_words_are_edited_as_the_level_says() {
        let mut rng = Rng::with_seed(3);
        let words = Vocabulary::new(&mut rng);
        let text: Vec<String> = (0..20_000).map(|i| format!("x{i}")).collect();
        let text: Vec<&str> = text.iter().map(String::as_str).collect();
        for level in [0, 5, 20] {
            let edited = edit(&text, level, &words, &mut rng);
            let kept: std::collections::HashSet<&str> = edited.split(' ').collect();
            let lost = text.iter().filter(|word| !kept.contains(*word)).count() as f64;
            let new = edited.split(' ').filter(|word| !word.starts_with('x')).count() as f64;
            // Two of three edits remove a word, and two of three edits insert a new word.
            let expected = f64::from(level) / 100.0 * 20_000.0 * 2.0 / 3.0;
            assert!((lost - expected).abs() <= expected * 0.1, "{level}: {lost}");
            assert!((new - expected).abs() <= expected * 0.1, "{level}: {new}");
        }
    }

    #[test]
    fn other_letters_keep_the_words_apart() {
        let text = "The oath, the OATH: Z\u{fc}rich\n";
        let other = Alphabet::new(&mut Rng::with_seed(7)).write(text);
        assert_ne!(other, text);
        assert_eq!(other.len(), text.len());
        let words =
            |text: &str| text.to_lowercase().split(' ').map(str::to_string).collect::<Vec<_>>();
        assert_eq!(words(&other)[0], words(&other)[2]);
        let mut bytes = Alphabet::new(&mut Rng::with_seed(7)).bytes;
        bytes.sort_unstable();
        assert!(bytes.iter().copied().eq(0..=255));
    }

    #[test]
    fn a_corpus_goes_on_where_another_ended() {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name);
        std::fs::write(path("base"), "{\"id\":\"d\",\"text\":\"one line\\nanother\\n\"}\n")
            .unwrap();
        let write = |name: &str, skip, rounds| {
            let repeat = Repeat {
                base: path("base"),
                out: path(name),
                pieces: Some(5),
                letters: true,
                bytes: 0,
                skip,
                rounds: Some(rounds),
                edits: 0,
                seed: 1,
            };
            repeat.run().unwrap();
            std::fs::read_to_string(path(name)).unwrap()
        };
        let whole = write("whole", 0, 5);
        assert_eq!(write("first", 0, 2) + &write("rest", 2, 3), whole);
        assert_eq!(whole.lines().collect::<std::collections::HashSet<_>>().len(), 10);
    }

    #[test]
    fn pieces_hold_the_whole_text() {
        let text = "one line\nanother line\n\nand the last one".to_string();
        let cut = pieces(Document { id: "d".into(), text: text.clone() }, Some(10));
        assert_eq!(cut.iter().map(|piece| piece.text.as_str()).collect::<String>(), text);
        assert_eq!(cut.iter().map(|piece| piece.id.as_str()).collect::<Vec<_>>(), ["d.0", "d.1"]);
    }

    #[test]
    fn a_passage_is_a_part_of_its_source() {
        let mut rng = Rng::with_seed(4);
        let words = Vocabulary::new(&mut rng);
        let background: Vec<Document> = made_up(&words, 100_000, &mut rng).collect();
        for _ in 0..20 {
            let planted = plant("passage", 0, &background, &words, &mut rng);
            let source = background.iter().find(|d| d.id == planted.source).expect("it is there");
            let text = source.text.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(text.contains(&planted.text));
            assert!((50..=100).contains(&planted.text.split(' ').count()));
        }
    }
}
