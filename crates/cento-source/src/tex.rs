//! The text of LaTeX.
//!
//! Only TeX itself can expand every macro, so this reader keeps what a person reads in the source.
//! Comments, names of commands, options and arguments without text (labels, references, files,
//! lengths) are removed. Accents become letters, and formulas lose only their commands. Macros
//! without arguments are expanded. Notes come after their paragraph, on the empty line. Brackets
//! that are not known to be options are text (`option`). Quotations get marks (`environment`).
//! Every line remains a line, so that line numbers of passages are line numbers of the file.

mod argument;
mod caption;
mod command;
mod definition;
mod drawing;
mod environment;
mod expand;
mod front;
mod length;
mod option;
mod raised;
mod shorthand;
#[cfg(test)]
mod tests;

use self::argument::{ArgumentKind, is_pointer};
use self::command::{ACCENTS, BETWEEN_WORDS, LETTERS, WITHOUT_TEXT};
pub use self::definition::definition_sources;
use self::definition::{DEFINING, Definitions, Macro, defined, definition_len};
use self::drawing::Drawing;
use self::environment::OpenQuotation;
use self::expand::{ArgumentMacro, OpenArgument};
use self::front::end_of;
pub use self::front::is_main;
use self::length::{address_len, length_after, overlay_len};
use self::option::{Owner, bracketed, options};
use self::shorthand::Shorthands;
use crate::format::{FileFormat, Markup, TextOf};
use crate::quoted::{OpenQuotations, with_quoted_lines};
use std::ops::Range;

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
        text_of: TextOf::WithDefinitions(text_with),
        has_source: true,
    }),
};

/// Commands at the beginning of a document.
const DOCUMENT: [&[u8]; 2] = [b"\\documentclass", b"\\documentstyle"];

/// The mark before the text, which a part of a document lacks.
const BEGIN: &str = "\\begin{document}";

/// Environments whose contents stay unchanged.
pub(crate) const VERBATIM: [&str; 5] =
    ["verbatim", "verbatim*", "lstlisting", "Verbatim", "minted"];

/// Commands whose argument stays unchanged.
const AS_IT_IS: [&str; 4] = ["lstinline", "nolinkurl", "url", "verb"];

/// Environments of formulas, without the star of starred variants.
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
#[cfg(test)]
pub fn text_of(source: &str) -> String {
    text_with(source, "")
}

/// Returns the text of LaTeX. `others` has macro definitions from other files.
fn text_with(source: &str, others: &str) -> String {
    let begin = end_of(source, BEGIN).unwrap_or(0);
    let shorthands = if begin > 0 {
        Shorthands::of_preamble(&source[..begin])
    } else {
        Shorthands::of_part(source)
    };
    let macros = defined(source, others, shorthands);
    let mut reader = TexReader::of("", &macros, shorthands);
    reader.source = source;
    reader.preamble(&source[..begin]);
    reader.rest = &source[begin..];
    reader.read();
    with_quoted_lines(reader.text, source, reader.block_quotes)
}

