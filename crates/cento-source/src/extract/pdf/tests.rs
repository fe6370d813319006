use super::*;

/// Returns a PDF with a single page. Objects 1 to 4 are the catalog, the pages, the page and its
/// content. `others` are the objects from the fifth on.
fn pdf(resources: &str, content: &str, page: &str, others: &[String]) -> Vec<u8> {
    let catalog = "<</Type/Catalog/Pages 2 0 R/AcroForm<</Fields[]>>>>".to_owned();
    let all = "<</Type/Pages/Kids[3 0 R]/Count 1>>".to_owned();
    let page = format!(
        "<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Resources<<{resources}>>/Contents 4 0 R{page}>>"
    );
    let mut objects = vec![catalog, all, page, stream("", content)];
    objects.extend_from_slice(others);
    file(&objects, "")
}

pub fn stream(entries: &str, content: &str) -> String {
    format!("<</Length {}{entries}>>\nstream\n{content}\nendstream", content.len())
}

pub fn file(objects: &[String], trailer: &str) -> Vec<u8> {
    let mut out = "%PDF-1.5\n".to_owned();
    let mut table = format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1);
    for (number, object) in (1..).zip(objects) {
        table.push_str(&format!("{:010} 00000 n \n", out.len()));
        out.push_str(&format!("{number} 0 obj\n{object}\nendobj\n"));
    }
    let (start, size) = (out.len(), objects.len() + 1);
    let end = format!("trailer\n<</Size {size}/Root 1 0 R{trailer}>>\nstartxref\n{start}\n%%EOF\n");
    (out + &table + &end).into_bytes()
}

pub const HELVETICA: &str =
    "/Font<</F<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>>>";

const COURIER: &str =
    "/Font<</F<</Type/Font/Subtype/Type1/BaseFont/Courier/Encoding/WinAnsiEncoding>>>>";

/// A gray image of one pixel.
const IMAGE: &str =
    "/Type/XObject/Subtype/Image/Width 1/Height 1/ColorSpace/DeviceGray/BitsPerComponent 8";

fn text(content: &str) -> ExtractedText {
    extract(&pdf(HELVETICA, content, "", &[])).unwrap()
}

#[track_caller]
fn check(content: &str, expected: &str) {
    let words: Vec<String> = text(content).text.split_whitespace().map(str::to_owned).collect();
    assert_eq!(words.join(" "), expected);
}

/// Returns the text of a page with an image `/I` and `content`.
fn with_image(content: &str) -> Result<ExtractedText, String> {
    let resources = format!("{HELVETICA}/XObject<</I 5 0 R>>");
    extract(&pdf(&resources, content, "", &[stream(IMAGE, "x")]))
}

/// A font of this encoding and collection, with codes of two bytes.
fn wide_font(encoding: &str, ordering: &str, more: &str) -> String {
    format!(
        "/Font<</F<</Type/Font/Subtype/Type0/BaseFont/Any/Encoding/{encoding}{more}/DescendantFonts[\
         <</Type/Font/Subtype/CIDFontType0/BaseFont/Any/CIDSystemInfo<</Registry(Adobe)\
         /Ordering({ordering})/Supplement 2>>/DW 1000/FontDescriptor<</Type/FontDescriptor\
         /FontName/Any/Flags 4>>>>]>>>>"
    )
}

#[test]
fn a_file_that_begins_as_another_form_is_no_pdf() {
    assert!(is_pdf(b"%PDF-1.7\n") && is_pdf(b"\n\n%PDF-1.4\n"));
    for other in [b"PK\x03\x04", b"{\\rtf".as_slice(), COMPOUND] {
        assert!(!is_pdf(&[other, b" how %PDF-1.7 begins"].concat()), "{other:?}");
    }
}

#[test]
fn numbers_are_shown_as_ranges() {
    assert_eq!(ranges(&[2, 5, 6, 7, 12].into()), "2, 5-7, 12");
    assert_eq!(ranges(&[1, 2].into()), "1-2");
}

