//! Deeply nested input ends no thread with an eighth of the usual stack.

use cento::Stop;
use cento::index::{Config, Document, Index, SignedDocument, WriterOptions};
use cento::scheme;
use cento::text::code::languages;
use cento::text::{Analyzer, Tokens};
use serde_json::{Map, Value, json};

fn on_a_small_stack<T: Send + 'static>(run: impl FnOnce() -> T + Send + 'static) -> T {
    std::thread::Builder::new().stack_size(256 << 10).spawn(run).unwrap().join().unwrap()
}

fn tokens_of(analyzer: &str, text: String) -> usize {
    let analyzer: Analyzer = analyzer.parse().unwrap();
    on_a_small_stack(move || {
        let mut tokens = Tokens::default();
        analyzer.analyze(&text, &mut tokens, Stop::NEVER).unwrap();
        tokens.hashes.len()
    })
}

/// Nested structures: the opening of a level, the middle, and the end of a level.
const NESTS: &[[&str; 3]] = &[
    ["(", "x", ")"],
    ["(a)", "x;", ""],
    ["<a>", "x;", ""],
    ["[", "x", "]"],
    ["{", "x;", "}"],
    ["f(", "x", ")"],
    ["a[", "0", "]"],
    ["a<", "b", ">"],
    ["<a>", "b", "</a>"],
    ["!", "x;", ""],
    ["*", "p;", ""],
    ["&", "x;", ""],
    ["-", "x;", ""],
    ["$", "x;", ""],
    ["@a ", "x;", ""],
    ["[]", "x;", ""],
    ["(int)", "x;", ""],
    ["not ", "x", ""],
    ["new ", "x;", ""],
    ["await ", "x;", ""],
    ["typeof ", "x;", ""],
    ["keyof ", "x;", ""],
    ["chan ", "x;", ""],
    ["map[a]", "x;", ""],
    ["<-", "x;", ""],
    ["a.", "b;", ""],
    ["a::", "b;", ""],
    ["a = ", "1;", ""],
    ["a ?? ", "b;", ""],
    ["a ?: ", "b;", ""],
    ["a ? b : ", "c;", ""],
    ["a ? ", "b", " : c"],
    ["a extends b ? c : ", "d;", ""],
    ["a as ", "b;", ""],
    ["x -> ", "y;", ""],
    ["x => ", "y;", ""],
    ["(x) => { ", "y;", " }"],
    ["|| ", "x;", ""],
    ["lambda: ", "x", ""],
    ["-> { ", "x", " }"],
    ["fn($x) => ", "1;", ""],
    ["function f() { ", "x;", " }"],
    ["func() { ", "x", " }"],
    ["fun f() = ", "x", ""],
    ["if (x) ", "y();", " else z();"],
    ["if (x) y(); else ", "z();", ""],
    ["if x {} else ", "{}", ""],
    ["if x\n", "y\n", "end\n"],
    ["def f\n", "x\n", "end\n"],
    ["when (x) { else -> ", "y", " }"],
    ["switch (x) { default: ", "y;", " }"],
    ["try { ", "x;", " } finally { y; }"],
    ["class A { ", "int x;", " }"],
    ["namespace a ", "{}", ""],
    ["namespace a { ", "x;", " }"],
    ["/*", "x", "*/"],
    ["m!(", "x", ")"],
    ["f'{", "x", "}'"],
    ["`${", "x", "}`"],
    ["\"${", "x", "}\""],
    ["\"#{", "x", "}\""],
    ["\"{$a[", "x", "]}\""],
    ["$\"{", "x", "}\""],
    ["%w(", "x", ")"],
    ["<<A + ", "x", ""],
    ["<<<A\n{$a[", "x", "]}\nA"],
    ["#if X\n", "x;\n", "#endif\n"],
    ["?><?php ", "x;", ""],
];

#[test]
fn deep_programs_are_read_in_every_language() {
    // In some languages, every level is an error. If no bracket is closed before the end, memory
    // grows with the square of the levels (SECURITY.md). The depths exceed the limit for parsing by
    // brackets, or nearly reach it with one or two brackets per level.
    for depth in [1_000, 450, 240] {
        for [open, inner, close] in NESTS {
            let nested = format!("{}{inner}{}", open.repeat(depth), close.repeat(depth));
            for language in languages() {
                let start = if language == "php" { "<?php " } else { "" };
                let text = format!("{start}x\n{nested}\n");
                assert!(tokens_of(&format!("code(language={language})"), text) > 0);
            }
        }
    }
    let indented: String = (0..400).map(|depth| format!("{}if x:\n", " ".repeat(depth))).collect();
    assert!(tokens_of("code(language=python)", indented) > 0);
}

#[test]
fn deep_markup_is_read() {
    let depth = 100_000;
    for (open, close) in [("<div>", "</div>"), ("<b><i>", "</i></b>"), ("<!--", "-->"), ("<", ">")]
    {
        let text = format!("word {} {}", open.repeat(depth), close.repeat(depth));
        assert!(tokens_of("avtor(language=en)", text) > 0);
    }
    assert!(tokens_of("avtor(language=en)", "&amp;".repeat(depth)) > 0);
    assert!(tokens_of("words", "e\u{301}".repeat(depth) + &"\u{301}".repeat(depth)) > 0);
}

#[test]
fn deep_specifications_are_refused() {
    let deep = "winnow(k=".repeat(50_000) + &")".repeat(50_000);
    on_a_small_stack(move || {
        assert!(scheme::parse(&deep).is_err());
        assert!(deep.parse::<Analyzer>().is_err());
    });
}

#[test]
fn the_deepest_meta_object_that_is_not_refused_is_added() {
    let nested = format!("{}1{}", "{\"a\":".repeat(120), "}".repeat(120));
    let meta: Map<String, Value> = serde_json::from_str(&nested).unwrap();
    let document = Document::new("a", "x").with_meta(meta);
    on_a_small_stack(move || {
        let config = Config::new("kgram(k=1)", "words", true).unwrap();
        let index = Index::in_memory(config).unwrap();
        let options = WriterOptions::default().memory_bytes(0usize).merge(false);
        let mut writer = index.writer(options).unwrap();
        let signed = SignedDocument::new(document.clone(), index.config(), Stop::NEVER).unwrap();
        writer.add_signed(signed).unwrap();
        writer.finish().unwrap();
        let snapshot = index.snapshot().unwrap();
        let address = snapshot.find("a").unwrap().unwrap();
        assert_eq!(snapshot.meta(address).unwrap(), document.meta);
    });
}

#[test]
fn a_deep_meta_object_of_a_library_is_refused() {
    let mut value: Value = json!(1);
    for _ in 0..200 {
        value = json!([value]);
    }
    let meta = Map::from_iter([("a".to_owned(), value)]);
    let error = Document::new("a", "x").with_meta(meta).checked().unwrap_err().to_string();
    assert!(error.contains("more than 128 levels"), "{error}");
}
