//! The condition `text:"went up"`: the text of a document has these words in a row.
//!
//! Fingerprints stand for longer runs of words, so for a few words every text is read. If there are
//! enough words to guarantee a common fingerprint, only documents with that fingerprint are read.

use crate::error::Result;
use crate::index::{Config, DocAddress, Snapshot};
use crate::runtime::Stop;
use crate::search::frequencies::look_up;
use crate::text::Tokens;

/// Words in a row, as passages count them: without case, punctuation and line breaks.
pub struct Phrase {
    words: Vec<u64>,
    /// The documents of each segment that may have the words. `None` if any document may.
    sharing: Option<Vec<Vec<u32>>>,
}

impl Phrase {
    /// Creates the condition that a text contains these words in a row. `None` without words.
    ///
    /// # Errors
    /// When the text is too large, or a segment is damaged.
    /// [`Error::Cancelled`](crate::Error::Cancelled) soon after `stop`.
    pub fn new(snapshot: &Snapshot, text: &str, stop: &Stop) -> Result<Option<Phrase>> {
        let Some(phrase) = Phrase::read(snapshot.config(), text, stop)? else { return Ok(None) };
        let sharing = match phrase.is_guaranteed(snapshot.config()) {
            true => Some(sharing(snapshot, text, stop)?),
            false => None,
        };
        Ok(Some(Phrase { sharing, ..phrase }))
    }

    /// Reads the words, but looks nothing up.
    ///
    /// # Errors
    /// When the text is too large. [`Error::Cancelled`](crate::Error::Cancelled) soon after `stop`.
    pub fn read(config: &Config, text: &str, stop: &Stop) -> Result<Option<Phrase>> {
        let mut tokens = Tokens::default();
        config.analyzer.of_passages().analyze(text, &mut tokens, stop)?;
        let has_words = !tokens.hashes.is_empty();
        Ok(has_words.then_some(Phrase { words: tokens.hashes, sharing: None }))
    }

    /// Returns whether a document with the words must share a fingerprint with them.
    pub fn is_guaranteed(&self, config: &Config) -> bool {
        config.analyzer.of_passages() == config.analyzer
            && config.scheme.guarantee().is_some_and(|tokens| self.words.len() >= tokens)
    }

    /// Returns the number of words.
    pub fn words(&self) -> usize {
        self.words.len()
    }

    /// Keeps only the documents of a segment whose texts contain the words. `docs` ascend.
    ///
    /// # Errors
    /// When a text cannot be read. [`Error::Cancelled`](crate::Error::Cancelled) soon after `stop`.
    pub fn retain(
        &self,
        snapshot: &Snapshot,
        segment: u32,
        docs: &mut Vec<u32>,
        stop: &Stop,
    ) -> Result<()> {
        if let Some(sharing) = &self.sharing {
            docs.retain(|doc| sharing[segment as usize].binary_search(doc).is_ok());
        }
        let mut kept = 0;
        for place in 0..docs.len() {
            stop.check()?;
            let doc = docs[place];
            let text = snapshot.analyzed_for_passages(DocAddress { segment, doc }, stop)?;
            docs[kept] = doc;
            kept += usize::from(self.is_in(&text.tokens.hashes));
        }
        docs.truncate(kept);
        Ok(())
    }

    fn is_in(&self, text: &[u64]) -> bool {
        // Slices are compared by a call, and nearly everywhere the first word already differs.
        text.windows(self.words.len()).any(|run| run[0] == self.words[0] && run == self.words)
    }
}

