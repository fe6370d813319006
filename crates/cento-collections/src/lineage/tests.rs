use super::*;
use cento::index::{Config, Document, Index, WriterOptions};
use proptest::prelude::*;
use serde_json::{Value, json};

fn searcher(texts: &[(&str, String, Value)]) -> Searcher {
    let index = Index::in_memory(Config::new("kgram(k=2)", "words", true).unwrap()).unwrap();
    let mut writer = index.writer(WriterOptions::default()).unwrap();
    for (id, text, meta) in texts {
        let document = Document::new(*id, text);
        writer.add(document.with_meta(meta.as_object().unwrap().clone())).unwrap();
    }
    writer.finish().unwrap();
    Searcher::new(index.snapshot().unwrap())
}

fn words(numbers: std::ops::Range<u32>) -> String {
    numbers.map(|number| format!("w{number} ")).collect()
}

fn found(searcher: &Searcher, options: &LineageOptions) -> Vec<Descent> {
    lineage(searcher, options).threads(2).collect::<Result<_>>().unwrap()
}

fn shown(found: &[Descent]) -> Vec<(u64, u64, &str, &str)> {
    let mut rows = Vec::new();
    for Descent { tree, depth, id, ancestor, .. } in found {
        rows.push((*tree, *depth, &**id, ancestor.as_deref().unwrap_or_default()));
    }
    rows
}

#[test]
fn the_ancestor_is_the_earlier_document_that_explains_most() {
    let searcher = searcher(&[
        ("third", words(10..130), json!({"year": 2003})),
        ("branch", words(0..100) + &words(500..520), json!({"year": 2004})),
        ("first", words(0..100), json!({"year": 2001})),
        ("other", words(900..950), json!({"year": 2001})),
        ("second", words(0..120), json!({"year": 2002})),
    ]);
    let dated = found(&searcher, &LineageOptions::default().date("year"));
    let expected = [
        (1, 0, "first", ""),
        (1, 1, "second", "first"),
        (1, 2, "third", "second"),
        (1, 1, "branch", "first"),
    ];
    assert_eq!(shown(&dated), expected);
    assert!(dated[1..].iter().all(|row| row.direction_by == Some(DirectionBy::Date)));
    let added = dated[1].similarity.unwrap();
    assert_eq!((added.containment_of_a, added.containment_of_b), (1.0, 99.0 / 119.0));
}

#[test]
fn without_dates_the_longer_document_is_the_later_and_that_is_said() {
    let searcher = searcher(&[
        ("long", words(0..120), json!({})),
        ("short", words(0..100), json!({})),
        ("same", words(0..100), json!({})),
    ]);
    let found = found(&searcher, &LineageOptions::default());
    let by: Vec<_> = found.iter().map(|row| row.direction_by).collect();
    // The first of the copies is the ancestor of the other copies.
    let expected = [(1, 0, "short", ""), (1, 1, "long", "short"), (1, 1, "same", "short")];
    assert_eq!(shown(&found), expected);
    assert_eq!(by, [None, Some(DirectionBy::Length), Some(DirectionBy::Added)]);
}

#[test]
fn versions_that_were_added_at_the_same_time_tell_no_direction() {
    let index = Index::in_memory(Config::new("kgram(k=2)", "words", true).unwrap()).unwrap();
    let mut writer = index.writer(WriterOptions::default()).unwrap();
    writer.add(Document::new("z", words(0..100))).unwrap();
    writer.commit().unwrap();
    let snapshot = index.snapshot().unwrap();
    let other = Document::new("a", words(0..100));
    let other = cento::index::SignedDocument::new(other, index.config(), Stop::NEVER).unwrap();
    writer.add_at(other, &snapshot, snapshot.find("z").unwrap().unwrap()).unwrap();
    writer.finish().unwrap();
    let found = found(&Searcher::new(index.snapshot().unwrap()), &LineageOptions::default());
    assert_eq!(shown(&found), [(1, 0, "a", ""), (1, 1, "z", "a")]);
    assert_eq!(found[1].direction_by, Some(DirectionBy::Unknown));
}

/// The ancestors, by id of the document.
fn ancestors_of(found: &[Descent]) -> BTreeMap<&str, &str> {
    found.iter().filter_map(|row| Some((row.id.as_str(), row.ancestor.as_deref()?))).collect()
}

