//! The text of LaTeX.
//!
//! Only TeX itself can expand every macro, so this reader keeps what a person reads in the source.
//! Comments, names of commands, options and arguments without text (labels, references, files,
//! lengths) are removed. Accents become letters, and formulas lose only their commands. Macros
//! without arguments are expanded. Notes come after their paragraph, on the empty line. Brackets
//! that are not known to be options are text (`option`). Every line remains a line, so that line
//! numbers of passages are line numbers of the file.

mod command;
mod definition;
mod option;

use self::command::{ACCENTS, LETTERS, WITHOUT_TEXT};
use self::definition::{Definitions, definitions};
use self::option::{Owner, bracketed, options};
use crate::format::{FileFormat, Markup, TextOf};

pub static FORMAT: FileFormat = FileFormat {
    name: "latex",
    endings: &[".tex", ".ltx", ".latex"],
    documents: "the text without markup",
    feature: None,
    is_built: true,
    keeps_lines: true,
    example: b"\\documentclass{article}\n\\begin{document}\n\
        Twice a day\nthe \\emph{sea} rises.\n\\end{document}\n",
    markup: Some(Markup {
        is: "it is text",
        // A part of a document is recognized by its name.
        begins: |start| DOCUMENT.iter().any(|mark| start.text.starts_with(mark)),
        named_begins: Some(b""),
        text_of: TextOf::Decoded(text_of),
        has_source: true,
    }),
};

/// Commands at the beginning of a document.
const DOCUMENT: [&[u8]; 2] = [b"\\documentclass", b"\\documentstyle"];

/// The marks around the text, which a part of a document lacks.
const BODY: [&str; 2] = ["\\begin{document}", "\\end{document}"];

/// Environments whose contents stay unchanged.
const VERBATIM: [&str; 5] = ["verbatim", "verbatim*", "lstlisting", "Verbatim", "minted"];

/// Environments of formulas, without the star that some names have.
const FORMULAS: [&str; 9] = [
    "align",
    "alignat",
    "displaymath",
    "eqnarray",
    "equation",
    "flalign",
    "gather",
    "math",
    "multline",
];

/// The maximum size of arguments, in bytes. The bound keeps reading linear, because an argument
/// without an end would be searched again for every command inside.
const ARGUMENT_BYTES_MAX: usize = 1000;

/// The text of LaTeX.
pub fn text_of(source: &str) -> String {
    let begin = source.find(BODY[0]).map_or(0, |at| at + BODY[0].len());
    let end = source[begin..].find(BODY[1]).map_or(source.len(), |at| begin + at);
    let macros = definitions(source);
    let mut reader = TexReader::of(&source[begin..end], &macros);
    reader.pass(&source[..begin]);
    reader.read();
    reader.pass(&source[end..]);
    reader.text
}

/// Returns the text of a part of a source, in a single line.
fn plain(source: &str, macros: &Definitions) -> String {
    let mut reader = TexReader::of(source, macros);
    reader.read();
    reader.text.truncate(reader.text.floor_char_boundary(MACRO_BYTES_MAX));
    reader.text.replace('\n', " ")
}

/// The longest text of a macro.
const MACRO_BYTES_MAX: usize = 1000;

/// Commands whose argument is a note.
const NOTES: [&str; 6] = ["footnote", "footnotetext", "endnote", "thanks", "marginpar", "sidenote"];

struct TexReader<'a> {
    rest: &'a str,
    text: String,
    formula: Formula,
    macros: &'a Definitions,
    /// The number of open braces.
    depth: usize,
    /// Notes that have begun, innermost last.
    open_notes: Vec<OpenNote>,
    /// Finished notes of the current paragraph.
    notes: Vec<String>,
}

/// A note whose end has not been read.
struct OpenNote {
    /// The number of braces open before the note.
    depth: usize,
    /// The offset in `text` where the note begins.
    start: usize,
}

