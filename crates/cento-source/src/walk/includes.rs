//! Finds the files that LaTeX files include.
//!
//! Every chapter is a document of its own, so that passages have its line numbers and nothing is
//! read twice. If a chapter is missing from the inputs, the report says so. Otherwise, the answer
//! for the main file would look complete.

use std::collections::HashSet;
use std::sync::Arc;

use crate::format::has_ending;

/// The reason why an included file is listed that is not among the inputs.
pub const INCLUDED: &str = "a LaTeX file includes it, and it is read only if you name it";

/// The maximum number of inclusions examined per file. Books have fewer chapters.
const INCLUSIONS_MAX: usize = 100;

/// The maximum length of a name, in bytes: the limit of paths on Linux.
const NAME_BYTES_MAX: usize = 4096;

/// Commands that include a LaTeX file.
const COMMANDS: [&[u8]; 4] = [b"input", b"include", b"subfile", b"InputIfFileExists"];

/// Commands whose first argument is the directory of the included file.
const FROM_DIRECTORIES: [&[u8]; 6] =
    [b"import", b"subimport", b"inputfrom", b"includefrom", b"subinputfrom", b"subincludefrom"];

/// The LaTeX files read so far, with the files that they include.
#[derive(Debug, Default)]
pub struct Includes {
    read: HashSet<Arc<str>>,
    /// In the order of the files.
    included: Vec<Inclusion>,
}

#[derive(Debug)]
struct Inclusion {
    /// The directory of the including file.
    directory: String,
    /// The file name with extension, relative to the directory of the main file.
    name: String,
}

impl Includes {
    /// Records a file, if its name is the name of a LaTeX file.
    pub fn add(&mut self, place: &Arc<str>, bytes: &[u8]) {
        if !has_ending(place, crate::tex::FORMAT.endings) {
            return;
        }
        self.read.insert(place.clone());
        let directory = place.rsplit_once('/').map_or("", |(directory, _)| directory);
        for name in included(bytes).take(INCLUSIONS_MAX) {
            self.included.push(Inclusion { directory: directory.to_owned(), name });
        }
    }

    /// Returns the places of included files that have not been read, each once. Names are relative
    /// to the main file, which may be in a different directory than the including file.
    pub fn missing(&self) -> Vec<String> {
        let mut told = HashSet::new();
        let is_read = |name: &str| {
            let ends = |read: &Arc<str>| {
                read.strip_suffix(name).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
            };
            self.read.iter().any(ends)
        };
        let mut missing = Vec::new();
        for Inclusion { directory, name } in &self.included {
            let place = match directory.as_str() {
                "" => name.clone(),
                directory => format!("{directory}/{name}"),
            };
            let name = name.trim_start_matches("./").trim_start_matches("../");
            if told.insert(place.clone()) && !is_read(name) {
                missing.push(place);
            }
        }
        missing
    }
}

/// Returns the names of the LaTeX files that a source includes outside of comments.
fn included(source: &[u8]) -> impl Iterator<Item = String> + '_ {
    source.split(|&byte| byte == b'\n').flat_map(|line| {
        let line = without_comment(line);
        memchr::memchr_iter(b'\\', line).filter_map(|at| included_by(&line[at + 1..]))
    })
}

/// Returns the part of a line before a comment. A percent sign after a backslash is text.
fn without_comment(line: &[u8]) -> &[u8] {
    let is_comment = |&at: &usize| at == 0 || line[at - 1] != b'\\';
    let end = memchr::memchr_iter(b'%', line).find(is_comment).unwrap_or(line.len());
    &line[..end]
}

/// Returns the name of the LaTeX file that a command without its backslash includes.
fn included_by(command: &[u8]) -> Option<String> {
    let len = command.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    let (name, rest) = command.split_at(len);
    let rest = rest.strip_prefix(b"*").unwrap_or(rest);
    let path = match () {
        () if FROM_DIRECTORIES.contains(&name) => {
            let (directory, rest) = braced(rest)?;
            let directory = directory.trim_start_matches("./");
            let slash = if directory.is_empty() || directory.ends_with('/') { "" } else { "/" };
            format!("{directory}{slash}{}", braced(rest)?.0)
        }
        () if name == b"input" && rest.starts_with(b" ") => bare(rest)?.to_owned(),
        () if COMMANDS.contains(&name) => braced(rest)?.0.to_owned(),
        () => return None,
    };
    let has_other_ending = path.rsplit('/').next()?.contains('.') && !path.ends_with(".tex");
    let is_name = !path.is_empty() && !path.contains(['\\', '#', '{', '$']);
    (is_name && !has_other_ending).then(|| format!("{}.tex", path.trim_end_matches(".tex")))
}

/// Returns an argument in braces, and what follows it.
fn braced(rest: &[u8]) -> Option<(&str, &[u8])> {
    let rest = rest.trim_ascii_start().strip_prefix(b"{")?;
    // Otherwise a long line of commands without an end takes the square of its length.
    let end = memchr::memchr(b'}', &rest[..rest.len().min(NAME_BYTES_MAX)])?;
    Some((str::from_utf8(&rest[..end]).ok()?.trim(), &rest[end + 1..]))
}

/// Returns the name after `\input`, which ends at a space.
fn bare(rest: &[u8]) -> Option<&str> {
    let rest = rest.trim_ascii_start();
    if rest.starts_with(b"{") {
        return Some(braced(rest)?.0);
    }
    let rest = &rest[..rest.len().min(NAME_BYTES_MAX)];
    let is_end = |byte: &u8| byte.is_ascii_whitespace() || b"\\{}%".contains(byte);
    str::from_utf8(&rest[..rest.iter().position(is_end).unwrap_or(rest.len())]).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn missing(files: &[(&str, &str)]) -> Vec<String> {
        let mut includes = Includes::default();
        files.iter().for_each(|(place, text)| includes.add(&(*place).into(), text.as_bytes()));
        includes.missing()
    }

    #[test]
    fn included_files_that_are_not_read_are_named() {
        let main = "a \\input{chapters/ch0}\n\\include{ch1.tex} % \\input{old}\n\\input{fig.pgf}\
            \\input{\\jobname}\\input{ch1}\\subfile{b}\\inputenc{utf8}\\input{a";
        assert_eq!(
            missing(&[("t/main.tex", main)]),
            ["t/chapters/ch0.tex", "t/ch1.tex", "t/b.tex"]
        );
        assert_eq!(missing(&[("main.tex", "\\input{a}")]), ["a.tex"]);
        assert_eq!(missing(&[("main.tex", "50 \\% of \\input{a} %\\input{b}")]), ["a.tex"]);
        assert_eq!(missing(&[("main.txt", "\\input{a}")]), [""; 0]);
        let bare = "\\input ch1\n\\import{./}{ch2}\\subimport{parts}{ch3}\\input  ch4.tex\\relax\
            \\InputIfFileExists{ch5}{}{}\\inputs x\\input{} \\input \\jobname";
        let chapters = ["ch1.tex", "ch2.tex", "parts/ch3.tex", "ch4.tex", "ch5.tex"];
        assert_eq!(missing(&[("main.tex", bare)]), chapters);
        let chapter = ("t/chapters/ch0.tex", "words \\input{sections/s}");
        let section = ("t/sections/s.tex", "words");
        let main = ("t/main.tex", "\\input{./chapters/ch0}");
        assert_eq!(missing(&[main, chapter, section]), [""; 0]);
        assert_eq!(missing(&[main, chapter]), ["t/chapters/sections/s.tex"]);
    }
}
