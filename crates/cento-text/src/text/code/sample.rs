//! Texts whose tokens tell whether this build reads programs like the build that made an index.

/// A text that is a different program in each language.
pub(super) const PROGRAM: &str = "class A { public: int f(int x) { return x + 1; /* c */ } };\n\
    # comment or not\ndef g(x):\n    return f'{x}'\nfn h(x: &'a str) -> u8 { 'b'; r#\"s\"#; 1 }\n\
    struct B { virtual void m() = 0; }; A() { super(); } void f(final int y) { auto z = 1'000; }\n";

/// The number of languages in every build with the feature. They are the first in the list.
pub(super) const OF_EVERY_BUILD: usize = 5;

/// Programs on which the scanners of two grammars ask the C library whether a character is a letter
/// or white space. The answers of C libraries differ.
pub(super) const SCANNED: [&str; 2] = [
    "fn f() { 1.\u{e9}(); 1.\u{4e2d} ; x\u{85}r\"s\"; \u{2003}1.5; }",
    "auto s = R\"\u{2003}(x)\u{2003}\"; auto t = R\"\u{e9}(x)\u{e9}\"; int y;",
];

/// A text for the languages missing from some builds, a different program in every language.
/// Contains the characters about which the scanners ask the C library.
pub(super) const MORE: &str = "package p; /* <?php */ function f(x) { return `a${x}` + /r/u; } \n\
    $a = <<<E\nb\nE; func (t *T) g(n int) { n := 'x' } fun h(x: Int) = x\n\
    def i(y)\n  @z = :s; <<~W\n  t\n  W\nend\n<?php echo \"b\"; ?>\nclass C { string s = $\"{1}\"; }\n\
    let\u{2003}\u{e9} = 1\u{85}; <T>\u{e9}</T>; %w(\u{e9}\u{2003}b) !is\u{e9} \u{4e2d}: \u{4e2d}\n";

/// Returns a valid program in the language. The program is so long that the characters about which
/// the grammar's scanner asks the C library cannot make it look like prose.
pub(super) fn own_sample(language: &str) -> String {
    let program = match language {
        "c" => "struct B { int x; };\nint f(int x) { /* c */ char y = 'b'; return x + 1; }\n",
        "cpp" => "class A { public: int f(int x) { return x + 1; /* c */ } };\n",
        "java" => "class A { A() { super(); } int f(final int x) { return x + 1; /* c */ } }\n",
        "python" => "# comment\ndef g(x):\n    return f'{x}'\n",
        "rust" => "fn h<'a>(x: &'a str) -> u8 { b'b'; r#\"s\"#; 1 }\n",
        "javascript" | "typescript" | "tsx" => "function f(x) { return `a${x}` + /r/u; } // c\n",
        "php" => "<?php function f($x) { return \"b\"; } # c\n ?>\n",
        "ruby" => "def i(y) # c\n  @z = :s\n  puts 'b'\nend\n",
        "go" => "package p\n\nfunc (t *T) g(n int) byte { x := 'x'; return x }\n",
        "csharp" => "class C { int f(int x) { string s = $\"{1}\"; return x; } /* c */ }\n",
        "kotlin" => "fun h(x: Int): Int { val y = \"b\"; return x }\n",
        _ => unreachable!("there is a sample of every language"),
    };
    let scanned = match language {
        "rust" => SCANNED[0],
        "cpp" => SCANNED[1],
        _ => "",
    };
    program.repeat(12) + scanned
}