/// Returns for each segment the documents that share a fingerprint with a text, ascending.
fn sharing(snapshot: &Snapshot, text: &str, stop: &Stop) -> Result<Vec<Vec<u32>>> {
    let (_, signature) = snapshot.config().sign(text)?;
    let mut keys: Vec<u64> = signature.iter().map(|fingerprint| fingerprint.key).collect();
    keys.sort_unstable();
    keys.dedup();
    let (terms, _) = look_up(snapshot, &keys, stop)?;
    let mut of_segments = Vec::with_capacity(terms.len());
    for (segment, terms) in snapshot.segments().iter().zip(terms) {
        let mut docs = Vec::new();
        for (_, term) in &terms {
            stop.check()?;
            segment.signatures.documents_of(term, &mut docs)?;
        }
        docs.sort_unstable();
        docs.dedup();
        of_segments.push(docs);
    }
    Ok(of_segments)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::super::Filter;
    use crate::index::{Config, Document, Index, Snapshot, WriterOptions};
    use crate::runtime::Stop;

    /// Returns an index with these texts, whose ids are their numbers, in two segments.
    fn snapshot(scheme: &str, texts: &[String]) -> Snapshot {
        let index = Index::in_memory(Config::new(scheme, "words", true).unwrap()).unwrap();
        let options = WriterOptions::default().memory_bytes(0usize).merge(false);
        let mut writer = index.writer(options).unwrap();
        for (number, text) in texts.iter().enumerate() {
            let meta = json!({"odd": number % 2 == 1, "text": "a"});
            let document = Document::new(number.to_string(), text.as_str());
            writer.add(document.with_meta(meta.as_object().unwrap().clone())).unwrap();
            if number == texts.len() / 2 {
                writer.commit().unwrap();
            }
        }
        writer.finish().unwrap();
        index.snapshot().unwrap()
    }

    fn found(snapshot: &Snapshot, filter: &str) -> Vec<usize> {
        let filter = Filter::new(snapshot, filter).unwrap();
        let mut ids = Vec::new();
        for (segment, view) in snapshot.segments().iter().enumerate() {
            let mut docs = view.live().collect();
            filter.retain(segment, &mut docs, Stop::NEVER).unwrap();
            for doc in docs {
                let address = crate::index::DocAddress { segment: segment as u32, doc };
                ids.push(snapshot.id(address).unwrap().parse().unwrap());
            }
        }
        ids.sort_unstable();
        ids
    }

    fn text(words: &[u8]) -> String {
        words.iter().map(|word| format!("W{word}, ")).collect()
    }

    fn words() -> impl Strategy<Value = Vec<u8>> {
        prop::collection::vec(0u8..4, 1..40)
    }

    /// Some guarantee a fingerprint in common from a number of words on, and others never.
    const SCHEMES: [&str; 7] = [
        "winnow(k=3,w=4)",
        "kgram(k=2)",
        "pairs(n=5)",
        "minhash(k=3,b=4,r=2)",
        "extremum(k=3,h=2)",
        "mod(k=3,p=2)",
        "anchor(k=3,p=2)",
    ];

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]
        #[test]
        fn phrases_find_the_documents_with_these_words_in_a_row(
            texts in prop::collection::vec(words(), 1..12),
            (from, len) in (0usize..40, 1usize..14),
            other in words(),
            scheme in prop::sample::select(SCHEMES.to_vec()),
        ) {
            let from = from % texts[0].len();
            let phrase = &texts[0][from..(from + len).min(texts[0].len())];
            let other = &other[..other.len().min(2)];
            let has = |at: usize, run: &[u8]| texts[at].windows(run.len()).any(|own| own == run);
            let written: Vec<String> = texts.iter().map(|words| text(words)).collect();
            let snapshot = snapshot(scheme, &written);
            let all = |is_found: &dyn Fn(usize) -> bool| -> Vec<usize> {
                (0..texts.len()).filter(|&at| is_found(at)).collect()
            };
            let condition = |words: &[u8]| format!("text:\"{}\"", text(words));
            let (a, b) = (condition(phrase), condition(other));
            prop_assert_eq!(found(&snapshot, &a), all(&|at| has(at, phrase)));
            prop_assert_eq!(
                found(&snapshot, &format!("{a} AND {b}")),
                all(&|at| has(at, phrase) && has(at, other))
            );
            prop_assert_eq!(
                found(&snapshot, &format!("{b} OR {a}")),
                all(&|at| has(at, phrase) || has(at, other))
            );
            prop_assert_eq!(
                found(&snapshot, &format!("odd:true AND ({b} OR NOT {a})")),
                all(&|at| at % 2 == 1 && (has(at, other) || !has(at, phrase)))
            );
            prop_assert_eq!(found(&snapshot, &format!("-{a}")), all(&|at| !has(at, phrase)));
        }
    }

    #[test]
    fn other_conditions_on_texts_are_refused() {
        let texts = ["A fire behind\na window.".to_owned(), "It went up".to_owned()];
        let stored = snapshot("winnow(k=3,w=4)", &texts);
        assert_eq!(found(&stored, "text:'Behind a WINDOW'"), [0]);
        assert_eq!(found(&stored, "text:fire OR text:(went up)"), [0, 1]);
        assert_eq!(found(&stored, "meta.text:a"), [0, 1]);
        for filter in
            ["text:win*", "text:[a TO b]", "text:*", "text: IN [fire]", "text:\"went u\"*"]
        {
            let refused = Filter::new(&stored, filter).map(|_| ());
            let error = refused.expect_err(filter).to_string();
            assert!(error.contains("write `text:\"went up\"`"), "{error}");
        }
        let error = Filter::new(&stored, "text:' '").map(|_| ()).unwrap_err().to_string();
        assert!(error.contains("` ` has no words"), "{error}");
        let index = Index::in_memory(Config::new("winnow(k=3,w=4)", "words", false).unwrap());
        let without = index.unwrap().snapshot().unwrap();
        let error = Filter::new(&without, "text:fire").map(|_| ()).unwrap_err().to_string();
        assert!(error.contains("the index stores no texts"), "{error}");
    }
}
