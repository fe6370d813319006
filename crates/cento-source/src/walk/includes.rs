//! Finds the files that LaTeX and XML files include.
//!
//! Every chapter is a document of its own, so that passages have its line numbers and nothing is
//! read twice. If a chapter is missing from the inputs, the report says so. Otherwise, the answer
//! for the main file would look complete.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

use crate::format::has_ending;
use crate::tex::VERBATIM;
use crate::xml::included::{included as xml_included, may_include};

/// The reasons why an included file is listed that is not among the inputs.
const BY_LATEX: &str = "a LaTeX file includes it, and it is read only if you name it";
const BY_XML: &str = "an XML file includes it, and it is read only if you name it";

/// The maximum number of inclusions examined per file. Books have fewer chapters.
const INCLUSIONS_MAX: usize = 100;

/// The maximum length of a name, in bytes: the limit of paths on Linux.
const NAME_BYTES_MAX: usize = 4096;

/// Commands that include a LaTeX file.
const COMMANDS: [&[u8]; 4] = [b"input", b"include", b"subfile", b"InputIfFileExists"];

/// Commands whose first argument is the directory of the included file.
const FROM_DIRECTORIES: [&[u8]; 6] =
    [b"import", b"subimport", b"inputfrom", b"includefrom", b"subinputfrom", b"subincludefrom"];

/// Commands that load packages or a class, and the endings of their files.
const LOADING: [(&[u8], &str); 4] = [
    (b"usepackage", ".sty"),
    (b"RequirePackage", ".sty"),
    (b"documentclass", ".cls"),
    (b"LoadClass", ".cls"),
];

/// The LaTeX and XML files read so far, with the files included in each.
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
    /// The reason why it is listed.
    why: &'static str,
}

impl Includes {
    /// Records a file, if it is LaTeX or XML.
    pub fn add(&mut self, place: &Arc<str>, bytes: &[u8]) {
        if has_ending(place, crate::tex::FORMAT.endings) {
            self.add_all(place, included(bytes), BY_LATEX);
        } else if may_include(place, bytes) {
            self.add_all(place, xml_included(bytes).into_iter(), BY_XML);
        }
    }

    fn add_all(
        &mut self,
        place: &Arc<str>,
        names: impl Iterator<Item = String>,
        why: &'static str,
    ) {
        self.read.insert(place.clone());
        let directory = place.rsplit_once('/').map_or("", |(directory, _)| directory);
        for name in names.take(INCLUSIONS_MAX) {
            self.included.push(Inclusion { directory: directory.to_owned(), name, why });
        }
    }

    /// Returns the places of included files that have not been read, each once with a reason. Names
    /// are relative to the main file, which may be in a different directory than the including
    /// file.
    pub fn missing(&self) -> Vec<(String, &'static str)> {
        let mut told = HashSet::new();
        // A corpus may have a million files.
        let mut read: HashMap<&str, Vec<&str>> = HashMap::new();
        if !self.included.is_empty() {
            for place in &self.read {
                read.entry(file_name(place)).or_default().push(place);
            }
        }
        let is_read = |name: &str| {
            let ends = |read: &&str| {
                read.strip_suffix(name).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
            };
            read.get(file_name(name)).is_some_and(|places| places.iter().any(ends))
        };
        let mut missing = Vec::new();
        for Inclusion { directory, name, why } in &self.included {
            let place = match directory.as_str() {
                "" => name.clone(),
                _ if name.contains("://") || name.starts_with('/') => name.clone(),
                directory => format!("{directory}/{name}"),
            };
            let name = name.trim_start_matches("./").trim_start_matches("../");
            if told.insert(place.clone()) && !is_read(name) {
                missing.push((place, *why));
            }
        }
        missing
    }
}

/// Returns the last part of a place.
fn file_name(place: &str) -> &str {
    place.rsplit('/').next().unwrap_or_default()
}

/// Returns the names of the LaTeX files that a source includes outside of comments.
fn included(source: &[u8]) -> impl Iterator<Item = String> + '_ {
    commands(source).filter_map(included_by)
}

/// Returns the names of files that may define macros for a LaTeX source: included files, packages,
/// and the class.
pub fn files_taken(source: &[u8]) -> Vec<String> {
    let packages = |command| packages(command).into_iter().flatten();
    commands(source)
        .flat_map(|command| included_by(command).into_iter().chain(packages(command)))
        .collect()
}

/// Environments whose lines a reader does not see.
const UNSEEN: [&str; 2] = ["comment", "filecontents"];

