use super::*;
use cento::index::Document;
use proptest::prelude::*;

/// Returns a text without the passages in angle brackets, cut cleanly.
fn cleaned(marked: &str) -> String {
    let (mut text, mut ranges, mut start) = (String::new(), Vec::new(), 0);
    for c in marked.chars() {
        match c {
            '<' => start = text.len() as u32,
            '>' => ranges.push((start, text.len() as u32)),
            _ => text.push(c),
        }
    }
    crate::cutting::cut(&text, &widened(&text, &[], &ranges))
}

const PASSAGE: &str = "<the lighthouse keeper kept a lamp, a boat and eleven children on the \
                       rock for thirty years>";

#[track_caller]
fn check(cases: &[(&str, &str)]) {
    for (marked, expected) in cases {
        assert_eq!(cleaned(&marked.replace("<>", PASSAGE)), *expected, "{marked}");
    }
}

#[test]
fn marks_and_blanks_of_a_passage_go_with_it() {
    check(&[
        (
            "Own words of this page. <>. Other words of this page.",
            "Own words of this page. Other words of this page.",
        ),
        (
            "We all know that <> and then everybody went home again.",
            "We all know that and then everybody went home again.",
        ),
        (
            "We all know well that <>. Then everybody went home again.",
            "We all know well that. Then everybody went home again.",
        ),
        (
            "We all know, <>, that everybody went home again.",
            "We all know, that everybody went home again.",
        ),
        (
            "As everybody here has heard, <>. Then they went home.",
            "As everybody here has heard. Then they went home.",
        ),
        ("(\"<>.\")Until then they all went home.", "Until then they all went home."),
        (
            "They said (<>) that it is so, and all went home.",
            "They said that it is so, and all went home.",
        ),
        (
            "They repeated \u{201c}<>\u{201d} again and again for years.",
            "They repeated again and again for years.",
        ),
        (
            "They repeated \"<>\" again and again for years.",
            "They repeated again and again for years.",
        ),
        (
            "It was the story of all stories (see page 7: <>) and it went on.",
            "It was the story of all stories (see page 7) and it went on.",
        ),
        (
            "The file of all the files is <>.txt and nothing else.",
            "The file of all the files is.txt and nothing else.",
        ),
        ("f(\"<>\")g and more words that stand here", "f(\"\")g and more words that stand here"),
    ]);
}

#[test]
fn a_bracket_that_is_closed_after_the_passage_goes_with_it() {
    check(&[
        (
            "Words of the page here. <It was long ago (in the year 1838, at night, in a storm>). \
          More words of the page.",
            "Words of the page here. More words of the page.",
        ),
        (
            "Words of the page here. More words (<in the year of 1838) there was a great storm at \
          sea>. The end of the page.",
            "Words of the page here. The end of the page.",
        ),
    ]);
}

#[test]
fn lines_and_paragraphs_leave_no_empty_ones() {
    check(&[
        ("Own words.\n\n<>.\n\nOther words.", "Own words.\n\nOther words."),
        ("<>.\nOther words.\n", "Other words.\n"),
        ("Own words.\n<>.\n", "Own words.\n"),
        ("Own words. <>.\n\nOther words.", "Own words.\n\nOther words."),
        ("List:\n- <>\n- other words", "List:\n- other words"),
        ("1. <>?\n2. other words", "2. other words"),
        ("    a\n        <>\n    b", "    a\n    b"),
        (
            "Own words.\n\n<first passage of the two passages here>.\n\n\
          <second passage of the two passages here>!\n\nOther words.",
            "Own words.\n\nOther words.",
        ),
    ]);
}

#[test]
fn few_words_of_a_line_or_sentence_go_with_it() {
    check(&[
        (
            "Own words of the page. Again: <>? Think of it, all of you!",
            "Own words of the page. Think of it, all of you!",
        ),
        (
            "Own words of the page.\nQuestion 5: <>?\nThink of it!",
            "Own words of the page.\nThink of it!",
        ),
        (
            "She said \"Go.\" They <>. Think of it, all of you!",
            "She said \"Go.\" Think of it, all of you!",
        ),
        // A short passage takes fewer words with it.
        (
            "Own words of the page. Again and again <one two three four>. Think of it, all of you!",
            "Own words of the page. Again and again. Think of it, all of you!",
        ),
    ]);
}

