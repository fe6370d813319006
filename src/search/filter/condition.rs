//! The conditions of a filter: fields are looked up by tantivy, and words in the stored texts.

use tantivy::query::{EnableScoring, QueryParser, Weight};
use tantivy::query_grammar::{Occur, UserInputAst, UserInputLeaf};
use tantivy::{DocSet, TERMINATED};

use super::phrase::Phrase;
use super::{TEXT, failed, refused};
use crate::error::Result;
use crate::index::{Snapshot, query_words};
use crate::runtime::Stop;

/// What a document must meet.
pub(super) enum Condition {
    /// A query on fields: one weight per index of the snapshot.
    Fields(Vec<Box<dyn Weight>>),
    /// Words in a row of the text.
    Phrase(Phrase),
    /// Every condition of `wanted`, and no condition of `unwanted`.
    All { wanted: Vec<Condition>, unwanted: Vec<Condition> },
    /// At least one of these conditions.
    Any(Vec<Condition>),
}

impl Condition {
    /// Makes the condition of a part of the filter `text`.
    ///
    /// # Errors
    /// When tantivy or [`Phrase`] refuses it.
    pub(super) fn of(
        snapshot: &Snapshot,
        text: &str,
        parser: &QueryParser,
        ast: UserInputAst,
    ) -> Result<Condition> {
        if !has_phrase(&ast) {
            let query = parser.build_query_from_user_input_ast(ast);
            let query = query.map_err(|e| refused(text, &query_words(&e)))?;
            let weights = snapshot
                .searchers()
                .map(|searcher| query.weight(EnableScoring::disabled_from_searcher(searcher)))
                .collect::<tantivy::Result<_>>();
            return Ok(Condition::Fields(weights.map_err(|e| failed(snapshot, text, e))?));
        }
        let clauses = match ast {
            UserInputAst::Boost(inner, _) => return Condition::of(snapshot, text, parser, *inner),
            UserInputAst::Leaf(leaf) => {
                return match *leaf {
                    UserInputLeaf::Literal(words) => phrase(snapshot, text, &words.phrase),
                    _ => Err(refused(text, NO_PHRASE)),
                };
            }
            UserInputAst::Clause(clauses) => clauses,
        };
        let (mut wanted, mut unwanted, mut any) = (Vec::new(), Vec::new(), Vec::new());
        for (occur, clause) in clauses {
            let condition = Condition::of(snapshot, text, parser, clause)?;
            match occur {
                Some(Occur::Must) => wanted.push(condition),
                Some(Occur::MustNot) => unwanted.push(condition),
                Some(Occur::Should) | None => any.push(condition),
            }
        }
        // As in tantivy: beside a mandatory condition, the remaining conditions are optional.
        if wanted.is_empty() {
            wanted.push(Condition::Any(any));
        }
        // Texts are read last, for the documents that meet everything else.
        wanted.sort_by_key(Condition::reads_texts);
        unwanted.sort_by_key(Condition::reads_texts);
        Ok(Condition::All { wanted, unwanted })
    }

    fn reads_texts(&self) -> bool {
        !matches!(self, Condition::Fields(_))
    }

    /// Keeps only the documents of a segment that meet the condition. `docs` ascend.
    ///
    /// # Errors
    /// When the index cannot be read. [`Error::Cancelled`](crate::Error::Cancelled) soon after
    /// `stop`.
    pub(super) fn retain(
        &self,
        (snapshot, text): (&Snapshot, &str),
        segment: u32,
        docs: &mut Vec<u32>,
        stop: &Stop,
    ) -> Result<()> {
        if docs.is_empty() {
            return Ok(());
        }
        stop.check()?;
        let of = (snapshot, text);
        match self {
            Condition::Fields(weights) => {
                let (part, reader) = snapshot.reader(segment);
                let scorer = weights[part].scorer(reader, 1.0);
                let passing = scorer.map_err(|e| failed(snapshot, text, e))?;
                keep_passing(passing, docs, stop)
            }
            Condition::Phrase(phrase) => phrase.retain(snapshot, segment, docs, stop),
            Condition::All { wanted, unwanted } => {
                for condition in wanted {
                    condition.retain(of, segment, docs, stop)?;
                }
                for condition in unwanted {
                    let mut refused = docs.clone();
                    condition.retain(of, segment, &mut refused, stop)?;
                    docs.retain(|doc| refused.binary_search(doc).is_err());
                }
                Ok(())
            }
            Condition::Any(conditions) => {
                let (mut open, mut passing) = (docs.clone(), Vec::new());
                for condition in conditions {
                    let mut met = open.clone();
                    condition.retain(of, segment, &mut met, stop)?;
                    open.retain(|doc| met.binary_search(doc).is_err());
                    passing.extend(met);
                }
                passing.sort_unstable();
                *docs = passing;
                Ok(())
            }
        }
    }
}

/// Makes the condition of the filter `text` that a text contains these words in a row.
fn phrase(snapshot: &Snapshot, text: &str, words: &str) -> Result<Condition> {
    if !snapshot.config().store_text {
        let why = "the index stores no texts to look for words in; a field of `meta` with this \
                   name is `meta.text`";
        return Err(refused(text, why));
    }
    let found = Phrase::new(snapshot, words, Stop::NEVER)?;
    let why = || format!("`{words}` has no words to look for");
    found.map(Condition::Phrase).ok_or_else(|| refused(text, &why()))
}

/// Keeps only the documents in a set. `docs` ascend.
fn keep_passing(mut passing: impl DocSet, docs: &mut Vec<u32>, stop: &Stop) -> Result<()> {
    let mut at = passing.doc();
    let mut kept = 0;
    for place in 0..docs.len() {
        stop.check_at(place)?;
        let doc = docs[place];
        if at < doc && at != TERMINATED {
            at = passing.seek(doc);
        }
        docs[kept] = doc;
        kept += usize::from(at == doc);
    }
    docs.truncate(kept);
    Ok(())
}

/// Why a range, a set or a prefix of texts is refused.
pub(super) const NO_PHRASE: &str = "`text` looks for words in a row: write `text:\"went up\"`, and \
                                    join several with AND, OR and NOT";

/// Returns whether the filter looks for words in texts.
pub(super) fn has_phrase(ast: &UserInputAst) -> bool {
    match ast {
        UserInputAst::Clause(clauses) => clauses.iter().any(|(_, clause)| has_phrase(clause)),
        UserInputAst::Boost(inner, _) => has_phrase(inner),
        UserInputAst::Leaf(leaf) => field_of(leaf) == Some(TEXT),
    }
}

/// Returns the field of a leaf, if any.
pub(super) fn field_of(leaf: &UserInputLeaf) -> Option<&str> {
    match leaf {
        UserInputLeaf::Literal(literal) => literal.field_name.as_deref(),
        UserInputLeaf::Range { field, .. }
        | UserInputLeaf::Set { field, .. }
        | UserInputLeaf::Regex { field, .. } => field.as_deref(),
        UserInputLeaf::Exists { field } => Some(field),
        UserInputLeaf::All => None,
    }
}
