//! Environments: `\begin{quote}`.

use super::argument::{ArgumentKind, WITH_TITLE};
use super::command::{ENVIRONMENTS_WITHOUT_TEXT, LETTERS};
use super::length::coordinates_len;
use super::option::Owner;
use super::{ARGUMENT_BYTES_MAX, Formula, TexReader, VERBATIM, is_formula};
use crate::quoted::{BIBLIOGRAPHY, line_end};
use cento::text::is_bibliography_heading;

/// Names of environments for quotations, apart from those that have `quot` in their names: of
/// German authors, and of the Brazilian class abntex2.
const QUOTATIONS: [&str; 3] = ["citacao", "citation", "zitat"];

/// The maximum number of open quotations that an end may belong to. Bounds the work.
const QUOTATIONS_OPEN_MAX: usize = 16;

fn is_quotation(name: &str) -> bool {
    name.contains("quot") || QUOTATIONS.contains(&name)
}

/// An open quotation in an environment.
pub struct OpenQuotation<'a> {
    name: &'a str,
    /// Where the lines of the quotation begin in the source.
    start: usize,
    /// Whether it has quotation marks, because its lines have other text, too.
    has_marks: bool,
}

impl<'a> TexReader<'a> {
    /// Returns the place in the source, or 0 in a definition.
    fn offset(&self) -> usize {
        let base = self.source.as_ptr() as usize;
        let offset = (self.rest.as_ptr() as usize).wrapping_sub(base);
        if offset <= self.source.len() { offset } else { 0 }
    }

    /// Reads the beginning of an environment, after `\begin`.
    pub fn environment(&mut self) {
        let begin = self.offset();
        let name = self.near().strip_prefix('{').and_then(|rest| rest.split_once('}'));
        let Some((name, _)) = name.filter(|(name, _)| !name.contains('\n')) else { return };
        self.skip(name.len() + 2);
        if is_formula(name) {
            self.formula = Formula::Other;
        }
        self.captions(name);
        let is_verbatim = VERBATIM.contains(&name);
        if is_verbatim || name == "comment" {
            self.options(Owner::Environment(name));
            let end = format!("\\end{{{name}}}");
            let len = self.rest.find(&end).unwrap_or(self.rest.len());
            let inner = self.skip(len);
            match is_verbatim {
                true => self.text.push_str(inner),
                false => self.pass(inner),
            }
            return;
        }
        self.drawing.begin(name, self.depth);
        self.overlay();
        self.options(Owner::Environment(name));
        self.overlay();
        if name.contains("display") && is_quotation(name) {
            // The citation, and a mark at its end.
            self.skip_option();
            self.skip_option();
        }
        self.skip(coordinates_len(self.near()));
        // Column specifications and other arguments without text.
        let found = ENVIRONMENTS_WITHOUT_TEXT.iter().find(|(other, _)| *other == name);
        let arguments = found.map_or(0, |(_, arguments)| *arguments);
        for _ in 0..arguments {
            self.argument();
            self.options(Owner::Environment(name));
        }
        match name {
            "thebibliography" => self.begin_bibliography(),
            name if is_quotation(name) => self.begin_quotation(name, begin),
            _ => {}
        }
        if WITH_TITLE.contains(&name) {
            self.options(Owner::Environment(name));
            self.open(ArgumentKind::Heading);
        }
    }

    /// Begins a quotation, whose `\begin` ends at this place of the source. Its lines are quoted. A
    /// line with other text stays a line, so that a quotation in it gets quotation marks.
    fn begin_quotation(&mut self, name: &'a str, begin: usize) {
        let before = self.source.get(..begin).unwrap_or_default();
        let before = before.strip_suffix("\\begin").unwrap_or(before);
        let line = before.bytes().rev().take(ARGUMENT_BYTES_MAX).take_while(|byte| *byte != b'\n');
        let follows_text = line.into_iter().any(|byte| !byte.is_ascii_whitespace());
        let line = self.near().split('\n').next().unwrap_or_default();
        let ends_in_line = line.contains(&format!("\\end{{{name}}}"));
        let has_marks = self.source.is_empty() || follows_text || ends_in_line;
        let start = self.offset();
        let start = if follows_text { line_end(self.source, start) } else { start };
        self.open_quotations.push(OpenQuotation { name, start, has_marks });
        if has_marks {
            self.open_marks();
        }
    }

    /// Begins a quotation in the line.
    pub fn open_marks(&mut self) {
        let next = self.rest.trim_start();
        let name = next
            .strip_prefix('\\')
            .map(|name| name.split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or_default());
        let sign = LETTERS.iter().find(|(letter, _)| Some(*letter) == name).map(|(_, sign)| *sign);
        self.quotations.begin();
        if let Some(next) = sign.unwrap_or(next).chars().next() {
            self.quotations.open(&mut self.text, next);
        }
    }