#[test]
fn the_letters_of_a_scan_are_its_text_and_a_logo_makes_no_page_an_image() {
    let scan = "q 600 0 0 800 0 0 cm /I Do Q BT 3 Tr /F 12 Tf 50 700 Td (OCR text) Tj ET";
    let read = with_image(scan).unwrap();
    assert_eq!((read.text.trim(), read.hidden), ("OCR text", 0));
    let logo = "q 60 0 0 60 500 700 cm /I Do Q BT /F 12 Tf 50 700 Td (written text) Tj ET";
    let read = with_image(logo).unwrap();
    assert_eq!((read.text.trim(), read.missing), ("written text", None));
    let why = with_image("q 600 0 0 800 0 0 cm /I Do Q").unwrap_err();
    assert_eq!(why, "it is a scan: its pages are images, without text; recognize it (OCR) first");
}

#[test]
fn fonts_of_public_collections_need_no_table_of_letters() {
    for (encoding, ordering, codes, expected) in [
        ("90ms-RKSJ-H", "Japan1", "90cc82cc8a7790b6", "\u{6614}\u{306e}\u{5b66}\u{751f}"),
        ("GBK-EUC-H", "GB1", "cdbccae9b9dd", "\u{56fe}\u{4e66}\u{9986}"),
        ("Identity-H", "Japan1", "034b034d034f", "\u{3042}\u{3044}\u{3046}"),
        ("KSCms-UHC-H", "Korea1", "b5b5bcad", "\u{b3c4}\u{c11c}"),
    ] {
        let content = format!("BT /F 12 Tf 50 700 Td <{codes}> Tj ET");
        let read = extract(&pdf(&wide_font(encoding, ordering, ""), &content, "", &[])).unwrap();
        assert_eq!(read.text.trim(), expected, "{encoding}");
    }
}

#[test]
fn a_text_beside_the_glyphs_counts_where_a_font_identifies_no_letters() {
    let read = |font: &str, content: &str| {
        let content = format!("BT /F 12 Tf 50 700 Td {content} ET");
        extract(&pdf(font, &content, "", &[])).map(|read| read.text.trim().to_owned())
    };
    let font = wide_font("Identity-H", "Identity", "");
    let span = |text: &str, codes: &str| format!("/Span<</ActualText {text}>>BDC <{codes}> Tj EMC");
    let (utf16, codes) = ("<feff006300610066 00e9>", "0026002400280044");
    let two = format!("{} {}", span(utf16, codes), span("( bar)", "00030025"));
    assert_eq!(read(&font, &two).unwrap(), "caf\u{e9} bar");
    // Readable glyphs count more than the text, and one glyph has no long text.
    assert_eq!(read(HELVETICA, &span("(other)", "73656e")).unwrap(), "sen");
    assert!(read(&font, &span("(a longer text)", "0026")).is_err());
}

#[test]
fn glyphs_without_known_letters_are_no_text() {
    let content = "BT /F 12 Tf 50 700 Td <002b0048004f004f0052> Tj ET";
    let font = wide_font("Identity-H", "Identity", "");
    let why = extract(&pdf(&font, content, "", &[])).unwrap_err();
    assert!(why.starts_with("its fonts do not say which letters they have"), "{why}");
    // A document is read if at least one page has readable text.
    let page = |font: &str, content: u8| {
        format!(
            "<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Resources<<{font}>>/Contents {content} 0 R>>"
        )
    };
    let objects = [
        "<</Type/Catalog/Pages 2 0 R>>".to_owned(),
        "<</Type/Pages/Kids[3 0 R 4 0 R]/Count 3>>".to_owned(),
        page(HELVETICA, 5),
        page(&font, 6),
        stream("", "BT /F 12 Tf 50 700 Td (readable) Tj ET"),
        stream("", content),
    ];
    let read = extract(&file(&objects, "")).unwrap();
    assert_eq!(read.text.trim(), "readable");
    assert_eq!(
        read.missing.unwrap(),
        "page 2 of 2 has fonts that do not say which letters they have, 1 of 3 pages cannot be \
         found, and missing"
    );
}

