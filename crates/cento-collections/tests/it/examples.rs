//! The programs in examples/ run and print the output that their heads promise.

#[path = "../../examples/clusters_of_versions.rs"]
mod clusters_of_versions;
#[path = "../../examples/near_duplicates.rs"]
mod near_duplicates;

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
