//! Tests of texts over several pages, and of what stands beside the lines of a text.

use super::tests::{HELVETICA, file, stream};
use super::*;

/// Returns the text of a document with these pages.
fn text_of_pages(contents: &[String]) -> String {
    let count = contents.len();
    let numbers = |from: usize| (from..from + count).map(|number| format!("{number} 0 R "));
    let kids: String = numbers(3).collect();
    let mut objects = vec![
        "<</Type/Catalog/Pages 2 0 R>>".to_owned(),
        format!("<</Type/Pages/Kids[{kids}]/Count {count}>>"),
    ];
    objects.extend(numbers(3 + count).map(|content| {
        format!(
            "<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Resources<<{HELVETICA}>>/Contents \
             {content}>>"
        )
    }));
    objects.extend(contents.iter().map(|content| stream("", content)));
    extract(&file(&objects, "")).unwrap().text
}

/// Draws a text at a place, in letters of this size.
fn at(x: f64, y: f64, size: u32, text: &str) -> String {
    format!("BT /F {size} Tf {x} {y} Td ({text}) Tj ET ")
}

/// Draws lines of text at a size of 10 points, from top to bottom.
fn lines(lines: &[&str]) -> String {
    let drawn = lines.iter().zip((0..=700).rev().step_by(14));
    drawn.map(|(line, y)| at(100.0, f64::from(y), 10, line)).collect()
}

/// Returns lines of which no two are alike.
fn words(page: usize, count: usize) -> Vec<String> {
    let letter = |number: usize| char::from(b'a' + number as u8);
    let line = |line| format!("{}{} has some words of text,", letter(page), letter(line));
    (0..count).map(line).collect()
}

fn drawn_words(page: usize, count: usize) -> String {
    let words = words(page, count);
    lines(&words.iter().map(String::as_str).collect::<Vec<_>>())
}

#[track_caller]
fn check(contents: &[String], expected: &str) {
    let text = text_of_pages(contents);
    let flat = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(flat(&text), flat(expected));
}

fn words_of_pages(pages: std::ops::Range<usize>, count: usize) -> String {
    pages.flat_map(|page| words(page, count)).collect::<Vec<_>>().join(" ")
}

#[test]
fn numbers_of_lines_are_no_text() {
    let all = words_of_pages(0..2, 12);
    let numbered = |page: usize, number: &dyn Fn(usize) -> String| {
        let numbers: String = (0..12).map(number).collect();
        drawn_words(page, 12) + &numbers
    };
    let y = |line: usize| 700.0 - 14.0 * line as f64;
    // At every line, in a single margin and in two margins, and near to the text.
    for (left, right) in [(70.0, None), (70.0, Some(450.0)), (91.0, None), (91.0, Some(225.0))] {
        let pages = [0, 1].map(|page| {
            numbered(page, &|line| {
                let number = (page * 12 + line + 1).to_string();
                let x = left - 4.0 * number.len() as f64;
                let other = right.map(|x| at(x, y(line), 7, &number)).unwrap_or_default();
                at(x, y(line), 7, &number) + &other
            })
        });
        check(&pages, &all);
    }
    // At every fifth line, from 1 on each page.
    let fifth = [0, 1].map(|page| {
        numbered(page, &|line| match (line + 1) % 5 {
            0 => at(450.0, y(line), 8, &(line + 1).to_string()),
            _ => String::new(),
        })
    });
    check(&fifth, &all);
}