    /// Ends a quotation after `\end`, if the environment is one.
    pub fn end_quotation(&mut self) {
        let name = self.near().strip_prefix('{').and_then(|rest| rest.split_once('}'));
        let Some((name, _)) = name else { return };
        let open = self.open_quotations.iter().rev().take(QUOTATIONS_OPEN_MAX);
        let Some(inner) = open.into_iter().position(|open| open.name == name) else { return };
        let at = self.open_quotations.len() - inner - 1;
        let Some(OpenQuotation { start, has_marks, .. }) = self.open_quotations.drain(at..).next()
        else {
            return;
        };
        if has_marks {
            self.quotations.end(&mut self.text);
            self.gap = Some(self.text.len());
        }
        let end = self.offset();
        let after = end + name.len() + 2;
        let Some(after) = self.source.get(after..line_end(self.source, end).max(after)) else {
            return;
        };
        let after = after.trim_start();
        let quoted = self.source.get(start..end).unwrap_or_default();
        let len = match after.is_empty() || after.starts_with('%') {
            true => quoted.len(),
            // The last line has other text.
            false => quoted.rfind('\n').unwrap_or(0),
        };
        if len > 0 {
            self.block_quotes.push(start..start + len);
        }
    }

    /// Writes the heading of a bibliography, which LaTeX adds, unless the text has one.
    fn begin_bibliography(&mut self) {
        let is_line = self.text.is_empty() || self.text.ends_with('\n');
        let last = self.text.trim_end().rsplit('\n').next().unwrap_or_default();
        if is_line && !is_bibliography_heading(last) {
            self.text.push_str(BIBLIOGRAPHY);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::tex::text_of;

    #[track_caller]
    fn check(source: &str, expected: &str) {
        assert_eq!(text_of(source), expected, "{source}");
    }

    #[test]
    fn lines_of_quotations_are_quoted() {
        for name in ["quote", "quotation", "displayquote", "quoting", "citacao"] {
            check(
                &format!("a\n\\begin{{{name}}}\nb\n\nc\n  \\end{{{name}}} % d\ne"),
                "a\n\n> b\n\n> c\n   \ne",
            );
        }
        check("\\begin{displaycquote}[p.~3]{key}\nb\n\\end{displaycquote}\n", "\n> b\n\n");
        check("\\begin{quote}\na\n\n{b", "\na\n\nb");
    }

    #[test]
    fn quotations_in_a_line_with_other_text_have_marks() {
        check("He: \\begin{quote}a b\\end{quote} and so.", "He: \u{201c}a b\u{201d} and so.");
        check(
            "He: \\begin{quote}a\nb\nc\\end{quote} and\nso.",
            "He: \u{201c}a\n> b\nc\u{201d} and\nso.",
        );
        check("\\begin{quote}a\\end{quote}\n", "> \u{201c}a\u{201d}\n");
    }

    #[test]
    fn commands_for_quotations_write_marks() {
        check(
            "so \\enquote{a \\enquote*{b} c}, \\textcquote[12]{key}{d} \
             \\blockquote[{\\cite{x}}]{e}",
            "so \u{201c}a \u{2018}b\u{2019} c\u{201d}, \u{201c}d\u{201d} \u{201c}e\u{201d}",
        );
        check(
            "\\enquote{``a''} \\enquote{\\glqq b\\grqq} ``\\enquote{c}''",
            "\"a\" \u{201e}b\u{201c} \"c\"",
        );
        check("a \\enquote{b\n\nc} d", "a \u{201c}b\u{201d}\n\nc d");
        check("\\newcommand{\\zitat}[1]{\\enquote{#1}}\\zitat{a}", "\u{201c}a\u{201d}");
        check("\\newcommand{\\zitat}[1]{``#1''}\\zitat{a} b", "\"a\" b");
        check(
            "\\newcommand{\\zitat}[1]{\\begin{quote}#1\\end{quote}}a \\zitat{b}",
            "a \u{201c}b\u{201d}",
        );
    }

    #[test]
    fn a_bibliography_without_a_heading_gets_one() {
        let list = "\\begin{thebibliography}{9}\n\\bibitem{a} A (2001).\n\\end{thebibliography}";
        check(&format!("a\n{list}"), "a\nReferences\n A (2001).\n");
        check(
            &format!("\\section*{{Literatur\u{fc}bersicht}}\n{list}"),
            "Literatur\u{fc}bersicht\nReferences\n A (2001).\n",
        );
        check(&format!("\\section*{{Bibliographie}}\n\n{list}"), "Bibliographie\n\n\n A (2001).\n");
    }
}
