//! Programs as token streams that ignore names and layout.
//!
//! Finkel et al. (2002), section 2.1: "each token is replaced by a single letter indicating its
//! function": identifiers become `i`, numbers `0`, strings `s`. Keywords and punctuation stay,
//! white space and comments are removed. With `names=1` identifiers, numbers and strings stay too.
//! A text that is too long or too deep to parse, or that the parser reads mostly through errors,
//! such as prose, is cut into words and signs as written. Each subroutine is a *paragraph*: an
//! additional token, [`paragraph_break`], marks where a paragraph begins or ends, and the scheme
//! `syntax` cuts there. The grammars come from tree-sitter, which can also read broken programs.

use super::grammar::{NodeKind, breaks_ruby, grammar};
use super::kinds::{end_of, kinds, start_of};
use super::parse::{STACK_BYTES_A_BYTE, STACK_RESERVE, parsed};
use super::reading::is_program;
use super::sample::{MORE, OF_EVERY_BUILD, PROGRAM, SCANNED, own_sample};
use super::{LANGUAGES, NAMES};
use crate::Result;
use crate::hash::hash_bytes;
use crate::runtime::Stop;
use crate::spec::Spec;
use crate::text::family::{SAMPLE, Tokenize};
use crate::text::unicode::is_white_space;
use crate::text::written::pieces;
use crate::text::{Span, Take, paragraph_break};
use std::borrow::Cow;
use tree_sitter::Node;

const TREE_BYTES_A_BYTE: usize = 100;

/// The maximum length of a text that is parsed, in bytes.
const PARSED_BYTES_MAX: usize = 4 << 20;

/// The maximum depth of nested brackets in a text that is parsed: with some grammars, time and
/// memory grow with the square of the depth.
const DEPTH_MAX: usize = 500;

/// `code(language,names)`: the tokens of programs.
#[derive(Debug)]
pub(super) struct ProgramTokens {
    language: &'static str,
    keeps_names: bool,
}

impl ProgramTokens {
    pub(super) fn new(spec: &Spec) -> ProgramTokens {
        let language = NAMES[spec.get("language") as usize];
        ProgramTokens { language, keeps_names: spec.is_on("names") }
    }
}

impl Tokenize for ProgramTokens {
    fn tokenize(&self, text: &str, tokens: &mut impl Take, stop: &Stop) -> Result<()> {
        tokenize(text, self.language, self.keeps_names, tokens, stop)
    }

    fn scratch_bytes(&self, text_bytes: usize) -> usize {
        let bytes_a_byte = TREE_BYTES_A_BYTE + STACK_BYTES_A_BYTE / STACK_RESERVE;
        if text_bytes > PARSED_BYTES_MAX { 0 } else { bytes_a_byte * text_bytes }
    }

    fn of_all_words(&self, _: bool) -> Option<String> {
        (!self.keeps_names).then(|| format!("code(language={},names=1)", self.language))
    }

    fn samples(&self) -> Vec<Cow<'static, str>> {
        let too_deep = format!("{}{SAMPLE}{PROGRAM}", "(".repeat(DEPTH_MAX + 1));
        let mut samples = [PROGRAM, SAMPLE, SCANNED[0], SCANNED[1]].map(Cow::from).to_vec();
        samples.push(too_deep.into());
        samples.push(own_sample(self.language).into());
        if LANGUAGES[..OF_EVERY_BUILD].iter().all(|language| language.name != self.language) {
            samples.push(MORE.into());
        }
        samples
    }
}

/// Appends the tokens of the program `text`, in the language with this name.
///
/// Cancellation is the only error.
fn tokenize(
    text: &str,
    language: &str,
    keeps_names: bool,
    tokens: &mut impl Take,
    stop: &Stop,
) -> Result<()> {
    let tokens = &mut TreeTokens { tokens, ends_with_break: true };
    let is_dangerous = || language == "ruby" && breaks_ruby(text);
    if text.len() > PARSED_BYTES_MAX || depth(text) > DEPTH_MAX || is_dangerous() {
        return signs(text, tokens, stop);
    }
    let grammar = grammar(language);
    let Some(tree) = parsed(text, &grammar, stop)? else {
        return signs(text, tokens, stop);
    };
    let kinds = kinds(language);
    if !is_program(&tree, kinds, text, stop)? {
        return signs(text, tokens, stop);
    }
    let mut cursor = tree.walk();
    for nodes in 0usize.. {
        stop.check_at(nodes)?;
        let node = cursor.node();
        let kind = kinds.of(node);
        if kind.is_subroutine {
            push_break(tokens, start_of(text, node));
        }
        let is_whole = (kind.is_comment || kind.is_text) && node.is_named();
        if !is_whole && cursor.goto_first_child() {
            continue;
        }
        push(tokens, text, node, kind, keeps_names);
        // Moves to the next unvisited node, leaving finished nodes.
        loop {
            let node = cursor.node();
            if kinds.of(node).is_subroutine {
                push_break(tokens, end_of(text, node));
            }
            if cursor.goto_next_sibling() {
                break;
            }
            if !cursor.goto_parent() {
                return Ok(());
            }
        }
    }
    Ok(())
}