#[test]
fn fonts_of_drawings_name_their_letters_by_numbers() {
    let font = |name: char| {
        format!(
            "/Font<</F<</Type/Font/Subtype/Type3/FontBBox[0 0 10 10]/FontMatrix[.1 0 0 .1 0 0]\
             /FirstChar 11/LastChar 100/Widths[{}]/CharProcs<</{name}97 5 0 R>>/Encoding<<\
             /Differences[12/{name}12 97/{name}97/{name}98/{name}99]>>>>>>",
            "6 ".repeat(90)
        )
    };
    let others = [stream("", "6 0 0 0 5 5 d1 0 0 5 5 re f")];
    let content = "BT /F 10 Tf 50 700 Td (abc\\014b) Tj ET";
    let read = extract(&pdf(&font('a'), content, "", &others)).unwrap();
    assert_eq!(read.text.trim(), "abcfib");
    // These numbers are glyph numbers, not character codes.
    assert!(extract(&pdf(&font('g'), content, "", &others)).is_err());
}

#[test]
fn filled_in_fields_are_read() {
    let field = |more: &str| {
        let value = "FEFF01410075006B00610073007A";
        format!(
            "/Annots[<</Type/Annot/Subtype/Widget/FT/Tx/Rect[50 600 300 620]/V<{value}>{more}>>]"
        )
    };
    let content = "BT /F 12 Tf 50 700 Td (Name:) Tj ET";
    let read = |more: &str| extract(&pdf(HELVETICA, content, &field(more), &[])).unwrap().text;
    assert_eq!(read("").split_whitespace().collect::<Vec<_>>(), ["Name:", "\u{141}ukasz"]);
    assert_eq!(read("/F 2").trim(), "Name:");
}

#[test]
fn columns_are_read_one_after_the_other() {
    let column = |x: u32, name: &str| {
        let lines = (0..9).map(|n| format!("({name}{n} has words of its own) Tj T* "));
        format!("1 0 0 1 {x} 700 Tm {}", lines.collect::<String>())
    };
    // Some programs write columns row by row.
    let rows = (0..9).map(|n| {
        let y = 700 - 14 * n;
        let cell =
            |x: u32, name: &str| format!("1 0 0 1 {x} {y} Tm ({name}{n} has words of its own) Tj ");
        cell(50, "a") + &cell(220, "b") + &cell(390, "c")
    });
    let title =
        "1 0 0 1 50 740 Tm (A title that goes through all of the columns as titles often do) Tj ";
    let one = format!(
        "BT /F 10 Tf 14 TL {title}{}{}{} ET",
        column(50, "a"),
        column(220, "b"),
        column(390, "c")
    );
    let other = format!("BT /F 10 Tf {title}{} ET", rows.collect::<String>());
    for content in [one, other] {
        let text = text(&content).text;
        let first: Vec<&str> = text.lines().filter(|line| !line.is_empty()).collect();
        let expected = ["a", "b", "c"]
            .iter()
            .flat_map(|name| (0..9).map(move |n| format!("{name}{n} has words of its own")));
        assert_eq!(first[1..], expected.collect::<Vec<_>>(), "{text}");
        assert!(first[0].starts_with("A title"));
    }
}

