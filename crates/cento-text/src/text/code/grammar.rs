//! The grammars of the languages, with the nodes that are names, numbers, strings and subroutines.

use tree_sitter_language::LanguageFn;

/// A grammar, and the kinds of its nodes that matter.
///
/// In every grammar, a part of a kind's name tells identifiers, numbers and texts in quotes.
/// `names`, `numbers` and `texts` list further kinds of a grammar, whose names do not tell.
#[derive(Clone, Copy)]
pub(super) struct NodeGrammar {
    pub(super) language: LanguageFn,
    subroutines: &'static [&'static str],
    names: &'static [&'static str],
    numbers: &'static [&'static str],
    /// Kinds of nodes that become a single token.
    texts: &'static [&'static str],
    /// Bytes that the parser reads after the text.
    pub(super) tail: &'static [u8],
}

impl NodeGrammar {
    const fn new(language: LanguageFn, subroutines: &'static [&'static str]) -> NodeGrammar {
        NodeGrammar { language, subroutines, names: &[], numbers: &[], texts: &[], tail: &[] }
    }

    pub(super) fn kind(&self, name: &str) -> NodeKind {
        let has = |parts: &[&str]| parts.iter().any(|part| name.contains(part));
        NodeKind {
            is_subroutine: self.subroutines.contains(&name),
            is_comment: has(&["comment"]),
            is_text: has(&["string", "char"]) || self.texts.contains(&name),
            is_name: has(&["identifier"]) || self.names.contains(&name),
            is_number: has(&["number", "integer", "float"]) || self.numbers.contains(&name),
            is_continuation: name == "line_continuation",
        }
    }
}

/// The properties of the nodes of a kind. Comments and texts in quotes must also be named nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NodeKind {
    pub is_subroutine: bool,
    pub is_comment: bool,
    pub is_text: bool,
    pub is_name: bool,
    pub is_number: bool,
    pub is_continuation: bool,
}

/// The subroutines of JavaScript and TypeScript that are declared. Short functions within
/// expressions are not in the list, because they would cut expressions into pieces.
#[cfg(feature = "code-all")]
const OF_JAVASCRIPT: &[&str] =
    &["function_declaration", "generator_function_declaration", "method_definition"];

#[cfg(feature = "code-all")]
const fn javascript(language: LanguageFn) -> NodeGrammar {
    NodeGrammar { texts: &["regex", "jsx_text"], ..NodeGrammar::new(language, OF_JAVASCRIPT) }
}

/// Returns the grammar of the language with this name, which the build must include.
pub(super) fn grammar(name: &str) -> NodeGrammar {
    match name {
        "c" => NodeGrammar::new(tree_sitter_c::LANGUAGE, &["function_definition"]),
        "cpp" => NodeGrammar::new(tree_sitter_cpp::LANGUAGE, &["function_definition"]),
        "java" => NodeGrammar::new(
            tree_sitter_java::LANGUAGE,
            &["method_declaration", "constructor_declaration", "compact_constructor_declaration"],
        ),
        "python" => NodeGrammar::new(tree_sitter_python::LANGUAGE, &["function_definition"]),
        "rust" => NodeGrammar::new(tree_sitter_rust::LANGUAGE, &["function_item"]),
        #[cfg(feature = "code-all")]
        "javascript" => javascript(tree_sitter_javascript::LANGUAGE),
        #[cfg(feature = "code-all")]
        "typescript" => javascript(tree_sitter_typescript::LANGUAGE_TYPESCRIPT),
        #[cfg(feature = "code-all")]
        "tsx" => javascript(tree_sitter_typescript::LANGUAGE_TSX),
        #[cfg(feature = "code-all")]
        "php" => NodeGrammar {
            names: &["name"],
            // Text outside `<?php` and `?>`.
            texts: &["heredoc", "nowdoc", "text"],
            ..NodeGrammar::new(
                tree_sitter_php::LANGUAGE_PHP,
                &["function_definition", "method_declaration"],
            )
        },
        #[cfg(feature = "code-all")]
        "ruby" => NodeGrammar {
            names: &[
                "constant",
                "instance_variable",
                "class_variable",
                "global_variable",
                "simple_symbol",
                "hash_key_symbol",
            ],
            numbers: &["rational", "complex"],
            texts: &[
                "delimited_symbol",
                "symbol_array",
                "subshell",
                "regex",
                "heredoc_beginning",
                "heredoc_body",
                "uninterpreted",
            ],
            ..NodeGrammar::new(tree_sitter_ruby::LANGUAGE, &["method", "singleton_method"])
        },
        #[cfg(feature = "code-all")]
        "go" => NodeGrammar {
            names: &["label_name"],
            numbers: &["int_literal", "imaginary_literal"],
            texts: &["rune_literal"],
            ..NodeGrammar::new(
                tree_sitter_go::LANGUAGE,
                &["function_declaration", "method_declaration"],
            )
        },
        #[cfg(feature = "code-all")]
        "csharp" => NodeGrammar {
            numbers: &["real_literal"],
            ..NodeGrammar::new(
                tree_sitter_c_sharp::LANGUAGE,
                &[
                    "method_declaration",
                    "constructor_declaration",
                    "destructor_declaration",
                    "operator_declaration",
                    "conversion_operator_declaration",
                    "local_function_statement",
                ],
            )
        },
        #[cfg(feature = "code-all")]
        "kotlin" => NodeGrammar {
            names: &["label"],
            // At an `@` the scanner searches for white space, and does not stop at the end of the
            // text.
            tail: b"\n",
            ..NodeGrammar::new(
                tree_sitter_kotlin_ng::LANGUAGE,
                &["function_declaration", "secondary_constructor"],
            )
        },
        _ => unreachable!("a specification of a language that the build lacks is refused"),
    }
}

