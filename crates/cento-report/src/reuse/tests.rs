use proptest::prelude::*;

use super::*;

pub(crate) fn found(id: &str, places: &[(u32, u32)]) -> ReuseSource {
    let place = |&(start, end): &(u32, u32)| Place {
        document: (start, end),
        source: Some((0, end - start)),
        tokens: end - start,
        matched: end - start,
        matched_ranges: Vec::new(),
        similarity: 1.0,
        by_letters: false,
        part: None,
        page: Some(2),
        line: None,
        source_part: None,
        source_page: None,
        source_line: Some(12),
        origin: None,
        source_origin: None,
    };
    ReuseSource {
        id: id.into(),
        meta: Map::new(),
        text: Some("x".repeat(100).into()),
        passages: places.iter().map(place).collect(),
        complete: true,
    }
}

pub(crate) fn report(text: &str, sources: Vec<ReuseSource>, by: &[CitedPart]) -> DocumentReport {
    report_without(text, sources, Counting::default(), by)
}

fn report_without(
    text: &str,
    sources: Vec<ReuseSource>,
    counting: Counting,
    by: &[CitedPart],
) -> DocumentReport {
    let (name, text) = ("essay".into(), text.into());
    DocumentReport::new(
        MeasuredDocument { name, text, sources, counting, more: false, complete: true },
        by,
    )
    .unwrap()
}

#[test]
fn shares_in_report_add_up_and_shares_in_text_may_overlap() {
    let text = "aaaaaaaaaa bbbbbbbbbb";
    let sources = vec![found("one", &[(0, 8)]), found("two", &[(5, 21)]), found("none", &[])];
    let report = report(text, sources, &[]);
    let shown = |source: &Source| {
        let shares = [source.share_in_report, source.share_in_text];
        (source.number, source.id.clone(), shares.map(Share::thousandths))
    };
    assert_eq!(
        report.sources.iter().map(shown).collect::<Vec<_>>(),
        [(1, "two".into(), [750, 750]), (2, "one".into(), [250, 400]),]
    );
    assert_eq!(report.reused_and_original(), (1000, 0));
    assert_eq!((report.size, report.without_passages), (20, 1));
    let json = serde_json::to_value(&report).unwrap();
    assert_eq!(json["sources"][1]["share_in_text"], 0.4);
    assert_eq!(json.get("text"), None);
}

#[test]
fn excluded_text_neither_counts_nor_is_reused() {
    let text = "aaaa \"bbbb\" cccc";
    let sources = || vec![found("quoted", &[(6, 10)]), found("both", &[(0, 11)])];
    let all = report(text, sources(), &[]);
    assert_eq!((all.size, all.reused.part, all.sources.len()), (12, 8, 2));
    let by = &[CitedPart::Quotations];
    let less = report(text, sources(), by);
    assert_eq!((less.size, less.reused.part, less.excluded.quotations), (8, 4, 4));
    assert_eq!((less.sources.len(), less.without_passages), (1, 1));
}

#[test]
fn a_passage_beyond_its_text_is_an_error() {
    let searched = |text: &str, place| MeasuredDocument {
        name: "essay".into(),
        text: text.into(),
        sources: vec![found("source", &[place])],
        counting: Counting::default(),
        more: false,
        complete: true,
    };
    for (text, place) in [("short", (0, 6)), ("\u{e9}", (1, 2))] {
        assert!(DocumentReport::new(searched(text, place), &[]).is_err());
    }
}

#[test]
fn changed_words_of_a_passage_are_not_reused() {
    let text = "aaaa bbbb cccc dddd";
    let mut source = found("one", &[(0, 19)]);
    source.passages[0].matched_ranges = vec![(0, 4), (10, 14)];
    let report = report(text, vec![source], &[]);
    assert_eq!(report.reused_and_original(), (500, 500));
    assert_eq!(report.sources[0].share_in_text.part, 8);
}

#[test]
fn a_copy_without_the_signs_at_its_ends_is_reused_as_a_whole() {
    // A passage begins and ends with a word: 4 % of a whole copy were original.
    let text = "\"Contents .......... 12!\"";
    let report = report(text, vec![found("one", &[(1, 23)])], &[]);
    assert_eq!(report.reused_and_original(), (1000, 0));
}

#[test]
fn shares_are_of_characters_however_many_bytes_each_has() {
    // A Chinese line and an English line: the shares were computed from bytes, 0.5 here.
    let text = "\u{4eba}\u{4eba}\u{751f}\u{800c}\n twelve bytes";
    let report = report(text, vec![found("one", &[(0, 12)])], &[]);
    assert_eq!((report.size, report.reused.part), (15, 4));
    assert_eq!(report.reused.ratio(), 4.0 / 15.0);
    assert_eq!(serde_json::to_value(&report).unwrap()["unit"], "characters");
}

#[test]
fn boilerplate_does_not_count() {
    let text = "aaaa bbbb \"cccc\" dddd";
    let sources = || vec![found("sheet", &[(0, 4)]), found("one", &[(0, 9)])];
    let counting = Counting { boilerplate: vec![(0, 4)], ..Counting::default() };
    let by = &[CitedPart::Quotations];
    let report = report_without(text, sources(), counting, by);
    let ExcludedUnits { boilerplate, quotations, .. } = report.excluded;
    assert_eq!((boilerplate, quotations, report.unit), (4, 4, CountUnit::Characters));
    assert_eq!((report.size, report.reused.part), (8, 4));
    assert_eq!((report.sources.len(), report.without_passages), (1, 1));
    let gray: Vec<_> = report
        .stretches
        .iter()
        .filter(|part| part.is_excluded)
        .map(|part| (part.range.clone(), part.is_boilerplate))
        .collect();
    assert_eq!(gray, [(0..4, true), (10..16, false)]);
}

