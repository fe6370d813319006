//! The title of a document, which many classes take before the document begins.

use super::option::bracketed;
use super::{DOCUMENT, Formula, TexReader};

/// Commands of the preamble whose argument a reader sees on the first page.
const SEEN: [&str; 4] = ["title", "subtitle", "author", "abstract"];

/// The maximum size of such an argument, in bytes.
const BYTES_MAX: usize = 10_000;

/// Returns where the first of these marks ends that is not in a comment and not a part of a longer
/// name.
pub fn end_of(source: &str, mark: &str) -> Option<usize> {
    let mut from = 0;
    loop {
        let end = from + source[from..].find(mark)? + mark.len();
        if source[end..].starts_with(|c: char| c.is_ascii_alphabetic()) && !mark.ends_with('}') {
            from = end;
        } else if is_in_comment(&source[..end - mark.len()]) {
            from = end + source[end..].find('\n')?;
        } else {
            return Some(end);
        }
    }
}

/// Returns whether a text ends in a comment.
fn is_in_comment(before: &str) -> bool {
    let line = &before[before.rfind('\n').map_or(0, |end| end + 1)..];
    let mut is_escaped = false;
    line.bytes().any(|byte| {
        let is_comment = byte == b'%' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        is_comment
    })
}

/// Returns whether a source is a document and not a part of another.
pub fn is_main(source: &str) -> bool {
    let begins = |mark: &[u8]| str::from_utf8(mark).is_ok_and(|of| end_of(source, of).is_some());
    DOCUMENT.into_iter().any(begins) && !source.contains("{subfiles}")
}

impl<'a> TexReader<'a> {
    /// Reads the title in a preamble, and passes over the rest.
    pub fn preamble(&mut self, preamble: &'a str) {
        let mut from = 0;
        for (start, end) in arguments(preamble) {
            if start < from {
                continue;
            }
            self.pass(&preamble[from..start]);
            self.gap = Some(self.text.len());
            self.rest = &preamble[start..end];
            self.read();
            self.formula = Formula::None;
            from = end;
        }
        self.pass(&preamble[from..]);
        self.gap = Some(self.text.len());
    }
}

/// Returns the places of the arguments that a reader sees, in their order.
fn arguments(preamble: &str) -> Vec<(usize, usize)> {
    let argument = |name: &&str| {
        let begin = end_of(preamble, &format!("\\{name}"))?;
        let mut rest = &preamble[begin..];
        rest = &rest[..rest.floor_char_boundary(BYTES_MAX)];
        let mut left = rest.trim_start();
        left = left[bracketed(left, b'[', b']').unwrap_or(0)..].trim_start();
        let len = bracketed(left, b'{', b'}')?;
        let start = begin + rest.len() - left.len();
        Some((start + 1, start + len - 1))
    };
    let mut found: Vec<_> = SEEN.iter().filter_map(argument).collect();
    found.sort_unstable();
    found
}

#[cfg(test)]
mod tests {
    use crate::tex::text_of;

    #[test]
    fn the_title_before_the_document_is_text() {
        for (tex, text) in [
            (
                "\\documentclass{a}\n\\title[Short]{On\n\\emph{tides}\\thanks{A fund}}\n\
                 %\\author{No}\n\\author{Ann}\\date{May}\n\\begin{document}\n\\maketitle Text",
                "\nOn\ntides A fund\n\nAnn\n\n Text",
            ),
            ("%\\title{No}\\title{No}\n\\begin{document}a", "\na"),
            ("\\titleformat{a}\\title{\\begin{document}b", "b"),
            ("\\title{A}\\subtitle{B}% \\begin{document}\n\\begin{document}c", "A B\nc"),
        ] {
            assert_eq!(text_of(tex), text, "{tex}");
        }
    }

    #[test]
    fn only_the_end_of_the_document_ends_its_text() {
        for (tex, text) in [
            (
                "\\begin{document}\\begin{verbatim}\\end{document}\n\\end{verbatim}\n\
                 % \\end{document}\na\\end{document}\nb",
                "\\end{document}\n\n\na\n",
            ),
            ("a\n\\endinput\nb\n", "a\n\n\n"),
            ("a \\endinput b", "a  b"),
        ] {
            assert_eq!(text_of(tex), text, "{tex}");
        }
    }
}