/// The current formula. The end of a paragraph ends any formula, so that a stray dollar sign cannot
/// affect the remaining text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Formula {
    None,
    /// Between single dollar signs.
    Inline,
    /// Between pairs of dollar signs.
    Display,
    /// In an environment, or after `\(` or `\[`.
    Other,
}

impl<'a> TexReader<'a> {
    fn of(rest: &'a str, macros: &'a Definitions) -> TexReader<'a> {
        TexReader {
            rest,
            text: String::new(),
            formula: Formula::None,
            macros,
            depth: 0,
            open_notes: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// Reads the whole source.
    fn read(&mut self) {
        while let Some(c) = self.rest.chars().next() {
            self.take(c);
        }
        self.open_notes.clear();
        if !self.notes.is_empty() && !self.text.is_empty() && !self.text.ends_with('\n') {
            self.text.push(' ');
        }
        self.write_notes();
    }

    /// Writes the notes of the finished paragraph, unless a note is still open.
    fn write_notes(&mut self) {
        if self.open_notes.is_empty() {
            self.text.push_str(&std::mem::take(&mut self.notes).join(" "));
        }
    }

    /// Takes a closing brace, which may end a note.
    fn close(&mut self) {
        self.depth = self.depth.saturating_sub(1);
        let Some(note) = self.open_notes.pop_if(|note| note.depth >= self.depth) else { return };
        let text = self.text.split_off(note.start);
        self.pass(&text);
        self.notes.push(text.split_whitespace().collect::<Vec<_>>().join(" "));
    }

    /// Reads the element that begins with `c`.
    fn take(&mut self, c: char) {
        self.skip(c.len_utf8());
        match c {
            '\\' => self.command(),
            '%' => {
                self.until_line_end();
            }
            '{' => self.depth += 1,
            '}' => self.close(),
            '$' => self.dollar(),
            '~' | '&' | '^' | '_' => self.text.push(' '),
            // In a formula, apostrophes are primes.
            '`' | '\'' if self.formula == Formula::None && self.rest.starts_with(c) => {
                self.skip(1);
                self.text.push('"');
            }
            c => {
                self.text.push(c);
                if c == '\n' && self.rest.trim_start_matches([' ', '\t', '\r']).starts_with('\n') {
                    self.formula = Formula::None;
                    self.write_notes();
                }
            }
        }
    }

    /// Begins or ends a formula after a dollar sign.
    fn dollar(&mut self) {
        let is_double = self.rest.starts_with('$') && self.formula != Formula::Inline;
        if is_double {
            self.skip(1);
        }
        self.formula = match self.formula {
            Formula::None if is_double => Formula::Display,
            Formula::None => Formula::Inline,
            // A formula in the text of a formula.
            Formula::Other => Formula::Other,
            Formula::Inline | Formula::Display => Formula::None,
        };
    }

    fn skip(&mut self, bytes: usize) -> &'a str {
        let (passed, rest) = self.rest.split_at(bytes);
        self.rest = rest;
        passed
    }

