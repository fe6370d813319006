//! FileSets: all files below a directory as one document.

use std::path::{Component, Path, PathBuf};

use serde::Serialize;

use super::left_out::LeftOuts;
use super::memory;
use super::messages::Messages;
use super::output;
use cento::Error;
use cento::Overlap;
use cento::Stop;
use cento::Unseen;
use cento::index::{Config, Document, Index, SignedDocument, WriterOptions};
use cento::search::Boilerplate;
use cento_report::NotCompared;
use cento_source::{
    Chunk, EMPTY, PathFilter, ReadError, SourceOptions, is_by_name, place_of, read,
};

/// All files below a directory, as one document.
#[derive(Debug)]
pub struct FileSet {
    /// The path of the directory.
    pub name: String,
    files: Vec<File>,
}

#[derive(Debug)]
struct File {
    path: String,
    text: String,
    unseen: Unseen,
    /// Its distinct fingerprints, ascending.
    keys: Vec<u64>,
}

/// Two files of two file sets that have fingerprints in common.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct FilePair {
    /// The file of the one.
    pub a: String,
    /// The file of the other.
    pub b: String,
    /// Distinct fingerprints in common.
    pub overlap: u32,
}

/// The number of pairs of files that are shown of a pair of file sets.
const FILE_PAIRS_MAX: usize = 5;

/// The file sets of some directories or archives.
#[derive(Debug, Default)]
pub struct FileSets {
    /// Sorted by name.
    pub all: Vec<FileSet>,
    /// Files that could not be read, or not to their ends.
    pub left_out: Vec<NotCompared>,
    /// Files that were left out by their names, and empty files of file sets with text.
    pub by_name: LeftOuts,
    messages: Messages,
}

/// Why a list of records is no part of a file set.
const LIST: &str = "it is a list of records; --by file compares those";

/// Why a file set is not compared.
const NOTHING_LEFT: &str =
    "there is nothing to compare: all of its files are left out by their names";

