//! Which documents share fingerprints with the query, and how many?
//!
//! Counting by list: every document of every posting list of the query gets one, in a dense
//! counter per segment. Lists of stop-fingerprints come last and count only for documents that
//! have been met already, so they cost no candidates.

use std::collections::HashSet;

use tantivy::collector::DocSetCollector;
use tantivy::query::QueryParser;
use tantivy::query_grammar::{UserInputAst, UserInputLeaf, parse_query};

use super::Allowed;
use crate::error::{Error, Result};
use crate::index::{DocAddress, SegmentView, Snapshot};
use crate::segment::Term;

/// The documents that share fingerprints with a query.
pub struct Candidates {
    /// The number of stop-fingerprints of the query.
    pub stopped: u32,
    /// Each live document that shares a fingerprint which is no stop-fingerprint.
    pub counted: Vec<Counted>,
}

/// A document and how many fingerprints it shares with the query.
#[derive(Debug, Clone, Copy)]
pub struct Counted {
    /// The document.
    pub address: DocAddress,
    /// Distinct fingerprints in common.
    pub overlap: u32,
}

/// The candidates for the distinct, ascending `keys`; only those in `allowed` if there is a
/// filter.
pub fn find(
    snapshot: &Snapshot,
    keys: &[u64],
    max_df: u64,
    allowed: Option<&[HashSet<u32>]>,
) -> Result<Candidates> {
    let segments = snapshot.segments();
    // All dictionaries first: whether a fingerprint is stopped depends on its df in the whole
    // index. A limit for each segment would lose most hits of an index with several.
    let mut dfs = vec![0u64; keys.len()];
    let mut terms: Vec<Vec<(usize, Term<'_>)>> = Vec::with_capacity(segments.len());
    for segment in segments {
        let mut found = Vec::new();
        for (i, &key) in keys.iter().enumerate() {
            if let Some(term) = segment.signatures.find(key)? {
                dfs[i] += u64::from(term.df());
                found.push((i, term));
            }
        }
        terms.push(found);
    }
    leave_out_deleted(segments, &terms, max_df, &mut dfs)?;
    let is_stopped = |i: usize| dfs[i] > max_df;
    let mut counted = Vec::new();
    for (at, (segment, terms)) in (0u32..).zip(segments.iter().zip(&terms)) {
        let counts = count(segment, terms, is_stopped)?;
        counted.extend(counts.into_iter().filter_map(|(doc, overlap)| {
            let passes = allowed.is_none_or(|allowed| allowed[at as usize].contains(&doc));
            let address = DocAddress { segment: at, doc };
            (passes && segment.is_alive(doc)).then_some(Counted { address, overlap })
        }));
    }
    let stopped = (0..keys.len()).filter(|&i| is_stopped(i)).count() as u32;
    Ok(Candidates { stopped, counted })
}

/// Takes deleted documents out of the dfs for which that decides whether they exceed `max_df`.
///
/// So what is stopped depends on the documents in the index, not on when it was compacted.
fn leave_out_deleted(
    segments: &[SegmentView],
    terms: &[Vec<(usize, Term<'_>)>],
    max_df: u64,
    dfs: &mut [u64],
) -> Result<()> {
    let deleted: u64 = segments.iter().map(|segment| u64::from(segment.deleted_documents())).sum();
    let is_close = |df: u64| df > max_df && df.saturating_sub(deleted) <= max_df;
    let close: Vec<bool> = dfs.iter().map(|&df| is_close(df)).collect();
    let mut docs = Vec::new();
    for (segment, terms) in segments.iter().zip(terms).filter(|(s, _)| s.deleted_documents() > 0) {
        for (i, term) in terms.iter().filter(|(i, _)| close[*i]) {
            docs.clear();
            segment.signatures.documents_of(term, &mut docs)?;
            dfs[*i] -= docs.iter().filter(|&&doc| !segment.is_alive(doc)).count() as u64;
        }
    }
    Ok(())
}

/// The documents of one segment that hold a term which is not stopped, and how many terms.
fn count(
    segment: &SegmentView,
    terms: &[(usize, Term<'_>)],
    is_stopped: impl Fn(usize) -> bool,
) -> Result<Vec<(u32, u32)>> {
    let mut counters = vec![0u32; segment.signatures.header().documents as usize];
    let (mut touched, mut docs) = (Vec::new(), Vec::new());
    for (_, term) in terms.iter().filter(|(i, _)| !is_stopped(*i)) {
        docs.clear();
        segment.signatures.documents_of(term, &mut docs)?;
        for &doc in &docs {
            let counter = &mut counters[doc as usize];
            if *counter == 0 {
                touched.push(doc);
            }
            *counter += 1;
        }
    }
    if !touched.is_empty() {
        for (_, term) in terms.iter().filter(|(i, _)| is_stopped(*i)) {
            docs.clear();
            segment.signatures.documents_of(term, &mut docs)?;
            for &doc in &docs {
                let counter = &mut counters[doc as usize];
                *counter += u32::from(*counter > 0);
            }
        }
    }
    Ok(touched.into_iter().map(|doc| (doc, counters[doc as usize])).collect())
}

/// The documents that match a tantivy query; a field that the index does not have is one of
/// `meta`.
pub fn filter(snapshot: &Snapshot, filter: &str) -> Result<Allowed> {
    let refused =
        |why: String| Error::Query { what: format!("the filter `{filter}` cannot be used: {why}") };
    let searcher = snapshot.tantivy();
    let schema = searcher.schema();
    let meta = schema.get_field(META).map_err(|e| refused(e.to_string()))?;
    let mut ast = parse_query(filter).map_err(|_| refused("it is no query".into()))?;
    qualify(&mut ast, &|field| {
        let name = field.split('.').next().unwrap_or(field);
        schema.get_field(name).is_err()
    });
    let parser = QueryParser::for_index(searcher.index(), vec![meta]);
    let query = parser.build_query_from_user_input_ast(ast).map_err(|e| refused(e.to_string()))?;
    let matches = searcher.search(&query, &DocSetCollector).map_err(|e| refused(e.to_string()))?;
    let mut allowed = vec![HashSet::new(); snapshot.segments().len()];
    for address in matches {
        allowed[address.segment_ord as usize].insert(address.doc_id);
    }
    Ok(allowed)
}

/// The field with what the caller knows of a document.
const META: &str = "meta";

/// Puts `meta.` before the fields of a query that the index does not have.
fn qualify(ast: &mut UserInputAst, is_unknown: &dyn Fn(&str) -> bool) {
    let leaf = match ast {
        UserInputAst::Clause(clauses) => {
            return clauses.iter_mut().for_each(|(_, clause)| qualify(clause, is_unknown));
        }
        UserInputAst::Boost(inner, _) => return qualify(inner, is_unknown),
        UserInputAst::Leaf(leaf) => leaf.as_mut(),
    };
    let field = match leaf {
        UserInputLeaf::Literal(literal) => literal.field_name.as_mut(),
        UserInputLeaf::Range { field, .. }
        | UserInputLeaf::Set { field, .. }
        | UserInputLeaf::Regex { field, .. } => field.as_mut(),
        UserInputLeaf::Exists { field } => Some(field),
        UserInputLeaf::All => None,
    };
    if let Some(field) = field.filter(|field| is_unknown(field)) {
        *field = format!("{META}.{field}");
    }
}