    /// Returns the source within which an argument must end.
    fn near(&self) -> &'a str {
        let mut len = self.rest.len().min(ARGUMENT_BYTES_MAX);
        while !self.rest.is_char_boundary(len) {
            len -= 1;
        }
        &self.rest[..len]
    }

    fn until_line_end(&mut self) -> &'a str {
        self.skip(memchr::memchr(b'\n', self.rest.as_bytes()).unwrap_or(self.rest.len()))
    }

    /// Keeps the line breaks of the source passed over.
    fn pass(&mut self, passed: &str) {
        let lines = memchr::memchr_iter(b'\n', passed.as_bytes()).count();
        self.text.extend(std::iter::repeat_n('\n', lines));
    }

    /// Reads the source after a backslash.
    fn command(&mut self) {
        let len = self.rest.bytes().take_while(u8::is_ascii_alphabetic).count();
        if len == 0 {
            return self.symbol();
        }
        let name = self.skip(len);
        if self.rest.starts_with('*') {
            self.skip(1);
        }
        if name == "verb" || name == "lstinline" {
            return self.verb();
        }
        if let Some((_, letter)) = LETTERS.iter().find(|(letter, _)| *letter == name) {
            self.text.push(*letter);
            self.end_word();
            return;
        }
        if let Some((_, mark)) = ACCENTS.iter().find(|(accent, _)| *accent == name) {
            return self.accent(*mark);
        }
        if name == "begin" {
            return self.environment();
        }
        if name == "end" && is_formula(self.near().strip_prefix('{').unwrap_or_default()) {
            self.formula = Formula::None;
        }
        if NOTES.contains(&name) {
            return self.note(name);
        }
        if let Some(text) = self.macros.get(name) {
            self.text.push_str(text);
            return;
        }
        let is_citation = name.to_ascii_lowercase().contains("cite");
        let found = WITHOUT_TEXT.iter().find(|(other, _)| *other == name);
        let arguments = found.map_or(usize::from(is_citation), |(_, arguments)| *arguments);
        let owner = Owner::Command(name, arguments > 0);
        self.options(owner);
        for number in 0..arguments {
            if number > 0 {
                self.options(owner);
            }
            self.argument();
        }
    }

    /// Begins a note, whose argument follows.
    fn note(&mut self, name: &str) {
        self.options(Owner::Command(name, false));
        if self.rest.starts_with('{') {
            self.skip(1);
            self.open_notes.push(OpenNote { depth: self.depth, start: self.text.len() });
            self.depth += 1;
        }
    }

    /// Reads a command whose name is a single symbol.
    fn symbol(&mut self) {
        let Some(c) = self.rest.chars().next() else { return };
        if c == '\n' {
            return;
        }
        self.skip(c.len_utf8());
        let mut bytes = [0; 4];
        let name: &str = c.encode_utf8(&mut bytes);
        match ACCENTS.iter().find(|(accent, _)| *accent == name) {
            Some((_, mark)) => self.accent(*mark),
            None if "%&$#_{}".contains(c) => self.text.push(c),
            None if "-/".contains(c) => {}
            None => {
                self.text.push(' ');
                match c {
                    '\\' => {
                        if self.rest.starts_with("*[") {
                            self.skip(1);
                        }
                        self.options(Owner::Break);
                    }
                    '(' | '[' => self.formula = Formula::Other,
                    ')' | ']' => self.formula = Formula::None,
                    _ => {}
                }
            }
        }
    }

    /// Puts a mark on the next letter, which may be in braces.
    fn accent(&mut self, mark: char) {
        let mut next = self.rest.trim_start_matches([' ', '{']);
        next = next.strip_prefix('\\').filter(|next| next.starts_with(['i', 'j'])).unwrap_or(next);
        let Some(letter) = next.chars().next().filter(|c| c.is_alphabetic()) else { return };
        self.text.extend([letter, mark]);
        self.rest = &next[letter.len_utf8()..];
        if self.rest.starts_with('}') {
            self.skip(1);
        }
    }

    /// Skips the space after a command for a letter. The space ends the command, not the word.
    fn end_word(&mut self) {
        if self.rest.starts_with(' ') {
            self.skip(1);
        } else if self.rest.starts_with("{}") {
            self.skip(2);
        }
    }

    fn verb(&mut self) {
        let line = self.near().split('\n').next().unwrap_or_default();
        let mut chars = line.chars();
        let Some(open) = chars.next() else { return };
        let close = if open == '{' { '}' } else { open };
        let Some((inner, _)) = chars.as_str().split_once(close) else { return };
        self.text.push_str(inner);
        self.skip(open.len_utf8() + inner.len() + close.len_utf8());
    }

    fn environment(&mut self) {
        let name = self.near().strip_prefix('{').and_then(|rest| rest.split_once('}'));
        let Some((name, _)) = name.filter(|(name, _)| !name.contains('\n')) else { return };
        self.skip(name.len() + 2);
        if is_formula(name) {
            self.formula = Formula::Other;
        }
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
        self.options(Owner::Environment(name));
        // Column specifications and other arguments without text.
        let arguments = match name {
            "tabular" | "array" | "longtable" | "minipage" | "thebibliography" | "multicols" => 1,
            "tabular*" | "tabularx" => 2,
            _ => 0,
        };
        (0..arguments).for_each(|_| self.argument());
    }

    /// Skips options in brackets.
    fn options(&mut self, owner: Owner<'_>) {
        let len = options(self.near(), owner, self.formula != Formula::None);
        let passed = self.skip(len);
        self.pass(passed);
    }

    /// Skips an argument in braces. Without a closing brace in the paragraph, the argument is text.
    fn argument(&mut self) {
        let spaces = self.rest.len() - self.rest.trim_start_matches(' ').len();
        if self.rest[spaces..].starts_with('{') {
            self.skip(spaces);
            if let Some(len) = bracketed(self.near(), b'{', b'}') {
                let passed = self.skip(len);
                self.pass(passed);
            }
        }
    }
}

