//! Makes corpora that any machine can reproduce: texts made up from a seed, and the sources that
//! Cargo has downloaded.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use cento::text::kind::no_text_in;
use fastrand::Rng;

use super::record::Corpus;
use crate::Result;
use crate::cento::{Document, documents};
use crate::corpus::{Vocabulary, made_up};

const SEED: u64 = 1;

/// The extensions of the files that are taken from the sources of packages.
const ENDINGS: [&str; 3] = ["md", "rs", "txt"];

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
    let sources = registry_sources()?;
    let mut files = Vec::new();
    for package in locked_packages()? {
        collect(&package, &mut files)?;
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
        // have only one registry.
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

/// Returns the directory where Cargo unpacks downloaded packages.
fn registry_sources() -> Result<PathBuf> {
    let home = std::env::var_os("CARGO_HOME")
        .map(PathBuf::from)
        .or_else(|| std::env::var_os("HOME").map(|home| Path::new(&home).join(".cargo")));
    Ok(home.ok_or("neither CARGO_HOME nor HOME is set")?.join("registry/src"))
}

/// Returns the directories of the packages in `Cargo.lock`, ordered by registry and name.
fn locked_packages() -> Result<Vec<PathBuf>> {
    let lock = fs::read_to_string("Cargo.lock")
        .map_err(|e| format!("Cargo.lock: {e}; run this in the directory of the repository"))?;
    let locked = packages(&lock);
    let mut directories = Vec::new();
    for registry in sorted(&registry_sources()?)? {
        let is_locked = |package: &PathBuf| {
            let name = package.file_name().and_then(|name| name.to_str());
            name.is_some_and(|name| locked.contains(name))
        };
        directories.extend(sorted(&registry)?.into_iter().filter(is_locked));
    }
    Ok(directories)
}

/// Returns the texts of a file or directory of a package in `Cargo.lock`, ordered by path.
pub fn package_texts(package: &str, path: &str) -> Result<Vec<String>> {
    let is_it = |directory: &PathBuf| {
        let name = directory.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.rsplit_once('-').is_some_and(|(name, _)| name == package)
    };
    let directory = locked_packages()?.into_iter().find(is_it);
    let path = directory.ok_or_else(|| format!("no {package} in Cargo.lock"))?.join(path);
    let mut files = Vec::new();
    if path.is_dir() {
        collect(&path, &mut files)?
    } else {
        files.push(path)
    };
    let read = |file: PathBuf| {
        fs::read_to_string(&file).map_err(|e| format!("{}: {e}", file.display()).into())
    };
    files.into_iter().map(read).collect()
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

/// Returns `name-version` of each package that comes from a registry.
fn packages(lock: &str) -> BTreeSet<String> {
    let mut packages = BTreeSet::new();
    for package in lock.split("[[package]]") {
        let value = |name: &str| {
            let line = package.lines().find_map(|line| line.strip_prefix(name))?;
            line.trim().strip_prefix("= \"")?.strip_suffix('"')
        };
        if let (Some(name), Some(version), Some(_)) =
            (value("name"), value("version"), value("source"))
        {
            packages.insert(format!("{name}-{version}"));
        }
    }
    packages
}

fn sorted(directory: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(directory).map_err(|e| format!("{}: {e}", directory.display()))?;
    let mut paths = entries.map(|entry| Ok(entry?.path())).collect::<std::io::Result<Vec<_>>>()?;
    paths.sort_unstable();
    Ok(paths)
}

fn collect(directory: &Path, files: &mut Vec<PathBuf>) -> Result {
    for path in sorted(directory)? {
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        if path.is_dir() && !path.is_symlink() {
            collect(&path, files)?;
        } else if ENDINGS.contains(&ending) {
            files.push(path);
        }
    }
    Ok(())
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

    #[test]
    fn packages_of_the_workspace_itself_are_left_out() {
        let lock = "version = 4\n\n[[package]]\nname = \"own\"\nversion = \"0.1.0\"\n\n\
                    [[package]]\n\
                    name = \"fst\"\nversion = \"0.4.7\"\nsource = \"registry+https://x\"\n";
        assert_eq!(packages(lock).into_iter().collect::<Vec<_>>(), ["fst-0.4.7"]);
    }
}