struct TexReader<'a> {
    rest: &'a str,
    text: String,
    formula: Formula,
    macros: &'a Definitions,
    shorthands: Shorthands,
    /// The number of open braces.
    depth: usize,
    /// Arguments and blocks that have begun, innermost last.
    open: Vec<OpenArgument<'a>>,
    drawing: Drawing,
    /// The offset in `text` of a place between words, which needs a space before more letters.
    gap: Option<usize>,
    /// Finished notes of the current paragraph.
    notes: Vec<String>,
    /// The source whose lines are lines of the text. Empty for a definition.
    source: &'a str,
    /// The open quotations, and those of them that are in a line.
    open_quotations: Vec<OpenQuotation<'a>>,
    quotations: OpenQuotations,
    /// The places of quotations in the source whose lines are quoted.
    block_quotes: Vec<Range<usize>>,
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
    fn of(rest: &'a str, macros: &'a Definitions, shorthands: Shorthands) -> TexReader<'a> {
        TexReader {
            rest,
            text: String::new(),
            formula: Formula::None,
            macros,
            shorthands,
            depth: 0,
            open: Vec::new(),
            drawing: Drawing::default(),
            gap: None,
            notes: Vec::new(),
            source: "",
            open_quotations: Vec::new(),
            quotations: OpenQuotations::default(),
            block_quotes: Vec::new(),
        }
    }

    /// Reads `rest` completely.
    fn read_rest(&mut self) {
        while let Some(c) = self.rest.chars().next() {
            self.take(c);
            self.fill_gap();
        }
    }

    /// Reads the whole source, and returns the notes of its last paragraph.
    fn read_apart(&mut self) -> String {
        self.read_rest();
        self.open.clear();
        std::mem::take(&mut self.notes).join(" ")
    }

    /// Reads the whole source.
    fn read(&mut self) {
        let notes = self.read_apart();
        if !notes.is_empty() && !self.text.is_empty() && !self.text.ends_with('\n') {
            self.text.push(' ');
        }
        self.text.push_str(&notes);
    }

    /// Writes the notes of the finished paragraph, unless a note is still open.
    fn write_notes(&mut self) {
        if self.open.last().is_none_or(|open| !open.is_apart) {
            self.text.push_str(&std::mem::take(&mut self.notes).join(" "));
        }
    }

    /// Separates the words around a command, unless there is already a space or sign.
    fn fill_gap(&mut self) {
        let Some(at) = self.gap.filter(|at| *at < self.text.len()) else { return };
        self.gap = None;
        let is_letter = |c: char| !c.is_whitespace() && !c.is_ascii_punctuation();
        let (before, after) = self.text.split_at(at);
        if before.ends_with(is_letter) && after.starts_with(is_letter) {
            self.text.insert(at, ' ');
        }
    }

    /// Takes an opening brace that begins an argument.
    fn open(&mut self, kind: ArgumentKind) {
        self.open_then(kind, None);
    }

    /// Takes an opening brace that begins an argument of a macro.
    fn open_then(&mut self, kind: ArgumentKind, then: Option<(&'a ArgumentMacro, usize)>) {
        if self.rest.starts_with('{') {
            self.skip(1);
            self.depth += 1;
            self.begin(kind, then);
        }
    }

    fn begin(&mut self, kind: ArgumentKind, then: Option<(&'a ArgumentMacro, usize)>) {
        let (depth, start, notes) = (self.depth, self.text.len(), self.notes.len());
        let is_apart = kind.is_apart() || self.open.last().is_some_and(|outer| outer.is_apart);
        self.open.push(OpenArgument { kind, depth, start, notes, is_apart, then });
        if kind == ArgumentKind::Quoted {
            self.open_marks();
        }
    }

    /// Takes a closing brace, which may end an argument.
    fn close(&mut self) {
        self.depth = self.depth.saturating_sub(1);
        let depth = self.depth;
        if let Some(open) = self.open.pop_if(|open| depth < open.depth) {
            self.finish(&open);
        }
    }

    /// Puts the text of a finished argument where it belongs.
    fn finish(&mut self, argument: &OpenArgument<'a>) {
        match argument.kind {
            ArgumentKind::Heading => self.gap = Some(self.text.len()),
            ArgumentKind::Text => {}
            ArgumentKind::Quoted => self.quotations.end(&mut self.text),
            ArgumentKind::Plural if self.text[argument.start..].ends_with('s') => {}
            ArgumentKind::Plural => self.text.push('s'),
            ArgumentKind::Replacement => self.open(ArgumentKind::Deleted),
            ArgumentKind::Note | ArgumentKind::Deleted | ArgumentKind::Block(_) => {
                let text = self.text.split_off(argument.start);
                self.gap = self.gap.map(|at| at.min(argument.start));
                self.pass(&text);
                match argument.kind {
                    ArgumentKind::Note => {
                        self.notes.push(text.split_whitespace().collect::<Vec<_>>().join(" "));
                    }
                    _ => self.notes.truncate(argument.notes),
                }
            }
        }
        if let Some((expanded, next)) = argument.then {
            self.expand(expanded, next);
        }
    }

    /// Reads the element that begins with `c`.
    fn take(&mut self, c: char) {
        self.skip(c.len_utf8());
        match c {
            c if self.drawing.hides(c, self.depth) => self.gap = Some(self.text.len()),
            '\\' => self.command(),
            '%' => {
                self.until_line_end();
            }
            '{' => {
                self.skip(address_len(self.near()));
                self.depth += 1;
            }
            '}' => self.close(),
            '$' => self.dollar(),
            '~' | '&' | '^' | '_' => self.text.push(' '),
            '"' if self.formula == Formula::None => self.quotation_mark(),
            // In a formula, apostrophes are primes.
            '`' | '\'' if self.formula == Formula::None && self.rest.starts_with(c) => {
                self.skip(1);
                self.text.push('"');
            }
            '\n' if self.rest.trim_start_matches([' ', '\t', '\r']).starts_with('\n') => {
                self.quotations.end_all(&mut self.text);
                self.text.push(c);
                self.formula = Formula::None;
                self.write_notes();
            }
            c => self.text.push(c),
        }
    }

    /// Takes a quotation mark, which begins a letter in some languages.
    fn quotation_mark(&mut self) {
        match self.shorthands.read(self.rest) {
            Some((text, bytes)) => {
                self.text.push_str(text);
                self.skip(bytes);
            }
            None => self.text.push('"'),
        }
    }

    /// Skips the mark of a note, and returns whether there is one.
    fn note_mark(&mut self, forms: &[(&str, &str)]) -> bool {
        let len = raised::mark_len(&self.text, self.near(), forms);
        self.skip(len.unwrap_or(0));
        len.is_some()
    }

    /// Begins or ends a formula after a dollar sign.
    fn dollar(&mut self) {
        if self.formula == Formula::None && self.note_mark(&[("^{", "}$"), ("^", "$")]) {
            return;
        }
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
        if AS_IT_IS.contains(&name) {
            return self.verb();
        }
        // A macro of the author replaces a command of LaTeX.
        match self.macros.get(name) {
            Some(Macro::Text(text)) => return self.text.push_str(text),
            Some(Macro::WithArguments(expanded)) => {
                self.gap = Some(self.text.len()).filter(|_| expanded.is_apart).or(self.gap);
                return self.expand(expanded, 0);
            }
            None => {}
        }
        if let Some((_, letters)) = LETTERS.iter().find(|(letter, _)| *letter == name) {
            self.text.push_str(letters);
            self.end_word();
            return;
        }
        if let Some((_, mark)) = ACCENTS.iter().find(|(accent, _)| *accent == name) {
            return self.accent(*mark);
        }
        if BETWEEN_WORDS.contains(&name) && !self.is_empty_space(name) {
            self.gap = Some(self.text.len());
        }
        if name == "begin" {
            return self.environment();
        }
        let is_last = name == "endinput" && (self.text.is_empty() || self.text.ends_with('\n'));
        if is_last || name == "end" && self.rest.starts_with("{document}") {
            let passed = self.skip(self.rest.len());
            return self.pass(passed);
        }
        if DEFINING.contains(&name) {
            let passed = self.skip(definition_len(self.near()));
            return self.pass(passed);
        }
        if name == "end" {
            self.drawing.end(self.rest);
            self.end_quotation();
        }
        if name == "end" && is_formula(self.near().strip_prefix('{').unwrap_or_default()) {
            self.formula = Formula::None;
        }
        if name == "textsuperscript" && self.note_mark(&[("{", "}")]) {
            return;
        }
        if let Some(block) = self.open.pop_if(|open| open.kind.is_ended_by(name)) {
            return self.finish(&block);
        }
        if let Some(block) = ArgumentKind::block(name) {
            return self.begin(block, None);
        }
        self.overlay();
        self.skip(length_after(name, self.near()));
        self.arguments(name);
    }

    /// Skips the numbers of the slides on which an element is visible.
    fn overlay(&mut self) {
        if self.formula == Formula::None {
            self.skip(overlay_len(self.rest));
        }
    }

    /// Skips the options and arguments of a command except text, and begins an argument that is
    /// apart from the text.
    fn arguments(&mut self, name: &'a str) {
        let is_pointer = is_pointer(name);
        let found = WITHOUT_TEXT.iter().find(|(other, _)| *other == name);
        let arguments = found.map_or(usize::from(is_pointer), |(_, arguments)| *arguments);
        let owner = Owner::Command(name, arguments > 0);
        if name == "lstinputlisting" {
            self.captions(name);
        }
        self.options(owner);
        for number in 0..arguments {
            if number > 0 {
                self.options(owner);
            }
            self.argument();
        }
        if name == "input" {
            self.bare_name();
        }
        if let Some(kind) = ArgumentKind::of(name) {
            self.options(Owner::Command(name, false));
            if kind == ArgumentKind::Quoted {
                // The citation, and a mark at its end.
                self.skip_option();
                self.skip_option();
            }
            self.open(kind);
        }
    }

    /// Skips the name of a file after `\input` without braces.
    fn bare_name(&mut self) {
        let name = self.near().strip_prefix(' ').unwrap_or_default().trim_start_matches(' ');
        let start = self.near().len() - name.len();
        let len = name.find(|c: char| c.is_whitespace() || "\\{}%".contains(c));
        if let Some(len) = len.or(Some(name.len())).filter(|len| *len > 0) {
            self.skip(start + len);
        }
    }

    /// Returns whether a command makes a space without width, where a word may break.
    fn is_empty_space(&self, name: &str) -> bool {
        name == "hspace" && (self.rest.starts_with("{0pt") || self.rest.starts_with("{-"))
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
        let is_dotless = |next: &&str| {
            let after = next.strip_prefix(['i', 'j']);
            after.is_some_and(|after| !after.starts_with(|c: char| c.is_ascii_alphabetic()))
        };
        let dotless = next.strip_prefix('\\').filter(is_dotless);
        next = dotless.unwrap_or(next);
        let Some(letter) = next.chars().next().filter(|c| c.is_alphabetic()) else { return };
        self.text.extend([letter, mark]);
        self.rest = &next[letter.len_utf8()..];
        if dotless.is_some() {
            self.end_word();
        }
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

    /// Skips options in brackets.
    fn options(&mut self, owner: Owner<'_>) {
        let len = options(self.near(), owner, self.formula != Formula::None);
        let passed = self.skip(len);
        self.pass(passed);
    }

    /// Skips an option of a macro, whatever its form is.
    fn skip_option(&mut self) {
        let passed = self.skip(bracketed(self.near(), b'[', b']').unwrap_or(0));
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
        } else if let Some(name) = self.rest[spaces..].strip_prefix('\\') {
            // A command is an argument without braces, as in `\setlength\parskip{1ex}`.
            let len = name.bytes().take_while(u8::is_ascii_alphabetic).count();
            self.skip(if len > 0 { spaces + 1 + len } else { 0 });
        }
    }
}

/// Returns whether an environment is a formula. `name` may continue after a closing brace.
fn is_formula(name: &str) -> bool {
    let name = name.split('}').next().unwrap_or_default();
    FORMULAS.contains(&name.trim_end_matches('*'))
}