#[test]
fn narrow_columns_of_sentences_are_columns_and_those_of_cells_are_not() {
    let drawn = |columns: [&[&str]; 2]| {
        let column = |x: u32, lines: &[&str]| {
            let lines: String = lines.iter().map(|line| format!("({line}) Tj T* ")).collect();
            format!("1 0 0 1 {x} 700 Tm {lines}")
        };
        let content = column(50, columns[0]) + &column(124, columns[1]);
        text(&format!("BT /F 10 Tf 12 TL {content} ET")).text
    };
    let first =
        ["The harbour", "of the town", "was built by", "many hands", "in one year", "and now it"];
    let second =
        ["lies empty.", "Ships that", "came to it", "are sold or", "broken up", "for wood."];
    let read = drawn([&first, &second]);
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(words(&read), words(&[first, second].concat().join(" ")), "{read}");
    let cells = ["ice", "cold water", "at sea", "salt", "old", "tide tables"];
    let read = drawn([&cells, &["ebb and flow", "no", "gales", "a buoy", "by oar", "none"]]);
    assert!(read.starts_with("ice\tebb and flow\ncold water\tno\n"), "{read}");
}

#[test]
fn a_table_is_read_row_by_row() {
    let rows = (0..9).map(|n| {
        let y = 700 - 14 * n;
        format!("1 0 0 1 50 {y} Tm (n{n}) Tj 1 0 0 1 220 {y} Tm ({n}.5) Tj ")
    });
    let text = text(&format!("BT /F 10 Tf {} ET", rows.collect::<String>())).text;
    assert!(text.starts_with("n0\t0.5\nn1\t1.5\n"), "{text}");
}

#[test]
fn spaced_letters_are_words() {
    check("BT /F 12 Tf 4 Tc 50 700 Td (spaced letters of words) Tj ET", "spaced letters of words");
    check(
        "BT /F 12 Tf 50 700 Td [(two)-400(words)-20( and )15(k)30(erning)] TJ ET",
        "two words and kerning",
    );
    // Without a space, but with a gap.
    let tight =
        "BT /F 12 Tf 50 700 Td [(s)-300(p)-300(a)-300(c)-300(e)-300(d)-900(o)-300(u)-300(t)] TJ ET";
    check(tight, "spaced out");
}

#[test]
fn letters_drawn_twice_are_read_once() {
    let twice = |offset: &str| {
        format!("BT /F 12 Tf 50 700 Td (bold llama) Tj {offset} Td (bold llama) Tj ET")
    };
    check(&twice("0 0"), "bold llama");
    check(&twice("0.4 0"), "bold llama");
    check(&twice("0 -14"), "bold llama bold llama");
    // Each letter is drawn twice, with the same offset.
    let letters = "till it is read".char_indices().map(|(at, letter)| {
        let x = 50.0 + 6.6 * at as f64;
        format!("1 0 0 1 {x} 700 Tm ({letter}) Tj 1 0 0 1 {} 700 Tm ({letter}) Tj ", x + 0.3)
    });
    check(&format!("BT /F 12 Tf {} ET", letters.collect::<String>()), "till it is read");
}

#[test]
fn invisible_letters_are_counted_and_not_read() {
    let hidden = |content: &str| {
        let read = text(&format!("BT /F 12 Tf 50 700 Td (visible text) Tj ET {content}"));
        (read.text.trim().to_owned(), read.hidden)
    };
    let seen = |more: &str| (format!("visible text{more}"), 0);
    let unseen = |count| ("visible text".to_owned(), count);
    assert_eq!(hidden("BT 1 g /F 12 Tf 50 600 Td (not this) Tj ET"), unseen(7));
    assert_eq!(hidden("BT /F 1 Tf 50 600 Td (nor this) Tj ET"), unseen(7));
    assert_eq!(hidden("BT 3 Tr /F 12 Tf 50 600 Td (nor this) Tj ET"), unseen(7));
    assert_eq!(hidden("BT /F 12 Tf 50 900 Td (nor this) Tj ET"), unseen(7));
    let covered = "BT /F 12 Tf 50 600 Td (nor this) Tj ET 1 g 0 590 600 40 re f";
    assert_eq!(hidden(covered), unseen(7));
    let cut = "q 0 0 10 10 re W n BT /F 12 Tf 50 600 Td (nor this) Tj ET Q";
    assert_eq!(hidden(cut), unseen(7));
    let light = "0 g 0 590 600 40 re f BT 1 g /F 12 Tf 50 600 Td (light on dark) Tj ET";
    assert_eq!(hidden(light), seen("\n\nlight on dark"));
    // Invisible letters within a word do not split the word.
    let within =
        "BT /F 12 Tf 50 700 Td (sl) Tj 1 g /F 1 Tf (qq) Tj 0 g /F 12 Tf (ow and more) Tj ET";
    let read = text(within);
    assert_eq!((read.text.trim(), read.hidden), ("slow and more", 2));
}

