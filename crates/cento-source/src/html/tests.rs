//! Tests of the text of web pages.

use super::*;
use crate::charset::{self, EncodingLabel};
use proptest::prelude::*;

pub fn shown(page: &[u8], encoding: Option<&str>, html: Html) -> String {
    text_of(page, EncodingLabel::of(encoding, None), html).unwrap().0
}

/// Collapses white space, because only words are compared.
pub fn collapsed(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Enough text for the content of a page.
pub const PARAGRAPHS: &str = "<p>The register was kept by the clerk of the harbour until the \
    office was closed, and it lists every vessel that paid dues at the quay.</p>\n<p>The entries \
    are in the hand of a single clerk, whose spelling of the names of foreign ports is his \
    own.</p>";

/// Fragments of pages. Some fragments confuse tokenizers.
const PIECES: &[&str] = &[
    "<p>",
    "</p>",
    "<b>",
    "</b>",
    "<pre>",
    "</pre>",
    "<title>",
    "</title>",
    "<xmp>",
    "</xmp>",
    "<textarea>",
    "</textarea>",
    "<script>",
    "</script>",
    "<svg>",
    "</svg>",
    "<br/>",
    "</>",
    "<!-- c -->",
    "<!doctype html>",
    "<a href='&amp;x'>",
    "<",
    "</",
    "<3",
    "words of",
    "\u{416}\u{1f600}",
    " ",
    "  ",
    "\n",
    "\r\n",
    "\r",
    "\0",
    "&amp;",
    "&amp",
    "&notit;",
    "&nbsp;",
    "&nGt;",
    "&semi;",
    "&#x35",
    "&#233;",
    "&#0;",
    "&",
    "&x;",
    "]]>",
];

fn check_origins(page: &str) -> Result<(), TestCaseError> {
    for html in [Html::Content, Html::All] {
        let (text, origins, _) =
            text_of(page.as_bytes(), EncodingLabel::Named("utf-8"), html).unwrap();
        let page = &*charset::decode(page.as_bytes(), Some("utf-8")).text;
        let (mut in_text, mut in_page) = (0, 0);
        for (at, from, is_same) in origins.unwrap().runs() {
            prop_assert!(in_text <= at.start && in_page <= from.start, "{at:?} {from:?}");
            // Text outside the runs was made in extracting.
            prop_assert_eq!(text[in_text..at.start].trim(), "", "{:?}", &text);
            (in_text, in_page) = (at.end, from.end);
            let (text, source) = (&text[at], &page[from]);
            match is_same {
                true => prop_assert_eq!(text, source),
                false => {
                    let decoded = source.replace('\0', "\u{fffd}");
                    prop_assert_eq!(text, collapsed(&decoded_text(&decoded)));
                }
            }
        }
        prop_assert_eq!(text[in_text..].trim(), "", "{:?}", &text);
    }
    Ok(())
}

/// Returns the tokenizer's result for a text without tags.
fn decoded_text(text: &str) -> String {
    let parts = text.split_inclusive("</>").map(|part| part.trim_end_matches("</>"));
    parts.map(decoded).collect()
}

proptest! {
    #[test]
    fn every_run_of_the_text_has_its_place_in_the_page(
        pieces in proptest::collection::vec(0..PIECES.len(), 0..24)
    ) {
        check_origins(&pieces.iter().map(|&at| PIECES[at]).collect::<String>())?;
    }

    #[test]
    fn runs_are_right_whatever_the_page_is(page in "[a-c<>/&;#x \r\n\u{e9}-]{0,40}") {
        check_origins(&page)?;
    }
}

#[test]
fn raw_text_has_no_references_and_no_tags() {
    // Raw text was decoded like other text: references were decoded and CR was dropped.
    check_origins("<xmp></>&amp;\r").unwrap();
    check_origins("<title></>&amp;").unwrap();
    assert_eq!(shown(b"<xmp></>&amp;\r", None, Html::All), "</>&amp;");
}

#[test]
fn references_are_runs_of_their_own() {
    let page = "<p>caf&eacute;\tau   lait &amp\r\n&ampc</p>";
    let (text, origins, _) = text_of(page.as_bytes(), EncodingLabel::Missing, Html::All).unwrap();
    assert_eq!(text, "caf\u{e9} au lait & &c");
    let found: Vec<(&str, &str)> =
        origins.unwrap().runs().into_iter().map(|(at, from, _)| (&text[at], &page[from])).collect();
    let expected = [
        ("caf", "caf"),
        ("\u{e9}", "&eacute;"),
        ("au ", "au "),
        ("lait ", "lait "),
        ("&", "&amp"),
        ("&", "&amp"),
        ("c", "c"),
    ];
    assert_eq!(found, expected);
}

#[test]
fn the_body_of_a_short_page_is_read_whatever_its_title_is() {
    // The title alone was the content.
    let title = "<title>Northport Harbour Office, public notices of the board</title>";
    let page = |body: &str| format!("<html><head>{title}</head><body>{body}</body></html>");
    for (body, text) in [
        ("<p>Pilots wanted for the winter.</p>", "Pilots wanted for the winter."),
        ("<p>Closed.", "Closed."),
        ("<table><tr><td>Closed<td>today</table>", "Closed\ntoday"),
        ("<nav>Closed today</nav>", "Closed today"),
        ("<a href=x>Closed</a>", "Closed"),
    ] {
        let read = shown(page(body).as_bytes(), None, Html::Content);
        assert!(read.ends_with(text), "{body}: {read}");
    }
}

#[test]
fn a_page_without_a_body_has_its_title() {
    let page = "<!DOCTYPE html><html><head><meta charset=utf-8><title>A title</title>\
                <link rel=x></head><body><div><img src=x></div></body></html>";
    assert_eq!(shown(page.as_bytes(), None, Html::Content), "A title");
    assert_eq!(shown(b"<title>One</title>", None, Html::Content), "One");
}

#[test]
fn hidden_elements_end_where_they_end() {
    let check = |page: &str, expected: &str| {
        assert_eq!(shown(page.as_bytes(), None, Html::All), expected, "{page}");
    };
    check("<p>a<svg><svg>x</svg>y</svg>b", "ab");
    check("<template>x<p>y</template>z", "z");
    check("<svg/>a</svg>b<!-- c -->d", "abd");
    check("<p></p>", "");
    // The number of a note is not part of a word.
    check("a word<sup><a href=x>1</a></sup>, word<a><sup>2</sup></a>", "a word, word");
    check("the 1<sup>st</sup> x<sup>2</sup><a>b</a>", "the 1st x2b");
    check("a</script>b", "ab");
    // The text of a drawing is text.
    let text =
        "<style>x</style><defs>y</defs><text><tspan x=0>one</tspan><tspan dy=9>two</tspan></text>";
    check(
        &format!("<p>a</p><svg><title>z</title>{text}<text>three</text></svg>b"),
        "a\none\ntwo\nthree\nb",
    );
    check("<svg><foreignObject><p>a</p></foreignObject><desc>x</desc></svg>b", "a\nb");
}

#[test]
fn marks_of_notes_are_not_in_the_sentence_and_powers_are() {
    let check = |page: &str, expected: &str| {
        assert_eq!(shown(page.as_bytes(), None, Html::All), expected, "{page}");
    };
    for mark in [
        "<sup>1</sup>",
        "<sup>12</sup>",
        "<sup>*</sup>",
        "<sup>1,2</sup>",
        "<sup>[3]</sup>",
        "<sup><a href=#n>[a]</a></sup>",
        "<sup>[<a href=#n>3</a>]</sup>",
        "<a href=#n><sup>1</sup></a>",
        "<sup><a href=#n>&dagger;</a></sup>",
        "<a epub:type=noteref href=#n>1</a>",
        "<a role=doc-noteref class='x' href=#n>[1]</a>",
        "<a class='a noteref' href=#n>*</a>",
    ] {
        check(&format!("<p>the stable{mark} left</p>"), "the stable left");
        check(&format!("<p>the <b>stable</b>.{mark} It left.{mark}</p>"), "the stable. It left.");
    }
    for text in [
        "10<sup>3</sup>",
        "2<sup>nd</sup>",
        "M<sup>r</sup>",
        "m<sup>2</sup>",
        "km<sup>2</sup>",
        "x<sup>2</sup>",
        "mol<sup>-1</sup>",
        "C<sup>*</sup>",
        "a <sup>14</sup>C test",
    ] {
        check(text, &text.replace("<sup>", "").replace("</sup>", ""));
    }
    check("H<sub>2</sub>O", "H2O");
    // Numbers of verses count up.
    let verses =
        "<p><sup>1</sup>In the end <sup>2</sup>he saw; <sup>3</sup>and <sup>4</sup>I left.";
    check(verses, "In the end he saw; and I left.");
    check("<p><sup>14</sup>C, <sup>12</sup>C and <sup>40</sup>Ar", "14C, 12C and 40Ar");
}

#[test]
fn declared_numbers_of_lines_are_no_text() {
    let check = |page: &str, expected: &str| {
        assert_eq!(shown(page.as_bytes(), None, Html::All), expected, "{page}");
    };
    for class in ["line-number", "lineno", "verse_num", "x LineNumber"] {
        let number = |of: &str| format!("<span class='{class}'>{of}</span>");
        let page = format!(
            "<p>{}In the{}end he<br>{} saw",
            number("5"),
            number("<b>[6]</b>"),
            number("7")
        );
        check(&page, "In the end he\nsaw");
        check(&format!("<p>a {} b", number("see 7")), "a see 7 b");
    }
    check("<p><span class=line><span class=lineno>1</span>a <b>2</b></span>", "a 2");
    check("<p>in <span class=year>1822</span> a", "in 1822 a");
    for page in ["epub:type=pagebreak", "role='doc-pagebreak'"] {
        check(&format!("<p>in the <span {page} id=p7>7</span>end"), "in the end");
    }
}

#[test]
fn blocks_that_are_hidden_are_counted_wherever_they_are() {
    let block = "<p>not <b>here</b></p>";
    for style in [
        "display:none",
        "visibility:hidden",
        "opacity:0",
        "opacity:0.01",
        "font-size:1px",
        "font-size:.5pt",
        "position:absolute;left:-9999px",
        "text-indent:-9999px",
        "height:0;overflow:hidden",
        "max-height:0px;overflow:hidden",
        "clip:rect(0,0,0,0);position:absolute",
        "clip-path:inset(50%)",
        "transform:scale(0)",
        "color:white;background:white",
    ] {
        for (page, html) in [
            (format!("{PARAGRAPHS}<div style='{style}'>{block}</div>"), Html::Content),
            (format!("<div style='{style}'>{block}</div>{PARAGRAPHS}"), Html::All),
        ] {
            let (text, _, hidden) = text_of_page(&page, html);
            assert_eq!((hidden, text.contains("here")), (7, false), "{style}");
        }
    }
    for style in ["opacity:0.9", "font-size:80%", "font-size:8pt", "height:0", "text-indent:-2em"] {
        let (text, _, hidden) = text_of_page(&format!("<p style='{style}'>here"), Html::All);
        assert_eq!((hidden, &*text), (0, "here"), "{style}");
    }
    let data = |body: &str| {
        format!("<script type=application/ld+json>{{\"articleBody\": \"{body}\"}}</script>")
    };
    let (_, _, hidden) =
        text_of_page(&format!("{}<p>Read on.", data("one two three")), Html::Content);
    assert_eq!(hidden, 11);
    let (_, _, hidden) = text_of_page(&format!("{}{PARAGRAPHS}", data("one two")), Html::Content);
    assert_eq!(hidden, 0);
}

#[test]
fn the_inside_of_a_component_is_text_and_a_template_is_not() {
    let page = |mode: &str| format!("<p>one</p><x-y><template{mode}><p>two</template></x-y>");
    let text = |mode: &str| shown(page(mode).as_bytes(), None, Html::All);
    assert_eq!(text(" shadowrootmode=open"), "one\ntwo");
    assert_eq!(text(""), "one");
}

#[test]
fn a_page_with_less_text_than_its_templates_or_its_data_hides_text() {
    let hidden = |page: &str| text_of_page(page, Html::Content).2;
    let template = |words: &str| format!("<p>one</p><template id='x'><p>{words}</p></template>");
    assert_eq!(hidden(&template("two three")), 8);
    assert_eq!(hidden(&template("two")), 0);
    // A row that a script copies.
    assert_eq!(hidden(&format!("{PARAGRAPHS}{}", template("two three"))), 0);
    let state = |body: &str| format!("<p>one</p><script>{{\"a\":{{\"body\" : {body}}}}}</script>");
    assert_eq!(hidden(&state("\"<p>two\\nthree\"")), 11);
    assert_eq!(hidden(&state("{\"x\": \"two three\"}")), 0);
}

#[test]
fn notes_within_a_sentence_follow_the_paragraph() {
    let check = |page: &str, expected: &str| {
        let (text, origins, _) = text_of_page(page, Html::All);
        assert_eq!(text, expected, "{page}");
        origins.unwrap()
    };
    for class in ["footnote", "sidenote small", "margin-note", "ltx_note ltx_role_footnote"] {
        let page = format!(
            "<p>The gate<sup>1</sup><span class='{class}'>A <b>note</b>.</span> was <i>x</i> built.\
             <p>So<span class={class:?}>two</span>."
        );
        check(&page, "The gate was x built.\nA note.\nSo.\ntwo");
    }
    check("<p>The gate<span class='footnote'>1</span> was", "The gate1 was");
    check("<p>The gate</p><div class='footnote'>A note.</div><p>was", "The gate\nA note.\nwas");
    let page = "<p>The <span class=sidenote>note</span> gate</p>";
    let origins = check(page, "The gate\nnote");
    // A passage over the sentence and its note.
    let place = origins.of((0, 13)).unwrap();
    assert_eq!(&page[place.start as usize..place.end as usize], &page[3..page.len() - 4]);
    let place = origins.of((4, 13)).unwrap();
    assert!(place.start < place.end);
}

#[test]
fn white_words_on_a_page_without_backgrounds_are_hidden() {
    let page = |tag: &str| format!("<p>one <{tag}>not <b>this</b></{tag}> two");
    let check = |page: &str, expected: (&str, usize)| {
        let (text, _, hidden) = text_of_page(page, Html::All);
        assert_eq!((&*text, hidden), expected, "{page}");
    };
    for tag in [
        "span style='color: #FFF'",
        "span style='color:white'",
        "span style='color:#fefefe'",
        "span style='color:rgb(255, 255, 255)'",
        "font color=white",
        "font color='#FFFFFF'",
    ] {
        let name = tag.split(' ').next().unwrap();
        let page = page(tag).replace(&format!("</{tag}>"), &format!("</{name}>"));
        check(&page, ("one two", 7));
        for sheet in ["<style>p{background:#000}</style>", "<link rel=stylesheet href=x>"] {
            check(&format!("{sheet}{page}"), ("one not this two", 0));
        }
    }
    check("<p>a <font color=white>b <i style='color:red'>c</i></font> d", ("a c d", 1));
    check("<p>a <span style='color:#eee'>b</span>", ("a b", 0));
}

#[test]
fn a_mark_after_a_short_word_continues_the_count() {
    let page = "<p>the wall<sup>1</sup> by a<sup>2</sup> house<sup>3</sup> of 5 m<sup>2</sup>";
    assert_eq!(shown(page.as_bytes(), None, Html::All), "the wall by a house of 5 m2");
}

#[test]
fn an_empty_title_of_a_drawing_does_not_swallow_the_page() {
    let page = "<p>a <svg><title/><style /></svg>b<svg><title>no</title></svg> <title/>c</title>d";
    assert_eq!(shown(page.as_bytes(), None, Html::All), "a b\nc\nd");
    check_origins(page).unwrap();
}

#[test]
fn text_after_a_hidden_drawing_is_read() {
    // The drawing never ended, so the rest of the page had no text.
    let page = "<svg style='display:none'><symbol><path d='M0'/></symbol></svg><p>some words</p>";
    assert_eq!(shown(page.as_bytes(), None, Html::All), "some words");
}

#[test]
fn text_that_says_it_is_not_displayed_is_counted_and_left_out() {
    let check = |page: &str, expected: &str, hidden: usize| {
        let (text, _, found) = text_of(page.as_bytes(), EncodingLabel::Missing, Html::All).unwrap();
        assert_eq!((&*text, found), (expected, hidden), "{page}");
    };
    for attribute in [
        "hidden",
        "style='display: none'",
        "style='color:red; VISIBILITY:hidden !important'",
        "style=font-size:0",
        "style='font-size:1px'",
        "style='color:#fff;background-color:#FFF'",
        "style='opacity:0'",
    ] {
        check(&format!("<p>se<span {attribute}>not <b>here</b></span>en</p>"), "seen", 7);
    }
    check("<p>se<span style='color:#fff;background:#000'>e</span>n</p>", "seen", 0);
    // Elements end without end tags.
    check("<div><p hidden>no<p>a</div><p>b", "a\nb", 2);
    check("<ul><li hidden>no<ul><li>no</ul><li>a</ul>b", "a\nb", 4);
    check("<div><p hidden>no</div>a", "a", 2);
    check("<p>a<input hidden>b<br hidden>c", "a\nb\nc", 0);
    check("<div hidden><p>no<p>no</div>a<dialog>no</dialog>", "a", 6);
    // A script reveals the page.
    check("<body style='display:none'><p>a</p>", "a", 0);
    check("<body><div style='display:none'><p>a</p></div>", "a", 0);
}

#[test]
fn a_page_may_declare_its_encoding() {
    let page = b"<html><meta http-equiv=Content-Type content='text/html; charset=windows-1251'>\
                 <p>\xcf\xf0\xe8\xe2\xe5\xf2";
    let greeting = "\u{41f}\u{440}\u{438}\u{432}\u{435}\u{442}";
    assert_eq!(shown(page, None, Html::All), greeting);
    let page = b"<html><!-- charset first, of no=1 --><script charset='none'></script>\
                 <meta charset=windows-1251><p>\xcf\xf0\xe8\xe2\xe5\xf2";
    assert_eq!(shown(page, None, Html::All), greeting);
    assert_eq!(
        shown(page, Some("windows-1252"), Html::All),
        "\u{cf}\u{f0}\u{e8}\u{e2}\u{e5}\u{f2}"
    );
    let page = b"<?xml version='1.0' encoding='IBM850'?><html><p>f\x81hrt</p></html>";
    assert_eq!(shown(page, None, Html::All), "f\u{fc}hrt");
    let page = b"<?xml version='1.0' encoding='IBM1047'?><html><p>f\x81hrt</p></html>";
    let why = text_of(page, EncodingLabel::Missing, Html::All).unwrap_err();
    assert!(why.contains("`IBM1047`"), "{why}");
    assert_eq!(shown(page, Some("cp850"), Html::All), "f\u{fc}hrt");
    let page = "<?xml version='1.0' encoding='IBM1047'?><html><p>f\u{fc}hrt</p></html>";
    assert_eq!(shown(page.as_bytes(), None, Html::All), "f\u{fc}hrt");
    let dense = "\u{543e}\u{8f29}\u{306f}\u{732b}\u{3067}\u{3042}\u{308b}";
    let page = format!("<a>x</a><a>y</a><p>{dense}</p><a>z</a>");
    assert_eq!(shown(page.as_bytes(), None, Html::Content), dense);
}

/// Returns the whole text of a body, and the number of characters that a reader does not see.
fn all_of(body: &str) -> (String, usize) {
    let (text, _, hidden) = text_of_page(&format!("<body>{body}"), Html::All);
    (text, hidden)
}

#[test]
fn an_element_can_be_visible_again_within_a_hidden_one() {
    // MJML writes mails like this, and pages close the gaps between inline blocks like this.
    for (body, text, hidden) in [
        ("<td style='font-size:0px'><div style='font-size:13px'>seen</div> gap</td>", "seen", 3),
        (
            "<p style='font-size:0'>a<b style='font-size:2em'>b</b><b style='font-size:1rem'>c</b>",
            "c",
            2,
        ),
        ("<p style='visibility:hidden'>a<b style='visibility:visible'>b</b>c</p>d", "b\nd", 2),
        ("<p style='visibility:hidden'>a<b style='font-size:13px'>b</b>c</p>d", "d", 3),
        (
            "<p style='display:none'>a<b style='display:inline;visibility:visible'>b</b></p>c",
            "c",
            2,
        ),
        ("<p style='font-size:0'>a<b style='font-size:9px;display:none'>b</b>c</p>d", "d", 3),
        ("<p style='font-size:0'><b style='font-size:9px'>a<script>b</script></b></p>", "a", 0),
    ] {
        assert_eq!(all_of(body), (text.to_owned(), hidden), "{body}");
    }
}

#[test]
fn readings_and_sources_of_formulas_are_no_text() {
    for (body, text) in [
        ("<p>a<ruby>b<rp>(</rp><rt>c</rt><rp>)</rp></ruby>d</p>", "abd"),
        ("<p><ruby>b<rt>c<rb>d<rt>e</ruby>f <ruby>g<rtc><rt>h</rt></rtc></ruby>i</p>", "bdf gi"),
        ("<p>x <ruby>b<rt>c</p><p>d</p>", "x b\nd"),
        (
            "<p>So <math><semantics><mrow><mi>x</mi><mo>=</mo><mn>1</mn></mrow>\
             <annotation-xml><ci>y</ci></annotation-xml><annotation>z</annotation></semantics>\
             </math> holds",
            "So x=1 holds",
        ),
    ] {
        assert_eq!(all_of(body), (text.to_owned(), 0), "{body}");
    }
}

#[test]
fn parts_of_a_word_are_joined_whatever_their_element_is() {
    for name in
        ["em", "ins", "del", "var", "strike", "nobr", "time", "label", "bdo", "output", "emph"]
    {
        assert_eq!(all_of(&format!("ope<{name}>ne</{name}>d")).0, "opened", "{name}");
    }
    for name in ["div", "p", "li", "x-card", "figure", "button"] {
        assert_eq!(all_of(&format!("a<{name}>b</{name}>c")).0, "a\nb\nc", "{name}");
    }
    let drawing = "<svg><text>harb<tspan class=b>ours</tspan><tspan x=1>next</tspan></text></svg>";
    assert_eq!(all_of(drawing).0, "harbours\nnext");
}

#[test]
fn links_to_notes_and_numbers_raised_by_styles_are_marks() {
    for (body, text) in [
        ("built<a href='#_ftn1'><span><span>[1]</span></span></a> in spring", "built in spring"),
        ("built<a href='#fn:2'>2</a>, and", "built, and"),
        ("built<a href='#sdfootnote3sym'>3</a>", "built"),
        ("<p><a href='#sdfootnote1anc'>1</a>See Smith", "See Smith"),
        ("<p><a href='#_ftnref1'>[1]</a> See Smith", "See Smith"),
        ("built<span style='vertical-align: super; font-size:9px'>12</span> in", "built in"),
        (
            "built<span style='position:relative;top:-4pt;mso-text-raise:4.0pt'>2</span> in",
            "built in",
        ),
        ("built<span style='Vertical-Align: 30% !important'>2</span> in", "built in"),
        ("built<span style='vertical-align:-2px'>2</span> in", "built2 in"),
        ("see note <a href='#note2'>2</a> below", "see note 2 below"),
        ("in <a href='#fn1'>the first note</a>", "in the first note"),
        ("10<span style='vertical-align:super'>3</span> m", "103 m"),
        ("<p><a href='#section2'>2</a>nd", "2nd"),
    ] {
        assert_eq!(all_of(body).0, text, "{body}");
    }
}

#[test]
fn links_to_notes_in_brackets_and_rules_that_raise_make_marks() {
    for (page, expected) in [
        ("gate<a href='#n1'>[1]</a> was", "gate was"),
        ("gate<a href='n.xhtml#n1'>1</a> was", "gate was"),
        ("gate [<a href='#n1'>1</a>], so", "gate, so"),
        ("gate [<a href='#ref1'>1</a>, <a href='#ref2'>2</a>] was", "gate was"),
        ("gate [see <a href='#n1'>1</a>] was", "gate [see 1] was"),
        ("in [<a href='#y1999'>1999</a>] was", "in [1999] was"),
        ("gate<sup>1)</sup> was<sup>(2)</sup> in<sup>3)</sup> it", "gate was in it"),
        ("\u{6c34}\u{8eca}\u{306f}<sup>1</sup>\u{51ac}", "\u{6c34}\u{8eca}\u{306f}\u{51ac}"),
        ("<style>.fn{vertical-align:super}</style>gate<span class=fn>1</span> was", "gate was"),
        ("<style>.o .fn{vertical-align:super}</style>g<span class=fn>1</span> w", "g1 w"),
    ] {
        let page = format!("<meta charset=utf-8><p>The {page}</p>");
        check_origins(&page).unwrap();
        assert_eq!(shown(page.as_bytes(), None, Html::All), format!("The {expected}"), "{page}");
    }
}

#[test]
fn a_soft_hyphen_at_a_line_end_of_the_source_divides_a_word() {
    let text = |page: &str| text_of_page(page, Html::All).0;
    assert_eq!(
        text("<p>the govern&shy;\n  ment of\u{ad} 3 it"),
        "the govern\u{ad}ment of\u{ad} 3 it"
    );
    assert_eq!(text("<p>the govern&shy;<br>ment"), "the govern\u{ad}\nment");
}
