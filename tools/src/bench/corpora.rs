//! Makes reproducible corpora: texts made up from a seed, and the sources that Cargo has
//! downloaded.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use cento::text::kind::no_text_in;
use cento_testing::cargo_sources::{locked_packages, registry, text_files};
use fastrand::Rng;

use super::record::Corpus;
use crate::Result;
use crate::cento::{Document, documents};
use crate::corpus::{Vocabulary, made_up};

const SEED: u64 = 1;

/// Writes about `bytes` bytes of synthetic documents and returns the numbers of documents and
/// bytes.
/// A smaller corpus is the beginning of a larger one.
pub fn write_made_up(out: impl Write, bytes: usize) -> Result<(usize, usize)> {
    let mut rng = Rng::with_seed(SEED);
    let words = Vocabulary::new(&mut rng);
    write(out, made_up(&words, bytes, &mut rng))
}

pub fn make_made_up(path: &Path, bytes: usize) -> Result<Corpus> {
    let (documents, bytes) = write_made_up(File::create(path)?, bytes)?;
    let contents = "words drawn by Zipf's law from a seed, 100 to 3,000 a document, all unrelated";
    Ok(describe("synthetic", contents, documents, bytes))
}

/// Makes a corpus of at most `bytes_max` bytes from the sources of the packages in `Cargo.lock`.
pub fn make_sources(path: &Path, bytes_max: usize) -> Result<Corpus> {
    let sources = registry()?;
    let mut files = Vec::new();
    for package in locked_packages()? {
        files.extend(text_files(&package)?);
    }
    let (mut taken, mut texts) = (0, Vec::new());
    for file in files {
        let Ok(text) = fs::read_to_string(&file) else { continue };
        if taken + text.len() > bytes_max || no_text_in(&text).is_some() {
            continue;
        }
        taken += text.len();
        let id = file.strip_prefix(&sources).unwrap_or(&file);
        // Ids omit the directory of the registry because its name contains a hash. Most machines
        // have a single registry.
        let id = id.iter().skip(1).collect::<PathBuf>().display().to_string();
        texts.push(Document { id, text });
    }
    if texts.is_empty() {
        return Err(format!("{} has no sources of packages", sources.display()).into());
    }
    let (documents, bytes) = write(File::create(path)?, texts.into_iter())?;
    let contents =
        "files (.md, .rs, .txt) of the packages in `Cargo.lock`, as Cargo downloaded them";
    Ok(describe("sources", contents, documents, bytes))
}

/// Makes a corpus of the texts in `part`, which is the beginning of the user's file `of`.
pub fn make_copy(path: &Path, part: &Path, of: &Path) -> Result<Corpus> {
    let texts = documents(part)?.collect::<Result<Vec<Document>>>()?;
    let texts = texts.into_iter().filter(|document| no_text_in(&document.text).is_none());
    let (documents, bytes) = write(File::create(path)?, texts)?;
    let file = of.file_name().and_then(|name| name.to_str()).unwrap_or("corpus");
    let name = file.split('.').next().unwrap_or(file);
    Ok(describe(name, &format!("`--corpus {file}`"), documents, bytes))
}

pub fn describe_part(name: &str, path: &Path) -> Result<Corpus> {
    let (mut count, mut bytes) = (0, 0);
    for document in documents(path)? {
        count += 1;
        bytes += document?.text.len();
    }
    Ok(describe(name, "", count, bytes))
}

fn describe(name: &str, contents: &str, documents: usize, bytes: usize) -> Corpus {
    let megabytes = (bytes as f64 / 1e5).round() / 10.0;
    Corpus { name: name.into(), contents: contents.into(), documents, megabytes }
}

fn write(out: impl Write, documents: impl Iterator<Item = Document>) -> Result<(usize, usize)> {
    let mut out = BufWriter::with_capacity(1 << 20, out);
    let (mut count, mut bytes) = (0, 0);
    for document in documents {
        serde_json::to_writer(&mut out, &document)?;
        out.write_all(b"\n")?;
        count += 1;
        bytes += document.text.len();
    }
    out.flush()?;
    Ok((count, bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_larger_corpus_begins_with_the_smaller_one() {
        let make = |bytes| {
            let mut out = Vec::new();
            write_made_up(&mut out, bytes).expect("memory can be written");
            out
        };
        let (small, large) = (make(20_000), make(60_000));
        assert!(large.len() > 2 * small.len() && large.starts_with(&small));
    }
}
