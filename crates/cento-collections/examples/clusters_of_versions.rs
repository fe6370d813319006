//! You have a license with other names in each copy, and want each group of versions as a cluster.
//!
//! `cargo run --example clusters_of_versions`

use std::path::Path;

use cento::{Config, Document, Index, Result, Searcher, WriterOptions};
use cento_collections::cluster::{self, Cluster, ClusterOptions};

/// A license, two copies with a different name, and an unrelated text.
fn documents() -> Vec<(String, String)> {
    let license = |holder: &str| {
        format!(
            "Copyright {holder}. Permission is hereby granted, free of charge, to any person \
             obtaining a copy of this software and associated documentation files, to deal in the \
             software without restriction, including without limitation the rights to use, copy, \
             modify, merge, publish and distribute copies of it."
        )
    };
    let mut documents: Vec<_> =
        ["Ada", "Grace", "Alan"].map(|holder| (holder.to_lowercase(), license(holder))).into();
    documents.push((
        "readme".into(),
        "This program prints the time of the next train to the sea.".into(),
    ));
    documents
}

/// Indexes the documents, and returns their clusters, the largest first.
pub fn clusters(dir: &Path) -> Result<Vec<Cluster>> {
    let index =
        Index::create(dir.join("licenses.idx"), Config::new("winnow(k=5,w=10)", "words", true)?)?;
    let mut writer = index.writer(WriterOptions::default())?;
    for (id, text) in documents() {
        writer.add(Document::new(id, text))?;
    }
    writer.finish()?;
    let searcher = Searcher::new(index.snapshot()?);
    cluster::clusters(&searcher, &ClusterOptions::default()).collect()
}

/// Prints the members of each cluster on one line.
pub fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let dir = tempfile::tempdir()?;
    for found in clusters(dir.path())? {
        let members: Vec<&str> = found.members.iter().map(|member| &*member.id).collect();
        println!("{}: {}", found.representative, members.join(", "));
    }
    Ok(())
}