/// The size in bytes of the buffer for the open heredocs and literals of Ruby's scanner, which
/// checks the size too late.
const RUBY_STATE_BYTES: usize = 1024;

/// The maximum length of all words. The scanner writes the length of a heredoc's word as a byte.
const RUBY_WORDS_BYTES_MAX: usize = 240;

/// Returns whether Ruby's scanner might write past the end of its state, or abort the process
/// because of the length of a word. The state contains the closing words of open heredocs, with
/// four bytes each, and five bytes for each open literal (a second literal is open only within an
/// interpolation). The check counts all words and literals of the text, whether or not they are
/// open at the same time.
pub(super) fn breaks_ruby(text: &str) -> bool {
    let (mut words, mut rest) = (0, text);
    while let Some(at) = rest.find("<<") {
        // The signs of a run that may open a heredoc are all followed by the same word. The word is
        // examined only once, because the whole text may be a single run.
        let run = &rest[at..];
        rest = run.trim_start_matches(['-', '~', '<']);
        let openings = run[..run.len() - rest.len()].matches("<<").count();
        let is_quote = |c: char| matches!(c, '"' | '\'' | '`');
        let word = match rest.chars().next() {
            Some(quote) if is_quote(quote) => 4 + rest[1..].find(quote).unwrap_or(rest.len()),
            Some(c) if is_word_byte(c) => 4 + rest.find(|c| !is_word_byte(c)).unwrap_or(rest.len()),
            _ => 0,
        };
        words += openings * word;
    }
    let literals = 1 + text.matches("#{").count();
    words > RUBY_WORDS_BYTES_MAX || (words > 0 && words + 5 * literals + 8 > RUBY_STATE_BYTES)
}

/// Returns whether an ASCII character is part of a word. Other characters depend on the C library,
/// so they count as parts of words.
fn is_word_byte(c: char) -> bool {
    !c.is_ascii() || c.is_ascii_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Adds up the bytes of the words after each `<<`.
    fn breaks_ruby_slowly(text: &str) -> bool {
        let mut words = 0;
        for (at, _) in text.match_indices("<<") {
            let rest = text[at + 2..].trim_start_matches(['-', '~', '<']);
            words += match rest.chars().next() {
                Some(quote) if "\"'`".contains(quote) => {
                    4 + rest[1..].find(quote).unwrap_or(rest.len())
                }
                Some(c) if is_word_byte(c) => {
                    4 + rest.find(|c| !is_word_byte(c)).unwrap_or(rest.len())
                }
                _ => 0,
            };
        }
        let literals = 1 + text.matches("#{").count();
        words > RUBY_WORDS_BYTES_MAX || (words > 0 && words + 5 * literals + 8 > RUBY_STATE_BYTES)
    }

    #[test]
    fn a_text_of_angle_brackets_is_looked_through_once() {
        // The rest of the run was scanned for every second sign: 4 MiB took hours.
        for sign in ["<", "<<-", "<<~<"] {
            let signs = sign.repeat((4 << 20) / sign.len());
            assert!(!breaks_ruby(&signs));
            assert!(breaks_ruby(&(signs + "W")));
        }
    }

    proptest! {
        #[test]
        fn runs_of_angle_brackets_count_as_often_as_they_open_a_heredoc(
            parts in prop::collection::vec(prop::sample::select(vec![
                "<", "<<", "-", "~", "W", "\u{e9}", "\"", "'", "`", " ", "#{", "WWWWWWWWWWWWWWWW",
            ]), 0..60),
            literals in prop::sample::select(vec![0usize, 150, 190, 200]),
        ) {
            let text = parts.concat() + &"#{".repeat(literals);
            prop_assert_eq!(breaks_ruby(&text), breaks_ruby_slowly(&text));
        }
    }
}
