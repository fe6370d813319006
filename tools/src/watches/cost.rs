//! Measures the cost of watches.

use cento::Stop;
use cento::index::{Config, Document, Index, WriterOptions};
use cento_collections::watch::Watches as Open;
use fastrand::Rng;

use super::{Watches, fresh, request};
use crate::Result;
use crate::corpus::Vocabulary;
use crate::measure::cpu_seconds;

const BATCH: usize = 1000;

const TOKENS: usize = 300;

/// One document in this many has a passage of a watch.
const MATCHING: usize = 100;

impl Watches {
    pub(super) fn measure(&self) -> Result {
        println!(
            "| watches | documents | adding, s | matching, s | matching a document, us | events |"
        );
        println!("|---|---|---|---|---|---|");
        for &watches in &self.watches {
            self.measured(watches)?;
        }
        Ok(())
    }

    /// Adds the documents to an index with this number of watches, and prints a row.
    fn measured(&self, watches: usize) -> Result {
        let mut rng = Rng::with_seed(self.seed);
        let words = Vocabulary::new(&mut rng);
        let path = self.work.join("watches.idx");
        fresh(&path)?;
        let index = Index::create(&path, Config::new("winnow(k=5,w=10)", "words", true)?)?;
        let mut writer = index.writer(WriterOptions::default())?;
        let texts: Vec<String> = (0..watches).map(|_| words.text(TOKENS, &mut rng)).collect();
        let mut open = None;
        if watches > 0 {
            writer.log_changes()?;
            let mut own = Open::open(&index)?;
            let requests = texts.iter().enumerate();
            own.add_all(requests.map(|(number, text)| request(number, text.clone())).collect())?;
            open = Some(own);
        }
        let (mut adding, mut matching, mut events) = (0.0, 0.0, 0);
        for commit in 0..self.commits {
            let documents: Vec<Document> = (0..BATCH)
                .map(|number| {
                    let mut text = words.text(TOKENS, &mut rng);
                    if number % MATCHING == 0 && !texts.is_empty() {
                        let copied = &texts[rng.usize(..texts.len())];
                        text += copied.get(..copied.len() / 2).unwrap_or(copied);
                    }
                    Document::new(format!("{commit}-{number}"), text)
                })
                .collect();
            let before = cpu_seconds();
            for document in documents {
                writer.add(document)?;
            }
            writer.commit()?;
            adding += cpu_seconds() - before;
            if let Some(open) = &mut open {
                let before = cpu_seconds();
                events += open.match_commits(Stop::NEVER)?;
                matching += cpu_seconds() - before;
            }
        }
        let documents = self.commits * BATCH;
        let each = matching / documents as f64 * 1e6;
        println!(
            "| {watches} | {documents} | {adding:.2} | {matching:.2} | {each:.0} | {events} |"
        );
        Ok(())
    }
}
