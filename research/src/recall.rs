//! Measures recall of planted copies and passages, and counts false hits.
//!
//! A query counts as found if its source is among the hits. A *false hit* is a hit other than the
//! source. A false hit is a *chance* hit if hit and query share five words in a row, which most
//! tools would also report, and otherwise a *collision*.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::PathBuf;

use clap::Args;

use crate::Result;
use crate::cento::{Cento, Document, documents};
use crate::corpus::Planted;

/// Measure recall on planted copies and passages.
#[derive(Debug, Args)]
pub struct Recall {
    #[command(flatten)]
    cento: Cento,
    /// The index of the corpus.
    #[arg(long)]
    index: String,
    /// The corpus that the queries were planted in.
    #[arg(long)]
    corpus: PathBuf,
    /// The queries, as `plant` wrote them.
    #[arg(long)]
    queries: PathBuf,
    /// Hits of a copy have at least this containment.
    #[arg(long, default_value = "0.05")]
    copy_containment: f64,
    /// The minimum number of fingerprints that a hit has in common with a passage.
    #[arg(long, default_value = "1")]
    passage_overlap: u32,
    /// The maximum number of hits of a search.
    #[arg(long, default_value = "10")]
    limit: usize,
}

#[derive(Default)]
struct Row {
    queries: usize,
    found: usize,
    found_first: usize,
    chance: usize,
    collisions: usize,
}

impl Recall {
    pub(crate) fn run(self) -> Result {
        let text = std::fs::read_to_string(&self.queries)?;
        let queries: HashMap<String, Planted> = text
            .lines()
            .map(|line| {
                serde_json::from_str::<Planted>(line).map(|query| (query.id.clone(), query))
            })
            .collect::<std::result::Result<_, _>>()?;
        let containment = self.copy_containment.to_string();
        let overlap = self.passage_overlap.to_string();
        let limit = self.limit.to_string();
        let mut rows: BTreeMap<(String, u32), Row> = BTreeMap::new();
        let mut false_hits: Vec<(String, String)> = Vec::new();
        for (kind, threshold) in [
            ("copy", ["--min-containment", &containment]),
            ("passage", ["--min-overlap", &overlap]),
            ("quoting", ["--min-overlap", &overlap]),
        ] {
            let path = self.queries.with_extension(format!("{kind}.jsonl"));
            let lines: Vec<&str> =
                text.lines().filter(|line| line.contains(&format!("\"id\":\"{kind}-"))).collect();
            std::fs::write(&path, lines.join("\n"))?;
            let file = path.to_str().ok_or("the path of the queries is not UTF-8")?;
            let args = ["search", &self.index, file, "--limit", &limit, threshold[0], threshold[1]];
            let (answers, _) = self.cento.json(&args)?;
            std::fs::remove_file(&path)?;
            for answer in answers {
                let id = answer["query"]["id"].as_str().ok_or("an answer without an id")?;
                let query = queries.get(id).ok_or("an answer to no query")?;
                let row = rows.entry((query.kind.clone(), query.level)).or_default();
                row.queries += 1;
                let hits = answer["hits"].as_array().ok_or("an answer without hits")?;
                let ids = hits.iter().filter_map(|hit| hit["id"].as_str());
                for (rank, hit) in ids.enumerate() {
                    if hit == query.source {
                        row.found += 1;
                        row.found_first += usize::from(rank == 0);
                    } else {
                        false_hits.push((id.to_owned(), hit.to_owned()));
                    }
                }
            }
        }
        self.tell_false_hits(&queries, &false_hits, &mut rows)?;
        println!(
            "| kind | edits | queries | recall | source first | chance hits a query | collisions a query |"
        );
        println!("|---|---|---|---|---|---|---|");
        for ((kind, level), row) in rows {
            let share = |part: usize| part as f64 / row.queries as f64;
            println!(
                "| {kind} | {level} % | {} | {:.3} | {:.3} | {:.2} | {:.4} |",
                row.queries,
                share(row.found),
                share(row.found_first),
                share(row.chance),
                share(row.collisions)
            );
        }
        Ok(())
    }

    /// Reads the texts to tell chance hits from collisions.
    fn tell_false_hits(
        &self,
        queries: &HashMap<String, Planted>,
        false_hits: &[(String, String)],
        rows: &mut BTreeMap<(String, u32), Row>,
    ) -> Result {
        let wanted: HashSet<&str> = false_hits.iter().map(|(_, hit)| hit.as_str()).collect();
        let mut texts: HashMap<String, String> = HashMap::new();
        for document in documents(&self.corpus)? {
            let Document { id, text } = document?;
            if wanted.contains(id.as_str()) {
                texts.insert(id, text);
            }
        }
        for (id, hit) in false_hits {
            let query = &queries[id];
            let text = texts.get(hit).ok_or("a hit that is not in the corpus")?;
            let row = rows.entry((query.kind.clone(), query.level)).or_default();
            if shingles(&query.text).is_disjoint(&shingles(text)) {
                row.collisions += 1;
            } else {
                row.chance += 1;
            }
        }
        Ok(())
    }
}

/// Returns all runs of five words.
fn shingles(text: &str) -> HashSet<Vec<String>> {
    let text = text.to_lowercase();
    let words: Vec<String> = text
        .split(|c: char| !(c.is_alphanumeric() || c == '_'))
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect();
    words.windows(5).map(<[String]>::to_vec).collect()
}
