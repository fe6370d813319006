//! The programs in examples/ run and print the output that their heads promise.

#[path = "../../examples/compare_texts.rs"]
mod compare_texts;
#[path = "../../examples/decontaminate.rs"]
mod decontaminate;
#[path = "../../examples/merge_shards.rs"]
mod merge_shards;
#[path = "../../examples/sources_of_a_text.rs"]
mod sources_of_a_text;

#[test]
fn the_sources_of_a_text_are_its_quotations() {
    let dir = tempfile::tempdir().unwrap();
    let mut found = sources_of_a_text::quotations(dir.path()).unwrap();
    found.sort();
    assert_eq!(found.len(), 2, "{found:?}");
    // The beginning of the sentence has different words.
    assert!(found[0].0 == "jefferson" && found[0].1.contains("we hold"), "{found:?}");
    assert!(found[1].0 == "lincoln" && found[1].1.ends_with("in liberty"), "{found:?}");
    sources_of_a_text::main().unwrap();
}

#[test]
fn a_question_in_the_training_documents_is_contaminated() {
    let dir = tempfile::tempdir().unwrap();
    let found = decontaminate::contaminated(dir.path()).unwrap();
    assert_eq!(found, [("q1", vec!["forum/17".to_owned()]), ("q2", Vec::new())]);
    decontaminate::main().unwrap();
}

#[test]
fn merged_shards_have_all_documents() {
    let dir = tempfile::tempdir().unwrap();
    assert_eq!(merge_shards::merged(dir.path()).unwrap(), ["a", "b", "c"]);
    merge_shards::main().unwrap();
}

#[test]
fn two_texts_are_compared_without_an_index() {
    let found = compare_texts::comparison().unwrap();
    assert!((0.2..0.8).contains(&found.similarity.resemblance), "{found:?}");
    let (start, end) = found.passages[0].a;
    let quotation = &compare_texts::A[start as usize..end as usize];
    assert!(quotation.contains("quick brown fox jumps over the lazy dog near the old mill"));
    compare_texts::main().unwrap();
}
