//! Macros with arguments, as the source defines them.
//!
//! Every line of the source is a line of the text, so arguments stay where the author wrote them.
//! The definition says whether an argument is text, a note or invisible, and adds the words before
//! and after it.

use super::TexReader;
use super::argument::ArgumentKind;
use super::command::BETWEEN_WORDS;
use cento::text::closing_quotation_marks;

/// The letter for private use that replaces the first argument in a definition.
const FIRST: u32 = 0xF_0000;

/// The maximum number of arguments in TeX.
const ARGUMENTS_MAX: usize = 9;

/// What a macro does with its arguments.
#[derive(Debug, PartialEq, Eq)]
pub struct ArgumentMacro {
    /// Whether the first argument is an option in brackets, which is not text.
    has_option: bool,
    /// Whether the macro begins apart from the word before it, as a heading does.
    pub is_apart: bool,
    /// The words before each argument, and after the last.
    words: Vec<String>,
    kinds: Vec<ArgumentKind>,
}

/// An argument or block whose end has not been read.
pub struct OpenArgument<'a> {
    pub kind: ArgumentKind,
    /// Fewer open braces than these end the argument.
    pub depth: usize,
    /// The offset in the text where the argument begins.
    pub start: usize,
    /// The number of notes before.
    pub notes: usize,
    /// Whether this or an argument around it may still go elsewhere.
    pub is_apart: bool,
    /// The macro of the argument, and its next argument.
    pub then: Option<(&'a ArgumentMacro, usize)>,
}

/// Returns the body of a macro with letters instead of its arguments.
pub fn with_letters(body: &str, arguments: usize) -> Option<String> {
    if arguments == 0 || arguments > ARGUMENTS_MAX || body.contains("##") {
        return None;
    }
    let mut marked = body.to_owned();
    for number in 1..=arguments {
        marked = marked.replace(&format!("#{number}"), &letter(number - 1)?.to_string());
    }
    (!marked.contains('#')).then_some(marked)
}

fn letter(argument: usize) -> Option<char> {
    char::from_u32(FIRST + argument as u32)
}

impl ArgumentMacro {
    /// Returns the macro, or `None` if the arguments of an unknown command would be read in the
    /// same way. `text` and `notes` come from reading `body`, which has letters for the arguments.
    pub fn of(
        body: &str,
        [text, notes]: [&str; 2],
        arguments: usize,
        has_option: bool,
    ) -> Option<Self> {
        let name = body.trim_start().strip_prefix('\\').unwrap_or_default();
        let is_apart = name.split(|c: char| !c.is_ascii_alphabetic()).next();
        let is_apart = is_apart.is_some_and(|name| BETWEEN_WORDS.contains(&name));
        let (mut words, mut kinds) = (Vec::new(), Vec::new());
        let (mut rest, mut pending) = (text, String::new());
        for argument in 0..arguments {
            let letter = letter(argument)?;
            let kind = match rest.split_once(letter) {
                Some((before, after)) => {
                    pending.push_str(before);
                    rest = after;
                    ArgumentKind::Text
                }
                None if notes.contains(letter) => ArgumentKind::Note,
                None => ArgumentKind::Deleted,
            };
            words.push(std::mem::take(&mut pending));
            kinds.push(kind);
        }
        words.push(rest.to_owned());
        let is_text = |c: char| c.is_alphabetic() || !closing_quotation_marks(c).is_empty();
        let is_plain = words.iter().all(|words| !words.contains(is_text))
            && kinds.iter().all(|kind| *kind == ArgumentKind::Text);
        // Arguments used twice or out of order stay in place.
        let is_ordered = words.iter().all(|words| !words.contains(|c: char| c as u32 >= FIRST));
        let has_text_in_option = has_option && kinds[0] == ArgumentKind::Text;
        (!is_plain && is_ordered && !has_text_in_option).then_some(ArgumentMacro {
            has_option,
            is_apart,
            words,
            kinds,
        })
    }
}

impl<'a> TexReader<'a> {
    /// Reads the arguments of a macro, starting with `argument`.
    pub fn expand(&mut self, expanded: &'a ArgumentMacro, argument: usize) {
        let words = &expanded.words[argument];
        let Some(kind) = expanded.kinds.get(argument) else { return self.text.push_str(words) };
        if argument == 0 && expanded.has_option {
            self.text.push_str(words);
            self.skip_option();
            return self.expand(expanded, 1);
        }
        let spaces = self.rest.len() - self.rest.trim_start_matches(' ').len();
        if self.rest[spaces..].starts_with('{') {
            self.text.push_str(words);
            self.skip(spaces);
            self.open_then(*kind, Some((expanded, argument + 1)));
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::tex::text_of;

    #[track_caller]
    fn check(definition: &str, body: &str, text: &str) {
        let source = format!("{definition}\\begin{{document}}{body}");
        assert_eq!(text_of(&source), text, "{definition}");
    }

    #[test]
    fn arguments_of_macros_are_what_the_definition_makes_of_them() {
        check("\\newcommand{\\ignore}[1]{}", "a \\ignore{b\n\nc}d", "a \n\nd");
        check("\\newcommand{\\fn}[1]{\\footnote{#1}}", "a\\fn{b} c.\n\nd", "a c.\nb\nd");
        check("\\def\\fig#1{Figure~\\ref{fig:#1}}", "In \\fig{x} we", "In Figure  we");
        check("\\newcommand{\\by}[2]{#1 (born in #2)}", "\\by{Ann} {Hull}.", "Ann (born in Hull).");
        check("\\NewDocumentCommand{\\x}{m m}{\\href{#1}{#2}}", "\\x{a}{b} c", "b c");
        check("\\newcommand{\\n}[2][x]{\\todo{#2}}", "a\\n[y]{b}c\\n{b}", "ac");
        check("\\newcommand{\\chap}[2]{\\chapter{#1}\\label{#2}}", "a\\chap{B}{c}d", "a Bd");
        // A definition may use the macros before it.
        let two = "\\newcommand{\\a}[1]{}\\newcommand{\\b}[2]{#1\\a{#2}}";
        check(two, "\\b{x}{y} \\b{x\\b{z}{y}}{v} w", "x xz w");
    }

    #[test]
    fn arguments_stay_where_the_definition_says_nothing_about_them() {
        check("\\newcommand{\\term}[1]{\\emph{#1}}", "re\\term{use} \\term{a", "reuse a");
        check("\\newcommand{\\swap}[2]{#2 of #1}", "\\swap{a}{b}", "ab");
        check("\\newcommand{\\x}[1]{#1 and #1}\\newcommand{\\y}[1]{##1}", "\\x{a}\\y{b}", "ab");
        check("\\newcommand{\\x}[1]{a #1 b}", "\\x c \\x", " c ");
        check("\\newcommand{\\x}[10]{#1}\\def\\y#2{a}\\def\\z", "\\x{a}", "a");
    }
}