/// Receives the tokens of a program, and avoids empty paragraphs.
struct TreeTokens<'a, T> {
    tokens: &'a mut T,
    /// Whether no paragraph has begun since the last break.
    ends_with_break: bool,
}

impl<T: Take> TreeTokens<'_, T> {
    fn take(&mut self, letter: &str, span: Span) {
        let hash = hash_bytes(letter.as_bytes());
        self.tokens.take(hash, span);
        self.ends_with_break = hash == paragraph_break();
    }
}

/// Returns the maximum number of brackets that are open at once. A statement ends all open angle
/// brackets, because an angle bracket mostly means "less than".
fn depth(text: &str) -> usize {
    let (mut depth, mut angles, mut deepest) = (0usize, 0usize, 0);
    for byte in text.bytes() {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            b'<' => angles += 1,
            b'>' => angles = angles.saturating_sub(1),
            _ => {}
        }
        if matches!(byte, b';' | b'{' | b'}') {
            angles = 0;
        }
        deepest = deepest.max(depth + angles);
    }
    deepest
}

/// Appends the words and signs of a text that is no program, or is not parsed, as written, in a
/// single paragraph.
fn signs(text: &str, tokens: &mut TreeTokens<'_, impl Take>, stop: &Stop) -> Result<()> {
    for (place, span) in pieces(text).enumerate() {
        stop.check_at(place)?;
        tokens.take(&text[span.start as usize..span.end as usize], span);
    }
    Ok(())
}

/// Appends the token of a node without visiting its children.
fn push(
    tokens: &mut TreeTokens<'_, impl Take>,
    text: &str,
    node: Node<'_>,
    kind: NodeKind,
    keeps_names: bool,
) {
    let (start, end) = (start_of(text, node), end_of(text, node));
    let written = &text[start..end];
    let is_named = node.is_named();
    // The root of a program without tokens is a node of white space. Missing nodes are empty.
    if kind.is_comment && is_named || kind.is_continuation || written.chars().all(is_white_space) {
        return;
    }
    let letter = if !is_named || keeps_names {
        written
    } else if kind.is_name {
        "i"
    } else if kind.is_text {
        "s"
    } else if kind.is_number {
        "0"
    } else {
        written
    };
    tokens.take(letter, Span { start: start as u32, end: end as u32 });
}