#[test]
fn numbers_of_lists_and_tables_are_text() {
    let rows = |texts: &dyn Fn(usize) -> Vec<(f64, String)>| -> String {
        let row = |line: usize| {
            let y = 700.0 - 14.0 * line as f64;
            texts(line).into_iter().map(move |(x, text)| at(x, y, 10, &text)).collect::<String>()
        };
        (0..6).map(row).collect()
    };
    // A title stands where the numbers stand.
    let list = |line: usize| vec![(70.0, (line + 1).to_string()), (100.0, "an item".into())];
    let title = at(70.0, 740.0, 14, "Items");
    check(
        &[title + &rows(&list)],
        "Items 1 an item 2 an item 3 an item 4 an item 5 an item 6 an item",
    );
    // The years of a table.
    let table = |line: usize| {
        vec![(70.0, (1990 + line).to_string()), (200.0, "ten".into()), (300.0, "two".into())]
    };
    let years = (1990..1996).map(|year| format!("{year} ten two")).collect::<Vec<_>>().join(" ");
    check(&[rows(&table)], &years);
    // Codes that count up over a few rows only.
    let codes = at(450.0, 700.0, 10, "9304")
        + &at(450.0, 686.0, 10, "9305")
        + &at(450.0, 672.0, 10, "9306")
        + &at(450.0, 658.0, 10, "9307");
    let text = text_of_pages(&[drawn_words(0, 12) + &codes]);
    assert!(text.contains("9304") && text.contains("9307"), "{text}");
}

#[test]
fn a_sentence_goes_on_after_heads_feet_and_page_numbers() {
    let all = words_of_pages(0..4, 12);
    let pages = |head: &dyn Fn(usize) -> String| -> Vec<String> {
        (0..4).map(|page| head(page) + &drawn_words(page, 12)).collect()
    };
    let foot = |text: String| at(280.0, 60.0, 9, &text);
    let head = |text: String| at(200.0, 750.0, 9, &text);
    check(&pages(&|page| foot((page + 7).to_string())), &all);
    check(&pages(&|page| foot(format!("- {} -", page + 7))), &all);
    check(&pages(&|page| foot(format!("Page {} of 12", page + 1))), &all);
    check(&pages(&|page| foot(["iii", "iv", "v", "vi"][page].into())), &all);
    let side = |page: usize| ["The Pilots", "A Book"][page % 2].to_owned();
    check(&pages(&|page| head(side(page))), &format!("{all} The Pilots A Book"));
    let chapter = |page: usize| format!("{}   On {}", page + 7, ["Tides", "Piers"][page / 2]);
    check(&pages(&|page| head(chapter(page))), &all);
    // A word over two pages, and a head between its halves.
    let pages = [
        drawn_words(0, 3) + &at(100.0, 658.0, 10, "a word that is bro-"),
        at(100.0, 700.0, 10, "ken by the end of a page"),
    ];
    let text = text_of_pages(&pages.map(|page| head("A Long Title of It".into()) + &page));
    assert!(text.contains("that is broken"), "{text}");
}

#[test]
fn a_word_over_pages_is_one_on_the_page_where_it_begins() {
    let pages = ["the eld-", "ers of the", "place"].map(|line| lines(&[line]));
    assert_eq!(text_of_pages(&pages), "the elders\n\u{c} of the\n\u{c}place\n");
}

#[test]
fn lines_that_are_no_head_stay_where_they_are() {
    // Titles in larger letters, equal pages, and text that begins alike.
    let title = |page: usize| at(100.0, 750.0, 18, &format!("Part {page}")) + &drawn_words(page, 4);
    let text = text_of_pages(&[title(1), title(2), title(3)]);
    let parts: Vec<&str> = text.split('\u{c}').collect();
    assert!((1..4).all(|page| parts[page - 1].starts_with(&format!("Part {page}"))), "{text}");
    check(
        &[drawn_words(0, 8), drawn_words(0, 8)],
        &[words_of_pages(0..1, 8), words_of_pages(0..1, 8)].join(" "),
    );
    let alike = |page: usize| {
        lines(&["it begins alike", "and goes on"]) + &at(100.0, 672.0, 10, ["so", "thus"][page])
    };
    check(&[alike(0), alike(1)], "it begins alike and goes on so it begins alike and goes on thus");
}