/// Words of this text alone.
fn own(text: u32, count: u32) -> String {
    (0..count).map(|word| format!("x{text}y{word} ")).collect()
}

#[test]
fn a_history_without_dates_is_told_by_all_of_it() {
    // The fourth version leaves out more than it adds.
    let mut texts = Vec::new();
    for version in 0..10u32 {
        let start = if version >= 3 { 12 } else { 0 };
        let text = words(start..60 + 5 * version) + &own(version, 2);
        // Texts are added in another order.
        texts.push((format!("v{version}"), text, json!({})));
    }
    texts.sort_by_key(|(id, ..)| Reverse(id.clone()));
    let texts: Vec<(&str, String, Value)> =
        texts.iter().map(|(id, text, meta)| (&**id, text.clone(), meta.clone())).collect();
    let found = found(&searcher(&texts), &LineageOptions::default());
    let ancestors = ancestors_of(&found);
    assert_eq!(ancestors.len(), 9, "{ancestors:?}");
    assert!(ancestors.iter().all(|(version, ancestor)| ancestor < version), "{ancestors:?}");
    let by = |row: &&Descent| row.direction_by == Some(DirectionBy::Length);
    assert_eq!(found.iter().filter(by).count(), 9);
}

#[test]
fn a_version_without_a_date_turns_no_dates_round() {
    // The text in between is shorter than both neighbors, or longer.
    for (from, to) in [(0, 60), (0, 140)] {
        let searcher = searcher(&[
            ("new", words(20..120), json!({"year": 2003})),
            ("between", words(from + 10..to), json!({})),
            ("old", words(0..100), json!({"year": 2001})),
        ]);
        let found = found(&searcher, &LineageOptions::default().date("year"));
        assert_ne!(found[0].id, "new", "{found:?}");
        assert_eq!(ancestors_of(&found)["new"], "old");
    }
}

#[test]
fn text_that_many_documents_have_makes_no_versions() {
    // 60 texts of 40 unique words share a notice of 60 words. A further document is a slightly
    // changed copy of one text.
    let notice = words(0..60);
    let mut texts: Vec<(String, String, Value)> = (0..60)
        .map(|text| (format!("t{text}"), own(text, 40) + &notice, json!({"n": text})))
        .collect();
    texts.push(("short".into(), notice.clone() + &own(70, 5), json!({"n": 0})));
    texts.push(("new".into(), own(7, 36) + &notice + &own(71, 9), json!({"n": 99})));
    let texts: Vec<(&str, String, Value)> =
        texts.iter().map(|(id, text, meta)| (&**id, text.clone(), meta.clone())).collect();
    for date in [Some("n"), None] {
        let options = LineageOptions { date: date.map(str::to_owned), ..LineageOptions::default() };
        let found = found(&searcher(&texts), &options);
        assert_eq!(found.len(), 2, "{found:?}");
        assert_eq!(found[0].id, "t7");
        assert_eq!(ancestors_of(&found)["new"], "t7");
    }
}

#[test]
fn all_of_many_versions_of_one_document_are_versions() {
    // Every text shares most words with 79 texts.
    let texts: Vec<(String, String, Value)> = (0..80)
        .map(|text| (format!("v{text:02}"), words(0..100) + &own(text, 3), json!({"n": text})))
        .collect();
    let texts: Vec<(&str, String, Value)> =
        texts.iter().map(|(id, text, meta)| (&**id, text.clone(), meta.clone())).collect();
    let found = found(&searcher(&texts), &LineageOptions::default().date("n"));
    assert_eq!(ancestors_of(&found).len(), 79);
}

#[test]
fn a_document_that_quotes_another_is_no_version_of_it() {
    let old = words(0..100);
    let quotes = own(1, 200) + &old + &own(2, 200);
    // Grown to five times its length, with new text between the old parts.
    let part = |part: u32| words(20 * part..20 * part + 20) + &own(3 + part, 80);
    let grown: String = (0..5).map(part).collect();
    // A short text inside a long text was cut from there.
    let shortened = words(30..60);
    let searcher = searcher(&[
        ("old", old, json!({"year": 2001})),
        ("quotes", quotes, json!({"year": 2002})),
        ("grown", grown, json!({"year": 2003})),
        ("shortened", shortened, json!({"year": 2004})),
    ]);
    let dated = found(&searcher, &LineageOptions::default().date("year"));
    assert_eq!(ancestors_of(&dated), BTreeMap::from([("grown", "old"), ("shortened", "old")]));
    // Without dates, the long text could be the source of the short one.
    let undated = found(&searcher, &LineageOptions::default());
    assert!(undated.iter().all(|row| row.direction_by != Some(DirectionBy::Date)));
}