#[test]
fn tokens_of_a_program_count_whatever_their_length() {
    let text = "a + \"a long string\" // mine\n- b;";
    let counting = Counting {
        boilerplate: vec![(29, 30)],
        tokens: Some(vec![0, 2, 4, 28, 30]),
        ..Counting::default()
    };
    let sources = vec![found("one", &[(0, 19)])];
    let report = report_without(text, sources, counting, &[]);
    assert_eq!((report.size, report.unit), (5, CountUnit::Tokens));
    assert_eq!((report.reused.thousandths(), report.excluded.boilerplate), (600, 0));
}

proptest! {
    #[test]
    fn shares_are_those_of_painted_bytes(
        text in "[a \"\n\u{e9}]{1,60}",
        places in prop::collection::vec((0..5usize, 0..60usize, 0..30usize), 0..12),
        (quotations, is_in_part) in any::<(bool, bool)>(),
    ) {
        let starts: Vec<usize> = text.char_indices().map(|c| c.0).chain([text.len()]).collect();
        let at = |n: usize| starts[n.min(starts.len() - 1)] as u32;
        let mut passages: Vec<Vec<(u32, u32)>> = vec![Vec::new(); 5];
        for (source, start, len) in places {
            passages[source].push((at(start), at(start + len)));
        }
        let mut sources: Vec<ReuseSource> =
            (0..5).map(|n| found(&n.to_string(), &passages[n])).collect();
        // The source has the first character of a passage, and everything from the third on.
        let parts = |&(start, end): &(u32, u32)| -> Vec<(u32, u32)> {
            let first = starts.iter().position(|&at| at as u32 == start).unwrap();
            let [second, third] = [1, 2].map(|n| at(first + n).min(end));
            [(start, second), (third, end)].into_iter().filter(|part| part.0 < part.1).collect()
        };
        if is_in_part {
            let places = sources.iter_mut().flat_map(|source| &mut source.passages);
            places.for_each(|place| place.matched_ranges = parts(&place.document));
        }
        let by = if quotations { &[CitedPart::Quotations][..] } else { &[] };
        let report = report(&text, sources, by);
        let cut = cited(&text, by);
        let has_words = text.contains(['a', '\u{e9}']);
        let counts: Vec<bool> = text
            .char_indices()
            .flat_map(|(at, c)| {
                let is_cut = cut.iter().any(|range| range.contains(&(at as u32)));
                let is_counted = !(c.is_whitespace() || has_words && c == '"');
                std::iter::repeat_n(!is_cut && is_counted, c.len_utf8())
            })
            .collect();
        let is_within = |byte: usize, p: &(u32, u32)| (p.0 as usize..p.1 as usize).contains(&byte);
        let places = |source: &Source| &passages[source.id.parse::<usize>().unwrap()];
        let colors = |source: &Source, byte: usize| {
            let counting = places(source).iter().filter(|place| {
                let parts = if is_in_part { parts(place) } else { vec![**place] };
                parts.iter().any(|p| (p.0..p.1).any(|byte| counts[byte as usize]))
            });
            counts[byte] && counting.into_iter().any(|place| is_within(byte, place))
        };
        let has = |source: &Source, byte: usize| {
            let matched = places(source).iter().flat_map(|place| match is_in_part {
                true => parts(place),
                false => vec![*place],
            });
            counts[byte] && matched.into_iter().any(|part| is_within(byte, &part))
        };
        let mut owned = vec![false; text.len()];
        let characters = || (0..text.len()).filter(|&byte| text.is_char_boundary(byte));
        for source in &report.sources {
            let mine = characters().filter(|&byte| has(source, byte));
            prop_assert_eq!(source.share_in_text.part, mine.clone().count() as u64);
            let first = mine.filter(|&byte| !owned[byte]).collect::<Vec<_>>();
            let share = Share { part: first.len() as u64, of: source.share_in_text.of };
            prop_assert_eq!(source.share_in_report, share);
            first.into_iter().for_each(|byte| owned[byte] = true);
        }
        let total = characters().filter(|&byte| counts[byte]).count() as u64;
        let reused = owned.iter().filter(|&&owned| owned).count() as u64;
        prop_assert_eq!(report.reused, Share { part: reused, of: total });
        // The stretches make up the text, and each lists its sources.
        let mut end = 0;
        for part in &report.stretches {
            prop_assert_eq!(part.range.start, end);
            end = part.range.end;
            let bytes = part.range.start as usize..end as usize;
            for byte in bytes.filter(|&byte| counts[byte]) {
                let having: Vec<u32> = (0..report.sources.len())
                    .filter(|&n| colors(&report.sources[n], byte))
                    .map(|n| n as u32)
                    .collect();
                let named: Vec<u32> = part.sources.iter().map(|found| found.0).collect();
                prop_assert_eq!(having, named);
            }
        }
        prop_assert_eq!(end as usize, text.len());
    }
}