/// Returns whether an environment is a formula. `name` may continue after a closing brace.
fn is_formula(name: &str) -> bool {
    let name = name.split('}').next().unwrap_or_default();
    FORMULAS.contains(&name.trim_end_matches('*'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(source: &str, expected: &str) {
        assert_eq!(text_of(source), expected);
    }

    #[test]
    fn commands_go_and_text_stays_on_its_lines() {
        check("\\section*{One}\\label{sec:one}\nis \\emph{tw}o~three.\n", "One\nis two three.\n");
        check("a % comment\nb 50\\% c", "a \nb 50% c");
        check("see \\cite[p.~3]{Knuth} and \\parencite{x}.", "see  and .");
        check(
            "\\documentclass{a}\n\\title{T}\n\\begin{document}\nx\n\\end{document}\ny\n",
            "\n\n\nx\n\n\n",
        );
        check("\\begin{tabular}{l|r}\na & b\\\\\n\\end{tabular}", "\na   b \n");
        check("\\begin{verbatim}\n\\a{b} % c\n\\end{verbatim}", "\n\\a{b} % c\n");
        check("\\verb|a\\b| c \\href{http://x.org}{here}", "a\\b c here");
        check("$x_{i}^2 = \\alpha$", "x i 2 = ");
        check("\\newcommand{\\x}[1]{y\n#1}z", "\nz");
        check("hy\\-phen ``quoted''", "hyphen \"quoted\"");
        check("\\begin{comment}\na\n\\end{comment}b", "\n\nb");
        check("a\\phantom{hidden} b", "a b");
    }

    #[test]
    fn brackets_that_are_no_options_are_text() {
        // Half-open intervals are not options, and the text between intervals is not, either.
        check(
            "for $x\\in[0,1)$. The tide turned at four. For $x\\in(1,2]$ too",
            "for x[0,1). The tide turned at four. For x(1,2] too",
        );
        check("$\\left[ 7x + 5y \\right]$ \\[\\max[a=b]{c}\\]", "[ 7x + 5y ]  [a=b]c ");
        check("\\noindent[a remark of mine] \\alpha[t] b", "[a remark of mine] [t] b");
        check("\\item[Harding] one \\item two", "[Harding] one  two");
        check("\\begin{theorem}[Pythagoras] a", "[Pythagoras] a");
        check("\\begin{lstlisting}[language=C, caption=Sort]\nx", "[language=C, caption=Sort]\nx");
        check("\\cite{x}[a remark] \\end{itemize}[b]", "[a remark] [b]");
        check("\\emph{a [b} c] \\textbf[d{e}] f", "a [b c] [de] f");
        check("a \\\\ [b] \\\\[c, d] e", "a   [b]  [c, d] e");
        // Long or unclosed brackets must not hide prose.
        let prose = "the tide in the harbour turned at four, and by five the boats came in ";
        check(&format!("\\section[{prose}{prose}]{{A}}"), &format!("[{prose}{prose}]A"));
        check("\\section[a\n\nb]{c}", "[a\n\nb]c");
        check("\\footnote[see $x]$ b", "[see x] b");
    }

    #[test]
    fn options_and_short_titles_go() {
        check("\\section[On $[0,1)$]{On an interval}", "On an interval");
        check("\\caption[Short]{Long}\\footnote[3]{x}", "Long x");
        check("\\begin{figure}[!htb]\n\\includegraphics[width=.5\\textwidth]{a}", "\n");
        check("\\begin{tabular}[t]{ll}a\\\\[2pt]b\\\\*[-1ex]c", "a b c");
        check("\\begin{enumerate}[label=(\\alph*)]\n\\item a", "\n a");
        check("\\begin{tikzpicture}[scale=2]\\draw[->, thick] (0,0);", " (0,0);");
        check("\\usepackage[utf8,\nenglish]{b}\\mybox[color=red]{c}\\parbox[t][2cm]{d}", "\ncd");
        check("\\newcommand{\\x}[2][y]{#1}\\newcommand*{\\y}{z}a", "a");
        check("\\autocite[see][p.~3]{x}b\\begin{minted}[linenos]{C}", "b{C}");
    }

    #[test]
    fn primes_in_formulas_are_no_quotation_marks() {
        check("$f''(x)$ ``and'' $$g''$$ \\(h''\\) a''", "f''(x) \"and\" g''  h''  a\"");
        check("\\begin{align*}f''&=1\\end{align*}''", "f'' =1\"");
        check("$a$$b$''", "ab\"");
        // A stray dollar sign has no effect beyond its paragraph.
        check("5$ ''\n \n``a''", "5 ''\n \n\"a\"");
    }

    #[test]
    fn notes_come_after_their_paragraph() {
        check(
            "A stable\\footnote{See \\emph{there}, p. 3.} left;\nothers\\thanks{b}.\n\nMore.\n",
            "A stable left;\nothers.\nSee there, p. 3. b\nMore.\n",
        );
        check("a\\footnote{b\nc} d", "a\n d b c");
        check("a\\footnote{b\n\nc} d\n\n", "a\n\n d\nb c\n");
        check("a\\footnote{b", "ab");
        check("{\\footnote{a {b}\\footnote{c}} d}", " d c a b");
    }

    #[test]
    fn macros_without_arguments_are_their_texts() {
        check(
            "\\newcommand{\\firm}{Acme Ltd}\\begin{document}The board of \\firm{} met in \\firm.",
            "The board of Acme Ltd met in Acme Ltd.",
        );
        check("\\newcommand{\\x}[1]{y}\\x{a}", "a");
    }

    #[test]
    fn accents_become_letters() {
        check(
            "caf\\'e \\\"{o}l na\\\"\\i ve \\c{c}a",
            "cafe\u{301} o\u{308}l nai\u{308} ve c\u{327}a",
        );
        check("Stra\\ss e, \\o{}re, \\v{s}", "Stra\u{df}e, \u{f8}re, s\u{30c}");
    }

    #[test]
    fn an_unfinished_command_is_text() {
        check("\\cite{a\n\nb", "a\n\nb");
        check("\\verb|a\nb", "|a\nb");
        check("\\begin{verbatim} a", " a");
        check("\\", "");
        check("\\begin{a\n}", "a\n");
        let long = "\\cite{".repeat(100_000);
        assert!(text_of(&long).is_empty());
    }

    proptest! {
        #[test]
        fn every_line_stays_a_line(source in "(\\\\begin\\{verbatim\\}|\\\\cite|\\\\footnote\\{|\\\\def\\\\a|\\\\'|\\\\[a-c]|[a-d{}\\[\\]%$&~\n ]){0,40}") {
            let lines = |text: &str| text.matches('\n').count();
            prop_assert_eq!(lines(&text_of(&source)), lines(&source), "{:?}", source);
        }
    }
}