#[test]
fn a_notice_that_is_a_third_of_the_minutes_is_quoted_by_them() {
    let notice = words(0..24);
    let check = |text: String, is_version: bool| {
        let searcher = searcher(&[
            ("notice", notice.clone(), json!({"year": 1901})),
            ("minutes", text, json!({"year": 1902})),
        ]);
        let dated = found(&searcher, &LineageOptions::default().date("year"));
        assert_eq!(!dated.is_empty(), is_version, "{dated:?}");
        // Without dates, nothing shows that the notice was cut from the minutes.
        let undated = found(&searcher, &LineageOptions::default());
        assert_eq!(!undated.is_empty(), is_version, "{undated:?}");
    };
    check(own(1, 19) + &notice + &own(2, 21), false);
    check(notice.clone() + &own(1, 40), false);
    check(own(1, 40) + &notice, false);
    // A text of twice the length has grown, and so has a text with new words between old words.
    check(notice.clone() + &own(1, 20), true);
    check(words(0..8) + &own(1, 20) + &words(8..16) + &own(2, 20) + &words(16..24), true);
}

#[test]
fn answers_are_those_of_a_reader_of_both_texts() {
    let (left, right) = (words(0..60), words(200..260));
    let check = |texts: &[(&str, &str, u32)], expected: &[(&str, &str)]| {
        let texts: Vec<(&str, String, Value)> = texts
            .iter()
            .map(|(id, text, year)| (*id, (*text).to_owned(), json!({"year": year})))
            .collect();
        let found = found(&searcher(&texts), &LineageOptions::default().date("year"));
        let expected: BTreeMap<&str, &str> = expected.iter().copied().collect();
        assert_eq!(ancestors_of(&found), expected, "{found:?}");
    };
    let both = left.clone() + &right;
    let (both, left, right) = (&*both, &*left, &*right);
    // Two parts of a document are versions of the document.
    check(
        &[("whole", both, 1), ("left", left, 2), ("right", right, 3)],
        &[("left", "whole"), ("right", "whole")],
    );
    // A joined document descends from the source with the greater share.
    let longer = words(0..80);
    let joined = longer.clone() + right;
    check(
        &[("longer", &longer[..], 1), ("right", right, 2), ("joined", &joined[..], 3)],
        &[("joined", "longer")],
    );
    // The third text repeats the first, which explains more of it than the second.
    let (second, third) = (left.to_owned() + &own(1, 20), own(2, 20) + left + &own(1, 30));
    check(
        &[
            ("first", left, 1),
            ("second", &second[..], 2),
            ("third", &third[..], 3),
            ("again", left, 4),
        ],
        &[("second", "first"), ("third", "second"), ("again", "first")],
    );
    // A copy descends from the previous copy.
    check(&[("a", left, 1), ("c", left, 3), ("b", left, 2)], &[("b", "a"), ("c", "b")]);
    // A translation has different words.
    check(&[("english", left, 1), ("german", &own(5, 60)[..], 2)], &[]);
}

#[test]
fn all_copies_of_a_text_are_in_one_tree_from_the_earliest_on() {
    // 12 or 100 copies with dates for the last ones added, a longer version, and a variant in
    // capitals, which is a different text of the same words.
    let (text, longer) = (words(0..60), words(0..80));
    for (copies, dated) in [(12, 0), (100, 0), (10, 1), (22, 2), (100, 3)] {
        let date = |at: u32| match at + dated >= copies {
            true => json!({"year": 2000 + copies - at}),
            false => json!({}),
        };
        let ids: Vec<String> = (0..copies).map(|at| format!("c{at:03}")).collect();
        let mut texts: Vec<(&str, String, Value)> =
            (0..).zip(&ids).map(|(at, id)| (&**id, text.clone(), date(at))).collect();
        texts.push(("longer", longer.clone(), json!({})));
        texts.push(("capitals", text.to_uppercase(), json!({})));
        let date = (dated > 0).then(|| "year".to_owned());
        let options = LineageOptions { date, ..LineageOptions::default() };
        let found = found(&searcher(&texts), &options);
        assert_eq!(found.len(), texts.len(), "{copies} {dated}");
        assert_eq!(found.last().map(|row| row.tree), Some(1), "{copies} {dated}");
        let root = if dated > 0 { ids.last().unwrap() } else { &ids[0] };
        assert_eq!(&found[0].id, root, "{copies} {dated}");
        // Copies without telling dates descend from the first copy, dated copies from the previous
        // copy.
        let ancestors = ancestors_of(&found);
        for (at, id) in (0..).zip(&ids).filter(|(_, id)| *id != root) {
            let expected = if at + dated >= copies { &ids[at as usize + 1] } else { root };
            assert_eq!(ancestors[&**id], expected, "{id} of {copies}");
        }
    }
}