impl FileSets {
    /// Reads all files below each of `inputs`: those below a directory in it are one file set, in
    /// the order of their paths, and a file directly in it is one by itself.
    ///
    /// # Errors
    /// When JSON lines or standard input are named: their documents are in no directory.
    pub fn read(inputs: &[PathBuf], options: &SourceOptions) -> cento::Result<FileSets> {
        let mut found = FileSets::default();
        // Files that were left out; each belongs to a file set, or is all of it.
        let mut without: Vec<(PathBuf, String, &'static str)> = Vec::new();
        for input in inputs {
            // As the ids of its files begin.
            let root = PathBuf::from(&*place_of(input));
            for chunk in read(std::slice::from_ref(input), options) {
                match chunk {
                    Ok(chunk) if is_list(&chunk, &root) => {
                        let what = "its documents are in no directories; use --by file, or name \
                                    directories or archives without it";
                        return Err(Error::input(&*chunk.path, what));
                    }
                    Ok(chunk) if !chunk.kind.is_whole_file() => {
                        let is_new =
                            found.left_out.last().is_none_or(|last| *last.name != *chunk.path);
                        if is_new {
                            found.leave_out(NotCompared::new(&*chunk.path, LIST));
                        }
                    }
                    Ok(chunk) => chunk.documents(options).for_each(|read| match read {
                        Ok((document, in_file)) => {
                            let unseen = in_file.unseen(&document.text);
                            found.push(&root, document, unseen);
                        }
                        Err(error) => found.leave_out(output::not_compared(&error)),
                    }),
                    Err(ReadError::LeftOut { place, why, .. }) if is_by_name(why) => {
                        found.by_name.note(
                            &place,
                            why,
                            std::slice::from_ref(input),
                            &options.filter,
                        );
                        without.push((root.clone(), place, why));
                    }
                    Err(ReadError::LeftOut { place, why, .. }) if why == EMPTY => {
                        without.push((root.clone(), place, why))
                    }
                    Err(ReadError::LeftOut { place, why, .. }) => {
                        found.leave_out(NotCompared::new(place, why))
                    }
                    Err(ReadError::Refused(error) | ReadError::Unread(error)) => {
                        found.leave_out(output::not_compared(&error))
                    }
                }
            }
        }
        let unwrapped = found.unwrap();
        found.all.sort_by(|a, b| a.name.cmp(&b.name));
        for set in &mut found.all {
            set.files.sort_by(|a, b| Path::new(&a.path).cmp(Path::new(&b.path)));
        }
        for (root, place, why) in without {
            found.account(unwrapped.as_deref().unwrap_or(&root), &place, why, options);
        }
        found.messages.finish();
        Ok(found)
    }

    /// Names a file without text, unless others of its set have text, and the file set of
    /// which nothing is left.
    fn account(&mut self, root: &Path, place: &str, why: &'static str, options: &SourceOptions) {
        let name = set_of(root, place);
        let is_there =
            self.all.binary_search_by(|one| one.name.as_str().cmp(&name)).is_ok() && name != place;
        if why == EMPTY && is_there {
            self.by_name.note(place, why, &[], &options.filter);
        } else if why == EMPTY {
            self.leave_out(NotCompared::new(place, why));
        } else if !is_there && name != place && self.left_out.iter().all(|one| one.name != name) {
            self.leave_out(NotCompared::new(name, NOTHING_LEFT));
        }
    }

    /// Finds the file sets of an archive with one directory around all of them, as some learning
    /// platforms pack it: a single file set whose files are all at least two directories deep is
    /// not one. Returns that directory.
    fn unwrap(&mut self) -> Option<PathBuf> {
        let [only] = &self.all[..] else { return None };
        let root = PathBuf::from(&only.name);
        let names: Vec<String> = only.files.iter().map(|file| set_of(&root, &file.path)).collect();
        let is_wrapped = only.files.iter().zip(&names).all(|(file, name)| file.path != *name);
        if !is_wrapped || names.iter().all(|name| *name == names[0]) {
            return None;
        }
        let only = self.all.remove(0);
        for (file, name) in only.files.into_iter().zip(names) {
            self.put(name, file);
        }
        Some(root)
    }

    fn leave_out(&mut self, what: NotCompared) {
        self.messages.tell(&what.name, &what.reason);
        self.left_out.push(what);
    }

    fn push(&mut self, root: &Path, Document { id: path, text, .. }: Document, unseen: Unseen) {
        let name = set_of(root, &path);
        self.put(name, File { path, text, unseen, keys: Vec::new() });
    }

    fn put(&mut self, name: String, file: File) {
        match self.all.iter_mut().find(|set| set.name == name) {
            Some(set) => set.files.push(file),
            None => self.all.push(FileSet { name, files: vec![file] }),
        }
    }

    /// Returns the parts of each file set that a reader does not see, if there are any.
    pub fn unseen(&self) -> impl Iterator<Item = (&str, Unseen)> {
        let of_all = self.all.iter().map(|set| {
            let files = set.files.iter().map(|file| file.unseen);
            (set.name.as_str(), files.fold(Unseen::default(), Unseen::with))
        });
        of_all.filter(|(_, unseen)| !unseen.is_none())
    }

    /// Adds each file set to the index as a document, and notes what each of its files has that
    /// is not in `ignored`, which is ascending.
    ///
    /// # Errors
    /// When a text is too long, or the index cannot be written; [`Error::Cancelled`] after `stop`.
    pub fn add_to(&mut self, index: &Index, ignored: &[u64], stop: &Stop) -> cento::Result<()> {
        let config = index.config();
        let mut writer =
            index.writer(WriterOptions::default().memory_bytes(memory::default_bytes() / 2))?;
        for set in &mut self.all {
            let mut text = String::new();
            for file in &mut set.files {
                file.keys = keys_of(&file.text, config, ignored)?;
                // A word that ends a file is not that which begins the next one.
                text.push_str(&std::mem::take(&mut file.text));
                text.push('\n');
            }
            let document = Document::new(set.name.clone(), text).checked()?;
            let signed = SignedDocument::new(document, config, stop)?;
            writer.add_signed(signed)?;
        }
        writer.finish()
    }

    /// Removes what is boilerplate from what its files have.
    pub fn ignore(&mut self, boilerplate: &Boilerplate) {
        let files = self.all.iter_mut().flat_map(|set| &mut set.files);
        files.for_each(|file| file.keys.retain(|&key| !boilerplate.has(key)));
    }

    /// Returns the pairs of files of two file sets with most in common, and the number of pairs
    /// with something in common.
    pub fn files_of(&self, a: &str, b: &str) -> (Vec<FilePair>, usize) {
        let files = |name: &str| {
            let found = self.all.binary_search_by(|set| set.name.as_str().cmp(name));
            found.map_or(&[][..], |place| &self.all[place].files[..])
        };
        let mut pairs = Vec::new();
        for one in files(a) {
            for other in files(b) {
                let overlap = Overlap::of(&one.keys, &other.keys).shared;
                if overlap > 0 {
                    pairs.push(FilePair { a: one.path.clone(), b: other.path.clone(), overlap });
                }
            }
        }
        // Stable: of equals the first paths.
        pairs.sort_by_key(|pair| std::cmp::Reverse(pair.overlap));
        let total = pairs.len();
        pairs.truncate(FILE_PAIRS_MAX);
        (pairs, total)
    }
}

/// Returns whether it is part of a list of records that was named, or standard input.
fn is_list(chunk: &Chunk, root: &Path) -> bool {
    let is_named = Path::new(&*chunk.path) == root;
    let is_data = !chunk.kind.is_whole_file() || PathFilter::is_data(&chunk.path);
    &*chunk.path == "-" || (is_named && is_data)
}

/// Returns the name of the file set that has the file at this path, which is `root` or below it.
fn set_of(root: &Path, path: &str) -> String {
    // Names of documents leave out a leading `./`.
    let root = root.strip_prefix(".").unwrap_or(root);
    let Ok(below) = Path::new(path).strip_prefix(root) else { return path.to_owned() };
    let mut parts = below.components();
    match (parts.next(), parts.next()) {
        (Some(Component::Normal(first)), Some(_)) => root.join(first).display().to_string(),
        _ => path.to_owned(),
    }
}

fn keys_of(text: &str, config: &Config, ignored: &[u64]) -> cento::Result<Vec<u64>> {
    let mut keys: Vec<u64> = config.sign(text)?.1.iter().map(|found| found.key).collect();
    keys.sort_unstable();
    keys.dedup();
    keys.retain(|key| ignored.binary_search(key).is_err());
    Ok(keys)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_set_is_a_directory_of_the_first_level() {
        let check = |input: &str, path: &str, expected: &str| {
            assert_eq!(set_of(Path::new(input), path), expected, "{input}");
        };
        check("in", "in/ann/A.java", "in/ann");
        check("in", "in/ann/src/deep/A.java", "in/ann");
        check("./in/", "in/bob/A.java", "in/bob");
        check(".", "ann/A.java", "ann");
        check("in", "in/A.java", "in/A.java");
        check("in/A.java", "in/A.java", "in/A.java");
        check("in.zip", "in.zip/ann/A.java", "in.zip/ann");
        check("../in", "../in/ann/A.java", "../in/ann");
    }
}