#[test]
fn a_note_at_the_foot_does_not_cut_a_sentence() {
    let next = at(100.0, 700.0, 10, "went down to the quay. Then it rained.");
    let foot = |size: u32| {
        at(100.0, 90.0, size, "1 A note of the pilot") + &at(100.0, 80.0, size, "about it.")
    };
    for (size, body) in [(8, "The old pilot of the harbour"), (10, "The old pilot of the harbour")]
    {
        let mark = format!("BT /F 10 Tf 100 700 Td ({body}) Tj /F 6 Tf 4 Ts (1) Tj ET ");
        let rest = at(100.0, 686.0, 10, "of the bay") + &at(100.0, 672.0, 10, "of the storms");
        check(
            &[mark + &rest + &foot(size), next.clone()],
            "The old pilot of the harbour of the bay of the storms went down to the quay. Then it \
             rained. A note of the pilot about it.",
        );
    }
    // A page keeps its note if the page ends with a sentence.
    let whole = lines(&["The old pilot went home", "and slept in the house", "until noon."]);
    let text = text_of_pages(&[whole + &foot(8), lines(&["Then it rained."])]);
    let first = text.split('\u{c}').next().unwrap();
    assert!(first.contains("A note of the pilot"), "{text}");
}

#[test]
fn a_mark_after_a_short_word_continues_the_count() {
    let line = |(number, text): (u32, &str)| {
        let y = 714 - 14 * number;
        format!("BT 0 Ts /F 10 Tf 100 {y} Td ({text}) Tj /F 6 Tf 4 Ts ({number}) Tj ET ")
    };
    let texts = ["the wall", "by a", "house"];
    let page: String = (1..).zip(texts).map(line).collect();
    check(&[page], "the wall by a house");
    let power: String = [(1, "the wall"), (2, "of 5 m")].map(line).concat();
    check(&[power], "the wall of 5 m2");
}

#[test]
fn a_note_from_right_to_left_has_its_mark_at_the_end() {
    let row = |text: &str, mark: Option<&str>| PageRow {
        text: text.into(),
        place: row::RowPlace { direction: 0, row: 0 },
        line: 0.0,
        height: 8.0,
        size: 8.0,
        marks: Vec::new(),
        numbers: Vec::new(),
        counted: Vec::new(),
        mark: mark.map(str::to_owned),
    };
    let hebrew = "\u{5d4}\u{5e2}\u{5e8}\u{5d4} 1";
    for (text, mark, expected) in [
        (hebrew, Some("1"), hebrew),
        ("1 a note", Some("1"), "a note"),
        ("[2] a note", None, "a note"),
        ("3 a note", None, "3 a note"),
    ] {
        assert_eq!(row(text, mark).text_of_note(&["2"].into()), expected);
    }
}

#[test]
fn raised_numbers_of_verses_are_no_text() {
    let verse = |number: u32, y: f64| {
        at(100.0, y + 4.0, 6, &number.to_string()) + &at(103.4, y, 10, "In those days it rained")
    };
    let page: String =
        (1..5).map(|number| verse(number, 700.0 - 14.0 * f64::from(number))).collect();
    check(&[page], &["In those days it rained"; 4].join(" "));
}

#[test]
fn shadows_are_read_once() {
    let twice = |dx: f64, dy: f64| {
        let text = "still the bell will toll";
        at(100.0, 700.0, 12, text) + &at(100.0 + dx, 700.0 - dy, 12, text)
    };
    for (dx, dy) in [(1.0, 1.0), (2.0, 2.0), (2.0, 0.0), (0.0, 3.0)] {
        check(&[twice(dx, dy)], "still the bell will toll");
    }
    check(&[twice(0.0, 14.0)], "still the bell will toll still the bell will toll");
    check(
        &[at(100.0, 700.0, 12, "illicit ill lilies 1111 ......")],
        "illicit ill lilies 1111 ......",
    );
}

#[test]
fn hyphens_of_words_stay_at_the_ends_of_lines() {
    // The word is written with a hyphen somewhere else.
    check(
        &[lines(&["a well-", "known pilot was well-known", "to the eld-", "ers of it"])],
        "a well-known pilot was well-known to the elders of it",
    );
    // The document divides its words with a soft hyphen, which within a line is a hyphen.
    check(
        &[lines(&[
            "the el\\255",
            "ders of a sec\\255",
            "ond well-",
            "known har\\255",
            "bour, a long\\255term one",
        ])],
        "the elders of a second well-known harbour, a long-term one",
    );
}
