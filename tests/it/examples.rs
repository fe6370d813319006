//! The programs in examples/ run and print the output that their heads promise.

#[path = "../../examples/clusters_of_versions.rs"]
mod clusters_of_versions;
#[path = "../../examples/compare_texts.rs"]
mod compare_texts;
#[path = "../../examples/decontaminate.rs"]
mod decontaminate;
#[path = "../../examples/merge_shards.rs"]
mod merge_shards;
#[path = "../../examples/near_duplicates.rs"]
mod near_duplicates;
#[path = "../../examples/sources_of_a_text.rs"]
mod sources_of_a_text;

#[test]
fn the_sources_of_a_text_are_its_quotations() {
    let dir = tempfile::tempdir().unwrap();
    let mut found = sources_of_a_text::quotations(dir.path()).unwrap();
    found.sort();
    assert_eq!(found.len(), 2, "{found:?}");
    // The sentence has other words at its beginning.
    assert!(found[0].0 == "jefferson" && found[0].1.contains("we hold"), "{found:?}");
    assert!(found[1].0 == "lincoln" && found[1].1.ends_with("in liberty"), "{found:?}");
    sources_of_a_text::main().unwrap();
}

#[test]
fn near_duplicates_are_the_two_revisions() {
    let dir = tempfile::tempdir().unwrap();
    let found = near_duplicates::near_duplicates(dir.path()).unwrap();
    let ids: Vec<_> = found.iter().map(|(a, b, _)| (&**a, &**b)).collect();
    assert_eq!(ids, [("v1", "v2")]);
    assert!((0.5..1.0).contains(&found[0].2), "{found:?}");
    near_duplicates::main().unwrap();
}

#[test]
fn versions_are_in_one_cluster() {
    let dir = tempfile::tempdir().unwrap();
    let found = clusters_of_versions::clusters(dir.path()).unwrap();
    assert_eq!((found.len(), found[0].size, &*found[0].representative), (1, 3, "ada"));
    clusters_of_versions::main().unwrap();
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
