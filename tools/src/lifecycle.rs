//! Takes a corpus through the whole life of an index: documents are added, searched, removed,
//! replaced, compacted and checked, and the searches must return the same answers again.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;

use clap::Args;
use fastrand::Rng;
use serde_json::{Value, json};

use crate::Result;
use crate::cento::{Cento, Document, documents};

/// Run a corpus through the whole life of an index.
#[derive(Debug, Args)]
pub struct Lifecycle {
    #[command(flatten)]
    cento: Cento,
    /// The corpus: a JSON lines file.
    #[arg(long)]
    corpus: PathBuf,
    /// An empty directory to work in.
    #[arg(long)]
    work: PathBuf,
    /// Documents removed, and as many replaced.
    #[arg(long, default_value = "300")]
    changed: usize,
    /// Queries: half of them whole documents, half passages of 100 words.
    #[arg(long, default_value = "200")]
    queries: usize,
    /// The number of documents a commit, so that there are several segments.
    #[arg(long, default_value = "300")]
    commit_every: usize,
    /// Seed of the random choices.
    #[arg(long, default_value = "1")]
    seed: u64,
}

impl Lifecycle {
    pub(crate) fn run(self) -> Result {
        std::fs::create_dir_all(&self.work)?;
        let path = |name: &str| self.work.join(name).display().to_string();
        let (index, queries) = (path("index"), path("queries.jsonl"));
        let corpus = self.corpus.display().to_string();
        let documents: Vec<Document> = documents(&self.corpus)?.collect::<Result<_>>()?;
        let mut rng = Rng::with_seed(self.seed);
        let mut order: Vec<usize> = (0..documents.len()).collect();
        rng.shuffle(&mut order);
        let (removed, rest) = order.split_at(self.changed);
        let replaced = &rest[..self.changed];

        let every = self.commit_every.to_string();
        let added = self.cento.object(&["add", &index, &corpus, "--commit-every", &every])?;
        println!("added: {added}");
        self.write_queries(&queries, &documents, &mut rng)?;
        let before_changes = self.answers(&index, &queries)?;
        let found =
            before_changes.iter().filter(|a| a["hits"].as_array().is_some_and(|h| !h.is_empty()));
        println!("searched: {} of {} queries have hits", found.count(), before_changes.len());

        let mut args = vec!["remove", &index];
        args.extend(removed.iter().map(|&i| documents[i].id.as_str()));
        println!("removed: {}", self.cento.object(&args)?["removed"]);
        let renewed = path("renewed.jsonl");
        let mut out = BufWriter::new(File::create(&renewed)?);
        for &i in replaced {
            // The replacement has the second half of the text before the first half.
            let text = &documents[i].text;
            let middle = text.char_indices().nth(text.chars().count() / 2).map_or(0, |(at, _)| at);
            let text = format!("{}\n{}", &text[middle..], &text[..middle]);
            writeln!(out, "{}", json!({"id": documents[i].id, "text": text}))?;
        }
        out.flush()?;
        println!("replaced: {}", self.cento.object(&["add", &index, &renewed])?["replaced"]);

        let before = self.answers(&index, &queries)?;
        println!("before compaction: {}", self.cento.object(&["stats", &index])?);
        println!("compacted: {}", self.cento.object(&["compact", &index])?);
        let stats = self.cento.object(&["stats", &index])?;
        println!("after compaction: {stats}");
        println!("checked: {}", self.cento.object(&["check", &index])?);
        let after = self.answers(&index, &queries)?;
        let same = before.iter().zip(&after).filter(|(a, b)| a == b).count();
        println!("answers identical before and after compaction: {same} of {}", before.len());

        let gone: Vec<&str> = removed.iter().map(|&i| documents[i].id.as_str()).collect();
        let shown = after.iter().flat_map(|answer| answer["hits"].as_array().into_iter().flatten());
        let back =
            shown.filter(|hit| hit["id"].as_str().is_some_and(|id| gone.contains(&id))).count();
        println!("removed documents among the hits: {back}");
        let number = |value: &Value| value.as_f64().unwrap_or(f64::NAN);
        let text: usize = (0..documents.len())
            .filter(|i| !removed.contains(i))
            .map(|i| documents[i].text.len())
            .sum();
        println!(
            ".sig bytes a stored fingerprint: {:.2}; stored text / text: {:.3}",
            number(&stats["bytes"]["signatures"]) / number(&stats["fingerprints"]),
            number(&stats["bytes"]["text"]) / text as f64
        );
        if same < before.len() || back > 0 {
            return Err("answers differ".into());
        }
        Ok(())
    }

    fn write_queries(&self, path: &str, documents: &[Document], rng: &mut Rng) -> Result {
        let mut out = BufWriter::new(File::create(path)?);
        for number in 0..self.queries {
            let document = rng.choice(documents).ok_or("the corpus is empty")?;
            let words: Vec<&str> = document.text.split_whitespace().collect();
            let text = if number % 2 == 0 {
                document.text.clone()
            } else {
                let start = rng.usize(0..=words.len().saturating_sub(100));
                words.into_iter().skip(start).take(100).collect::<Vec<_>>().join(" ")
            };
            writeln!(out, "{}", json!({"id": format!("q{number}"), "text": text}))?;
        }
        Ok(out.flush()?)
    }

    /// Returns the answers to all queries without their durations.
    fn answers(&self, index: &str, queries: &str) -> Result<Vec<Value>> {
        let (mut answers, _) = self.cento.json(&["search", index, queries, "--limit", "20"])?;
        for answer in &mut answers {
            answer["took_us"] = Value::Null;
        }
        Ok(answers)
    }
}