#[test]
fn a_sentence_that_ends_in_a_quotation_is_a_sentence_of_its_own() {
    // The quotation went with the rest of its line.
    check(&[
        ("\"He left.\" <>.", "\"He left.\""),
        ("\u{201c}He left.\u{201d} <>.", "\u{201c}He left.\u{201d}"),
        ("\u{ab} Il part. \u{bb} <>.", "\u{ab} Il part. \u{bb}"),
        ("(He left.) <>.", "(He left.)"),
        ("'He left!' <>.", "'He left!'"),
        ("\"<>\". He left!", "He left!"),
        (
            "It was long. \"He left.\" She <>. It was late.",
            "It was long. \"He left.\" It was late.",
        ),
    ]);
}

#[test]
fn other_scripts_have_marks_of_their_own() {
    let zh = "\u{56fe}\u{4e66}\u{9986}".repeat(6);
    let (own, more) = ("\u{524d}\u{9762}\u{7684}\u{8bdd}\u{524d}", "\u{540e}\u{9762}");
    let (stop, comma, open, close) = ("\u{3002}", "\u{ff0c}", "\u{300c}", "\u{300d}");
    let german = "\u{bb}Alle wissen es schon seit langem\u{ab}, sagte er.";
    let end = "Dann gingen alle nach Hause zum Essen.";
    for (marked, expected) in [
        (format!("{own}{stop}<{zh}>{stop}{more}{stop}"), format!("{own}{stop}{more}{stop}")),
        (
            format!("{own}{comma}{open}<{zh}>{close}{more}{more}{stop}"),
            format!("{own}{comma}{more}{more}{stop}"),
        ),
        (format!("{german} \u{bb}<>.\u{ab} {end}"), format!("{german} {end}")),
        (format!("{german} \u{ab}\u{a0}<>\u{a0}\u{bb} {end}"), format!("{german} {end}")),
        (
            format!("Er sagte \u{bb}ja\u{ab} <> \u{bb}nein\u{ab} und ging. {end}"),
            format!("Er sagte \u{bb}ja\u{ab} \u{bb}nein\u{ab} und ging. {end}"),
        ),
    ] {
        check(&[(&marked, &expected)]);
    }
}

#[test]
fn the_marks_around_a_passage_go_with_it_in_every_language() {
    // Regression: lone closing marks remained, and empty pairs.
    for (open, close) in [
        ("\u{ab} ", " \u{bb}"),
        ("\u{ab}\u{a0}", "\u{202f}\u{bb}"),
        ("\u{2039} ", " \u{203a}"),
        ("( ", " )"),
        ("[ ", " ]"),
        ("\u{ab}", "\u{bb}"),
        ("\u{bb}", "\u{ab}"),
        ("\u{bb}", "\u{bb}"),
        ("\u{201e}", "\u{201c}"),
        ("\u{201e}", "\u{201d}"),
        ("\u{201d}", "\u{201d}"),
        ("\u{201a}", "\u{2018}"),
        ("\u{300c}", "\u{300d}"),
        ("\u{3008}", "\u{3009}"),
        ("\u{3010}", "\u{3011}"),
        ("\u{3014}", "\u{3015}"),
        ("\u{fd3e}", "\u{fd3f}"),
        ("\u{fd3f}", "\u{fd3e}"),
        ("\u{ff3b}", "\u{ff3d}"),
        ("\u{ff5b}", "\u{ff5d}"),
    ] {
        for begin in ["", "Elle a dit : "] {
            let marked = format!("Own words of this page. {begin}{open}<>.{close} Other words.");
            check(&[(&marked, "Own words of this page. Other words.")]);
        }
        for end in ["", "."] {
            let marked = format!("We all know well that {open}<>{end}{close} and then we left.");
            check(&[(&marked, "We all know well that and then we left.")]);
        }
    }
    check(&[
        ("Own words of this page. \" <>. \" Other words.", "Own words of this page. Other words."),
        ("We all know well that `<>` and then we left.", "We all know well that and then we left."),
    ]);
}