/// Ends a paragraph, unless none has begun.
fn push_break(tokens: &mut TreeTokens<'_, impl Take>, at: usize) {
    if !tokens.ends_with_break {
        tokens.tokens.take(paragraph_break(), Span { start: at as u32, end: at as u32 });
        tokens.ends_with_break = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Tokens;
    use crate::text::code::languages;
    use proptest::prelude::*;

    fn tokenize(text: &str, language: &str, keeps_names: bool, tokens: &mut Tokens) {
        super::tokenize(text, language, keeps_names, tokens, Stop::NEVER).unwrap();
    }

    /// Checks that the program becomes these tokens, where `|` is a break.
    #[track_caller]
    fn check(language: &str, keeps_names: bool, text: &str, expected: &str) {
        assert_eq!(letters(language, keeps_names, text, expected), expected, "{language}: {text}");
    }

    /// Returns the tokens of a program. A token that is not among `known` is written in brackets.
    fn letters(language: &str, keeps_names: bool, text: &str, known: &str) -> String {
        let mut tokens = Tokens::default();
        tokenize(text, language, keeps_names, &mut tokens);
        let letter = |(hash, span): (&u64, &Span)| {
            let is_it = |letter: &&str| hash_bytes(letter.as_bytes()) == *hash;
            match known.split(' ').find(is_it) {
                _ if *hash == paragraph_break() => "|".to_owned(),
                Some(letter) => letter.to_owned(),
                None => format!("<{}>", &text[span.start as usize..span.end as usize]),
            }
        };
        tokens.hashes.iter().zip(&tokens.spans).map(letter).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn names_and_layout_do_not_matter() {
        let one =
            "int count = 0;\nint add(int a) { /* x */ return a + 17; } // y\nchar *s = \"a b\";";
        let expected = "int i = 0 ; | int i ( int i ) { return i + 0 ; } | char * i = s ;";
        check("c", false, one, expected);
        check("c", false, "int n=3;int plus ( int  b ) {return b+1;}char*t=\"\\n\";", expected);
        check("c", true, "x = y;", "x = y ;");
        check(
            "cpp",
            false,
            "class A { int f() { return 'c'; } };",
            "class i { | int i ( ) { return s ; } | } ;",
        );
        check(
            "java",
            false,
            "class A { int f() { return 1; } }",
            "class i { | int i ( ) { return 0 ; } | }",
        );
        check(
            "python",
            false,
            "import os\ndef f(x):\n    '''doc'''\n    return x # c\ny = 1.5\n",
            "import i | def i ( i ) : s return i | i = 0",
        );
        check(
            "rust",
            false,
            "/// doc\nfn f(x: u8) -> u8 { x + 1_u8 }\nstruct S;",
            "| fn i ( i : u8 ) -> u8 { i + 0 } | struct i ;".trim_start_matches("| "),
        );
    }

    fn is_program(language: &str, text: &str) -> bool {
        let tree = parsed(text, &grammar(language), Stop::NEVER).unwrap().unwrap();
        super::is_program(&tree, kinds(language), text, Stop::NEVER).unwrap()
    }

    #[test]
    fn a_text_that_is_read_through_errors_becomes_words_and_signs() {
        let prose = "The ship, which had left the harbour on Monday, didn't come back: nobody knew \
                     why it was late, or where the captain (an old friend of ours) had gone.";
        let mut wrong = Vec::new();
        for language in languages() {
            let mut expected = Tokens::default();
            for span in pieces(prose) {
                let word = &prose[span.start as usize..span.end as usize];
                expected.take(hash_bytes(word.as_bytes()), span);
            }
            let mut found = Tokens::default();
            tokenize(prose, language, false, &mut found);
            if found != expected {
                wrong.push(language);
            }
        }
        // PHP takes a text without its opening tag for output, and Ruby takes words in a row for
        // calls.
        wrong.retain(|language| !["php", "ruby"].contains(language));
        assert_eq!(wrong, [""; 0]);
        // Two words in a row can be a declaration that lacks its end.
        for language in ["c", "cpp", "java", "rust", "python"] {
            assert!(!is_program(language, &"fgokem pbhine ".repeat(100)), "{language}");
        }
    }

    #[test]
    fn a_program_with_errors_is_a_program() {
        let program = "class A { int f(int x) { int y = x + 1; return g(y, 17); } }\n";
        for language in ["cpp", "java"] {
            assert!(is_program(language, program));
            for (from, to) in [("; }", " }"), ("(int", "int"), ("} }", ""), ("=", "= =")] {
                let broken = program.replacen(from, to, 1);
                assert!(is_program(language, &broken), "{language}: {broken}");
            }
        }
        for language in languages() {
            assert!(is_program(language, &own_sample(language)), "{language}");
        }
    }

    #[test]
    fn the_kinds_of_nodes_are_those_of_their_names() {
        for name in languages() {
            let (kinds, grammar) = (kinds(name), grammar(name));
            let mut parser = tree_sitter::Parser::new();
            parser.set_language(&grammar.language.into()).unwrap();
            let mut seen = 0;
            for text in [PROGRAM, MORE] {
                let tree = parser.parse(text, None).unwrap();
                let mut rest = vec![tree.root_node()];
                while let Some(node) = rest.pop() {
                    assert_eq!(kinds.of(node), grammar.kind(node.kind()), "{name}: {node:?}");
                    rest.extend((0..node.child_count()).filter_map(|at| node.child(at)));
                    seen += 1;
                }
            }
            assert!(seen > 20, "{name}");
        }
    }

    #[cfg(feature = "code-all")]
    #[test]
    fn names_and_layout_do_not_matter_in_the_other_languages() {
        let function = "function add(a, b) { /* x */ return `n${a}` + b; } // y";
        let mut wrong = String::new();
        for (language, text, expected) in [
            ("javascript", function, "function i ( i , i ) { return s + i ; } |"),
            ("tsx", function, "function i ( i , i ) { return s + i ; } |"),
            ("javascript", "let x = /a+/g.test('b') ? 1 : .5;", "let i = s . i ( s ) ? 0 : 0 ;"),
            (
                "typescript",
                "class A<T> { f(x: number): T { return <T>x; } }",
                "class i < i > { | i ( i : number ) : i { return < i > i ; } | }",
            ),
            (
                "php",
                "<b>x</b><?php function f($a) { return <<<E\nb $a\nE . \"c\"; } # y\n $n = 17;",
                "s <?php | function i ( $ i ) { return s . s ; } | $ i = 0 ;",
            ),
            (
                "ruby",
                "class A # x\n  def f(a)\n    @b = { c: :d, 'e' => 0x1f }\n    puts <<~W\n      t\n    W\n  end\nend\n",
                "class i | def i ( i ) i = { i : i , s => 0 } i s s end | end",
            ),
            (
                "go",
                "package p\n// y\nfunc (t *T) f(n int) byte { x := 'a'; return 17 }",
                "package i | func ( i * i ) i ( i i ) i { i := s ; return 0 } |",
            ),
            (
                "csharp",
                "class A { int F(int a) => a + 1; string s = $\"{1}\"; double d = 1.5; }",
                "class i { | int i ( int i ) => i + 0 ; | string i = s ; double i = 0 ; }",
            ),
            (
                "kotlin",
                "class A { fun f(a: Int): Char { val x = 1.5f; return 'c' } } // y",
                "class i { | fun i ( i : i ) : i { val i = 0 return s } | }",
            ),
        ] {
            let found = letters(language, false, text, expected);
            if found != expected {
                wrong += &format!("{language}:\n  {found}\n  {expected}\n");
            }
        }
        assert!(wrong.is_empty(), "{wrong}");
    }

    /// Inputs that the scanners of two grammars do not handle.
    #[cfg(feature = "code-all")]
    #[test]
    fn the_end_of_a_text_and_long_words_are_no_trap() {
        for text in
            ["class A\n@", "class A\n@x", "class A {\n val a = 1\n @x(", "val a: B\n@set:x(\n"]
        {
            let mut tokens = Tokens::default();
            tokenize(text, "kotlin", false, &mut tokens);
            assert!(tokens.spans.iter().all(|span| span.end as usize <= text.len()), "{text}");
        }
        for length in [8, 200, 253, 300, 1100] {
            let word = "W".repeat(length);
            let mut tokens = Tokens::default();
            tokenize(&format!("x = <<{word}\n t\n{word}\n"), "ruby", false, &mut tokens);
            assert!(!tokens.hashes.is_empty());
        }
        // Nested literals, as many as fill the state of the scanner with a heredoc.
        for literals in 150..210 {
            for word in 1..6 {
                let text = format!("\"{}<<{}", "#{\"}".repeat(literals), "W".repeat(word));
                tokenize(&text, "ruby", false, &mut Tokens::default());
            }
        }
        assert!(!breaks_ruby("a << b; c <<~SQL\n #{d}\nSQL\n"));
    }

    #[test]
    fn numbers_are_numbers_however_they_are_written() {
        check("c", false, "x = -5 + .5f;", "i = 0 + 0 ;");
        check("python", false, "x = 1 + \\\n  .5", "i = 0 + 0");
        check("java", false, "class A { double x = .5; }", "class i { double i = 0 ; }");
    }

    #[test]
    fn the_memory_of_a_text_includes_the_stack_of_the_parser() {
        let program = ProgramTokens { language: "c", keeps_names: false };
        assert_eq!(program.scratch_bytes(1 << 20), (100 + 128) << 20);
        assert_eq!(program.scratch_bytes(PARSED_BYTES_MAX + 1), 0);
    }

    #[test]
    fn a_text_that_would_take_too_long_is_not_parsed() {
        // 40 KB of such text took Java's grammar a minute and 3 GB.
        let mut tokens = Tokens::default();
        for language in languages() {
            for deep in ["a<", "f(", "T<T", "[", "\n{"] {
                tokenize(&deep.repeat(20_000), language, false, &mut tokens);
            }
        }
        let expected =
            ["int", "<", "n_1", "<", "0x1f", ";"].map(|sign| hash_bytes(sign.as_bytes()));
        let text = format!("int < n_1<0x1f; {}", "(".repeat(DEPTH_MAX + 1));
        tokens = Tokens::default();
        tokenize(&text, "c", false, &mut tokens);
        assert_eq!(tokens.hashes[..6], expected);
        // Letters, numbers and marks of any script make words: "cafe" with an accent, Hindi, Thai.
        let words =
            "cafe\u{301} \u{939}\u{93f}\u{928}\u{94d}\u{926}\u{940} \u{e19}\u{e49}\u{e33}\u{e52}";
        tokens = Tokens::default();
        tokenize(&format!("{words} {}", "(".repeat(DEPTH_MAX + 1)), "c", true, &mut tokens);
        let expected: Vec<u64> = words.split(' ').map(|word| hash_bytes(word.as_bytes())).collect();
        assert_eq!(tokens.hashes[..3], expected);
        assert_eq!(depth("for (i = 0; i < n; i++) { if (a < b) { } }"), 3);
    }

    /// The scanner searched for the end of the text at every place: 100 KB took a minute.
    #[cfg(feature = "code-all")]
    #[test]
    fn a_text_that_is_read_again_and_again_is_not_parsed() {
        let is_parsed =
            |text: &str| parsed(text, &grammar("kotlin"), Stop::NEVER).unwrap().is_some();
        assert!(!is_parsed(&format!("x\n{}", "<a>".repeat(33_000))));
        assert!(is_parsed(&"val a: List<Int> = f(1)\n".repeat(4_000)));
    }

    /// 10 KB of such text took 1.2 GB at its end, and 40 KB aborted the process.
    #[test]
    fn a_text_of_errors_is_not_parsed_and_its_words_and_signs_are_tokens() {
        for language in ["c", "java"] {
            let is_parsed =
                |text: &str| parsed(text, &grammar(language), Stop::NEVER).unwrap().is_some();
            assert!(is_parsed(&"x => ".repeat(20)), "{language}");
            for count in [1_000, 8_000, 400_000] {
                assert!(!is_parsed(&"x => ".repeat(count)), "{language}: {count}");
            }
            check(language, false, &"x => ".repeat(1_000), "x = > ".repeat(1_000).trim_end());
        }
        // A limit on the total work catches parsing whose cost grows with the square of the text.
        assert!(parsed(&"x::".repeat(8_000), &grammar("c"), Stop::NEVER).unwrap().is_none());
        let broken = "int f() { return x => 1; }\n".repeat(2_000);
        assert!(parsed(&broken, &grammar("c"), Stop::NEVER).unwrap().is_some());
    }

    #[test]
    fn a_text_that_is_no_program_has_tokens_and_white_space_does_not() {
        for language in languages() {
            let mut tokens = Tokens::default();
            tokenize("this is (no program", language, false, &mut tokens);
            assert!(!tokens.hashes.is_empty());
            tokens = Tokens::default();
            tokenize(" \n", language, false, &mut tokens);
            assert_eq!(tokens, Tokens::default());
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn any_text_is_no_panic_and_spans_are_in_order(
            language in prop::sample::select(languages().collect::<Vec<_>>()),
            parts in prop::collection::vec(prop::sample::select(vec![
                "fn", "def", "int", " ", "\n", "{", "}", "(", ")", "\"", "'", "x", "\u{e9}", "\u{1d54f}", "1",
                ";", ":", "/*", "*/", "//", "#", "\0", "=", "class", "f\"{", "r#\"", "\r\n    ",
                "@", "<<W", "<?php ", "?>", "<<<E\n", "E;", "`${", "#{", "%w(", "</x>", "$\"{", "?", "=>", "end",
            ]), 0..40),
        ) {
            let text = parts.concat();
            let mut tokens = Tokens::default();
            tokenize(&text, language, false, &mut tokens);
            let mut last = 0;
            for span in tokens.spans {
                prop_assert!(span.start >= last && span.end >= span.start);
                prop_assert!(text.get(span.start as usize..span.end as usize).is_some());
                last = span.end;
            }
        }
    }
}