/// Returns what follows each backslash in a line of a source, up to a comment, outside of listings.
fn commands(source: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut listing: Option<&str> = None;
    let lines = source.split(|&byte| byte == b'\n').filter(move |line| match listing {
        Some(name) => {
            listing = listing.filter(|_| !has_environment(line, b"\\end", name));
            false
        }
        None => {
            let begun = |name: &&&str| {
                has_environment(line, b"\\begin", name) && !has_environment(line, b"\\end", name)
            };
            listing = VERBATIM.iter().chain(&UNSEEN).find(begun).copied();
            true
        }
    });
    lines.flat_map(|line| {
        let line = without_comment(line);
        let shown = shown_as_is(line);
        memchr::memchr_iter(b'\\', line)
            .filter(move |at| !shown.iter().any(|shown| shown.contains(at)))
            .map(|at| &line[at + 1..])
    })
}

/// Returns whether a line has this command with the name of this environment.
fn has_environment(line: &[u8], command: &[u8], name: &str) -> bool {
    memchr::memmem::find_iter(line, command).any(|at| {
        let rest = line[at + command.len()..].strip_prefix(b"{");
        let rest = rest.and_then(|rest| rest.strip_prefix(name.as_bytes()));
        let rest = rest.map(|rest| rest.strip_prefix(b"*").unwrap_or(rest));
        rest.is_some_and(|rest| rest.starts_with(b"}"))
    })
}

/// Returns the parts of a line that are no commands, because `\verb` prints their source:
/// `\verb|\input{a}|`.
fn shown_as_is(line: &[u8]) -> Vec<Range<usize>> {
    const SHOWN: &[u8] = b"\\verb";
    let mut shown: Vec<Range<usize>> = Vec::new();
    for at in memchr::memmem::find_iter(line, SHOWN) {
        let start = at + SHOWN.len();
        let start = start + usize::from(line.get(start) == Some(&b'*'));
        let Some(sign) = line.get(start).filter(|sign| !sign.is_ascii_alphanumeric()) else {
            continue;
        };
        if shown.last().is_none_or(|last| last.end <= at)
            && let Some(len) = memchr::memchr(*sign, &line[start + 1..])
        {
            shown.push(start..start + 1 + len);
        }
    }
    shown
}

/// Returns the part of a line before a comment. A percent sign after a backslash is text.
fn without_comment(line: &[u8]) -> &[u8] {
    let is_comment = |&at: &usize| at == 0 || line[at - 1] != b'\\';
    let end = memchr::memchr_iter(b'%', line).find(is_comment).unwrap_or(line.len());
    &line[..end]
}

/// Returns the LaTeX file included by a command. The command is given without the backslash.
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

/// Returns the names of the files with the packages or the class that a command loads.
fn packages(command: &[u8]) -> Option<Vec<String>> {
    let (rest, ending) = LOADING.iter().find_map(|(name, ending)| {
        command.strip_prefix(*name).map(|rest| (rest.trim_ascii_start(), ending))
    })?;
    let options = rest.starts_with(b"[").then(|| memchr::memchr(b']', rest)).flatten();
    let (names, _) = braced(&rest[options.map_or(0, |end| end + 1)..])?;
    Some(names.split(',').map(|name| format!("{}{ending}", name.trim())).collect())
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
        includes.missing().into_iter().map(|(place, _)| place).collect()
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
        // A manual of LaTeX shows the command.
        let shown = "\\begin{verbatim}\n\\input{b}\n\\end{verbatim}\n\
            \\verb|\\input{c}| and \\input{d}\n\
            \\begin{lstlisting}[language=TeX]\n\\include{e}\n\\end{lstlisting}\n\
            \\verb+x \\input{f}\n\\begin{comment*}\n\\input{g}";
        assert_eq!(missing(&[("main.tex", shown)]), ["d.tex", "f.tex"]);
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

    #[test]
    fn files_that_an_xml_file_includes_are_named() {
        let map =
            "<?xml version='1.0'?><map><topicref href='a.dita'/><topicref href='../b.dita'/></map>";
        assert_eq!(missing(&[("t/m.ditamap", map)]), ["t/a.dita", "t/../b.dita"]);
        let topic = ("t/a.dita", "<topic/>");
        assert_eq!(missing(&[("t/m", map), topic, ("b.dita", "<topic/>")]), [""; 0]);
        let web =
            "<b xmlns:xi='http://www.w3.org/2001/XInclude'><xi:include href='http://x/a'/></b>";
        assert_eq!(missing(&[("t/b.xml", web)]), ["http://x/a"]);
        assert_eq!(missing(&[("t/b.txt", web)]), [""; 0]);
    }
}