#[test]
fn the_marks_around_other_text_stay() {
    check(&[
        // The first mark closes a quotation in French, and would open one in German.
        (
            "Elle a dit : \u{ab} Oui. \u{bb} Il a dit : \u{ab} <>. \u{bb} Other words.",
            "Elle a dit : \u{ab} Oui. \u{bb} Other words.",
        ),
        (
            "We all know well \u{2018}that\u{2019}, <> \u{2018}there\u{2019} and then we left.",
            "We all know well \u{2018}that\u{2019}, \u{2018}there\u{2019} and then we left.",
        ),
        (
            "We all know well that \u{201d}yes\u{201d} <> \u{201d}no\u{201d} and then we left.",
            "We all know well that \u{201d}yes\u{201d} \u{201d}no\u{201d} and then we left.",
        ),
    ]);
}

#[test]
fn marks_without_a_partner_are_those_of_either_end() {
    for (passage, unopened, unclosed) in [
        ("a (b) \u{ab} c \u{bb} \u{bb}d\u{ab} \u{bb}e\u{bb} \u{201d}f\u{201d} \"g\"", "", ""),
        ("a) \u{201c}b\u{201d} [c", ")", "["),
        // Each of these marks opens a quotation in one language and closes one in another.
        ("a \u{bb} b", "\u{bb}", "\u{bb}"),
        ("a \" b", "\"", "\""),
        ("it's `a* b_", "", ""),
    ] {
        let chars = |marks: &str| marks.chars().collect::<Vec<char>>();
        assert_eq!(unmatched(passage), (chars(unopened), chars(unclosed)), "{passage}");
    }
}

#[test]
fn words_are_counted_in_either_direction_and_script() {
    for (text, count) in [("", 0), (". -", 0), ("a, b-c d", 3), ("\u{4e00}\u{4e01} a", 3)] {
        let counted = |chars: &mut dyn Iterator<Item = char>| {
            let mut words = WordCount::default();
            chars.for_each(|c| words.add(c));
            words.count
        };
        assert_eq!(counted(&mut text.chars()), count, "{text}");
        assert_eq!(counted(&mut text.chars().rev()), count, "{text}");
        assert!(has_words(text, count) && !has_words(text, count + 1), "{text}");
    }
}

proptest! {
    #[test]
    fn a_cut_only_grows(
        texts in prop::collection::vec("[ab(\"., \n\u{3002}\u{4e00})-]{0,40}", 1..4),
        mut bounds in prop::collection::vec(0usize..120, 0..10),
    ) {
        let named = texts.iter().enumerate().map(|(at, own)| (at.to_string(), own));
        let Document { text, parts, .. } = Document::of_parts("", named);
        bounds.iter_mut().for_each(|bound| *bound = text.floor_char_boundary(*bound));
        bounds.sort_unstable();
        bounds.dedup();
        let ranges: Vec<(u32, u32)> =
            bounds.chunks_exact(2).map(|two| (two[0] as u32, two[1] as u32)).collect();
        let (ranges, _) = crate::cutting::within_parts(&ranges, &parts);
        let wide = widened(&text, &parts, &ranges);
        prop_assert_eq!(wide.len(), ranges.len());
        prop_assert!(wide.is_sorted_by(|a, b| a.1 <= b.0), "{:?}", wide);
        for wide in &wide {
            prop_assert!(text.is_char_boundary(wide.0 as usize));
            prop_assert!(text.is_char_boundary(wide.1 as usize));
        }
        let is_cut = |at: u32, of: &[(u32, u32)]| of.iter().any(|r| (r.0..r.1).contains(&at));
        for at in 0..text.len() as u32 {
            prop_assert!(!is_cut(at, &ranges) || is_cut(at, &wide), "{at} of {text:?}");
        }
        for part in parts.iter().skip(1) {
            prop_assert!(!is_cut(part.start - 1, &wide), "a part is joined to another");
        }
    }
}