#[test]
fn equal_dates_tell_nothing() {
    let searcher = searcher(&[
        ("long", words(0..120), json!({"date": "1999"})),
        ("short", words(0..100), json!({"date": "1999-05"})),
    ]);
    let found = found(&searcher, &LineageOptions::default().date("date"));
    assert_eq!(shown(&found), [(1, 0, "short", ""), (1, 1, "long", "short")]);
    assert_eq!(found[1].direction_by, Some(DirectionBy::Length));
}

#[test]
fn dates_that_are_missing_close_no_circle() {
    // By dates `a` is earlier than `b`. The undated `c` is between them by length, but in the
    // opposite order.
    let searcher = searcher(&[
        ("a", words(0..140), json!({"year": 2001})),
        ("b", words(0..100), json!({"year": 2002})),
        ("c", words(0..120), json!({})),
    ]);
    let found = found(&searcher, &LineageOptions::default().date("year"));
    assert_eq!(found.len(), 3);
    assert_eq!(found.iter().filter(|row| row.ancestor.is_none()).count(), 1, "{found:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// With distinct dates, the ancestor of a document is the best of all earlier documents.
    #[test]
    fn ancestors_are_those_of_a_comparison_of_all_pairs(
        some in prop::collection::vec((0u32..60, 10u32..60), 2..12),
    ) {
        let texts: Vec<(String, String, Value)> = some
            .iter()
            .enumerate()
            .map(|(at, &(start, count))| {
                (format!("d{at:02}"), words(start..start + count), json!({"n": 50 - at}))
            })
            .collect();
        let texts: Vec<(&str, String, Value)> =
            texts.iter().map(|(id, text, meta)| (&**id, text.clone(), meta.clone())).collect();
        let runs = |at: usize| some[at].0..some[at].0 + some[at].1 - 1;
        let mut expected = BTreeMap::new();
        for document in 0..some.len() {
            let own = runs(document);
            let mut best: Option<((f64, f64), usize)> = None;
            // A greater number was added later and has an earlier date.
            for other in (document + 1..some.len()).rev() {
                let its = runs(other);
                let common = own.end.min(its.end).saturating_sub(own.start.max(its.start));
                let (all, common) = ((own.len() + its.len()) as f64, f64::from(common));
                let key = (common / own.len() as f64, common / (all - common));
                // Text that is whole in one place of a longer text is a quotation.
                let is_whole = common / its.len() as f64 >= 0.9;
                let is_quoted = is_whole && key.0 < 0.5;
                if key.0 >= 0.3 && !is_quoted && best.is_none_or(|(most, _)| key >= most) {
                    best = Some((key, other));
                }
            }
            if let Some((_, other)) = best {
                expected.insert(texts[document].0, texts[other].0);
            }
        }
        let searcher = searcher(&texts);
        let found = found(&searcher, &LineageOptions::default().date("n"));
        let ancestors: BTreeMap<&str, &str> = found
            .iter()
            .filter_map(|row| Some((row.id.as_str(), row.ancestor.as_deref()?)))
            .collect();
        prop_assert_eq!(ancestors, expected);
        // Each document comes after its ancestor, in the same tree and one step deeper.
        for (at, row) in found.iter().enumerate() {
            let Some(ancestor) = &row.ancestor else { continue };
            let before = found[..at].iter().find(|other| &other.id == ancestor);
            let its_place = before.map(|other| (other.tree, other.depth + 1));
            prop_assert_eq!(its_place, Some((row.tree, row.depth)));
        }
    }
}