#[test]
fn all_letters_of_a_page_may_be_small_or_undrawn() {
    assert_eq!(
        text("BT /F 1 Tf 50 600 Td (a plan of a house) Tj ET").text.trim(),
        "a plan of a house"
    );
    assert_eq!(text("BT 3 Tr /F 9 Tf 50 600 Td (a layer) Tj ET").text.trim(), "a layer");
}

#[test]
fn letters_from_the_right_to_the_left_are_turned_back() {
    let order = |line: &str| {
        let pieces = line.char_indices().map(|(at, c)| &line[at..at + c.len_utf8()]);
        bidi::read_order(pieces.collect()).concat()
    };
    assert_eq!(order("1948 \u{5d2}\u{5d1}\u{5d0}"), "\u{5d0}\u{5d1}\u{5d2} 1948");
    assert_eq!(order("see \u{5d2}\u{5d1} here"), "see \u{5d1}\u{5d2} here");
    assert_eq!(order("plain 12"), "plain 12");
}

#[test]
fn a_password_is_the_reason_and_damage_another() {
    let word = "00".repeat(32);
    let entry =
        format!("/Encrypt<</Filter/Standard/V 1/R 2/O<{word}>/U<{word}>/P -4>>/ID[<00><00>]");
    let objects =
        ["<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Kids[]/Count 0>>"].map(String::from);
    assert_eq!(
        extract(&file(&objects, &entry)).unwrap_err(),
        "it is encrypted; remove the password"
    );
    assert_eq!(extract(b"%PDF-1.4\n1 0 obj\n").unwrap_err(), "it is damaged or no PDF");
    assert!(extract(&file(&objects, "")).unwrap_err().starts_with("it is damaged"));
}

#[test]
fn a_courier_font_is_read_as_it_stands() {
    let read =
        extract(&pdf(COURIER, "BT /F 10 Tf 50 700 Td (let x = 10;) Tj ET", "", &[])).unwrap();
    assert_eq!(read.text.trim(), "let x = 10;");
}

#[test]
fn a_word_over_two_lines_is_one() {
    let lines = |first: &str, second: &str| {
        format!("BT /F 10 Tf 50 700 Td ({first}) Tj 0 -12 Td ({second}) Tj ET")
    };
    check(&lines("the eld-", "ers of the place"), "the elders of the place");
    check(&lines("CONSTAN-", "TINOPLE"), "CONSTANTINOPLE");
    check(&lines("the Anglo-", "Saxon"), "the Anglo- Saxon");
    check(&lines("the north-western", "wind"), "the north-western wind");
}

#[test]
fn raised_marks_of_notes_are_no_text_and_powers_are() {
    let raised = |word: &str, mark: &str, after: &str| {
        format!(
            "BT /F 10 Tf 50 700 Td ({word}) Tj /F 6 Tf 4 Ts ({mark}) Tj /F 10 Tf 0 Ts ({after}) Tj \
             ET"
        )
    };
    check(&raised("the stable", "12", " left"), "the stable left");
    check(&raised("the stable.", "*", " It left"), "the stable. It left");
    check(&raised("the 2", "nd", " time"), "the 2nd time");
    check(&raised("some 10", "3", " cows"), "some 103 cows");
    check(&raised("x", "2", " of it"), "x2 of it");
}
