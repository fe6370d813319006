//! Finds passages that a document repeats.
//!
//! If two documents have a passage twice, with different text in between, they seem to share one
//! long passage: the passage, the text in between, and the passage again. If only one document
//! repeats the passage, the other document has a single place. So repeated passages are searched
//! for within every document. They become links of the document with itself, and a link around two
//! of their places is divided at the ends of the places. The link stays whole if the text in
//! between is shared too, as in the copy of a song with its refrain.
//!
//! Programs are exempt, because their passages are runs of equal tokens without anything in
//! between.

use std::collections::HashMap;

use super::link::{PassageLink, PassageLinks, Place, of_pair};
use super::places::{covers, length};
use super::request::Request;
use crate::chronology::Chronology;
use cento::search::Texts;
use cento_api::error::{Error, Result};
use cento_text::compare::passages::{Genre, between, tokens_in};
use cento_text::runtime::ordered::in_order;
use cento_text::text::{Side, Tokens};

/// A link is divided if its pieces share less than this part of it, because the text in between was
/// not reused.
const SHARED_MIN: f64 = 0.8;

/// A place has a repeated passage if it covers this share of the passage.
const HELD_MIN: f64 = 0.9;

/// The maximum number of pieces of a place. Every piece is compared with every piece on the
/// opposite side.
const PIECES_MAX: usize = 24;

/// The number of documents, or of pairs of documents, that a thread examines at a time.
const AT_ONCE: usize = 16;

/// The places of repeated passages by document, in the order of the text.
type Repeats = HashMap<u32, Vec<Place>>;

/// Adds the links of documents with themselves, and divides links around two places of a passage.
///
/// # Errors
/// When the links take too much memory, or a file is damaged. [`Error::Cancelled`] soon after the
/// search was stopped.
pub fn divide(
    found: &mut PassageLinks,
    request: &Request<'_>,
    documents: &Chronology,
) -> Result<()> {
    let analyzer = &request.searcher.snapshot().config().analyzer;
    if found.links.is_empty() || Genre::of(analyzer) == Genre::Program {
        return Ok(());
    }
    let (own_links, repeats) = repeats(found, request, documents)?;
    if repeats.is_empty() {
        return Ok(());
    }
    let (around, kept): (Vec<PassageLink>, Vec<PassageLink>) =
        found.links.drain(..).partition(|link| is_around_two(link, &repeats));
    found.links = kept;
    found.links.extend(own_links);
    let of_pairs: Vec<&[PassageLink]> =
        around.chunk_by(|one, other| one.documents == other.documents).collect();
    let work = |part: u64| {
        let mut texts = request.texts()?;
        let first = part as usize * AT_ONCE;
        let some = &of_pairs[first..of_pairs.len().min(first + AT_ONCE)];
        let divided =
            some.iter().map(|links| of_links(links, &repeats, &mut texts, request, documents));
        divided.collect::<Result<Vec<_>>>()
    };
    let (parts, mut failed) = (of_pairs.len().div_ceil(AT_ONCE) as u64, None);
    in_order(request.threads, 0..parts, request.stop, &work, &mut |_, some| {
        for (links, cut) in some {
            found.links.extend(links);
            found.cut(cut);
        }
        found.check(request.memory_bytes).map_err(|error| {
            failed = Some(error);
            Error::Cancelled
        })
    })
    .map_err(|error| failed.take().unwrap_or(error))?;
    found.links.sort_unstable();
    found.links.dedup();
    Ok(())
}

/// Returns the links of documents with themselves, and the places of these passages.
fn repeats(
    found: &mut PassageLinks,
    request: &Request<'_>,
    documents: &Chronology,
) -> Result<(Vec<PassageLink>, Repeats)> {
    let mut ranks: Vec<u32> = found.links.iter().flat_map(|link| link.documents).collect();
    ranks.sort_unstable();
    ranks.dedup();
    let min_passage = request.options.min_passage;
    let work = |part: u64| {
        let mut texts = request.texts()?;
        let first = part as usize * AT_ONCE;
        let of_document = |&rank: &u32| {
            let passages = texts.repeated(documents.address(rank), request.stop)?;
            let passages = passages.of_at_least(min_passage);
            let query = texts.query();
            let links = query.map(|query| of_pair(rank, rank, &passages, query, min_passage));
            Ok((rank, passages.complete, links.unwrap_or_default()))
        };
        let some = &ranks[first..ranks.len().min(first + AT_ONCE)];
        some.iter().map(of_document).collect::<Result<Vec<_>>>()
    };
    let (mut links, mut repeats) = (Vec::new(), Repeats::new());
    let parts = ranks.len().div_ceil(AT_ONCE) as u64;
    in_order(request.threads, 0..parts, request.stop, &work, &mut |_, some| {
        for (rank, is_complete, own) in some {
            if !is_complete {
                found.cut([rank]);
            }
            if !own.is_empty() {
                let mut places: Vec<Place> = own.iter().flat_map(|link| link.places).collect();
                places.sort_unstable();
                places.dedup();
                repeats.insert(rank, places);
                links.extend(own);
            }
        }
        Ok(())
    })?;
    Ok((links, repeats))
}

/// Returns the repeated passages inside a place, without overlaps, in order.
fn held(place: Place, repeats: Option<&Vec<Place>>) -> Vec<Place> {
    let mut held: Vec<Place> = Vec::new();
    for &repeated in repeats.into_iter().flatten() {
        let is_apart = held.last().is_none_or(|last| last.1 <= repeated.0);
        if is_apart && covers(place, repeated, HELD_MIN) {
            held.push((repeated.0.max(place.0), repeated.1.min(place.1)));
        }
    }
    held
}

fn is_around_two(link: &PassageLink, repeats: &Repeats) -> bool {
    let mut sides = link.documents.iter().zip(link.places);
    sides.any(|(document, place)| held(place, repeats.get(document)).len() > 1)
}

/// Cuts a place at the ends of the repeated passages inside.
fn pieces(place: Place, repeats: Option<&Vec<Place>>) -> Vec<Place> {
    let held = held(place, repeats);
    if held.len() < 2 {
        return vec![place];
    }
    let (mut pieces, mut from) = (Vec::new(), place.0);
    for (start, end) in held {
        pieces.extend([(from, start), (start, end)]);
        from = end;
    }
    pieces.push((from, place.1));
    pieces.retain(|piece| piece.0 < piece.1);
    pieces
}

/// Divides the links of a pair of documents that are around two places of a passage. Also returns
/// the documents that may have further links.
fn of_links(
    links: &[PassageLink],
    repeats: &Repeats,
    texts: &mut Texts<'_>,
    request: &Request<'_>,
    documents: &Chronology,
) -> Result<(Vec<PassageLink>, Vec<u32>)> {
    let Request { options, stop, .. } = *request;
    let genre = Genre::of(&request.searcher.snapshot().config().analyzer);
    let (mut divided, mut cut) = (Vec::new(), Vec::new());
    for link in links {
        let [a, b] = link.documents;
        let of_sides = [0, 1].map(|at| pieces(link.places[at], repeats.get(&link.documents[at])));
        if of_sides.iter().any(|pieces| pieces.len() > PIECES_MAX) {
            divided.push(*link);
            cut.extend(link.documents);
            continue;
        }
        let [one, other] = texts.pair(documents.address(a), documents.address(b), stop)?;
        let [own, its] = [(&one, &of_sides[0]), (&other, &of_sides[1])].map(|(text, pieces)| {
            pieces.iter().map(|&piece| part_of(&text.tokens, piece)).collect::<Vec<_>>()
        });
        let mut found: Vec<PassageLink> = Vec::new();
        for tokens in &own {
            for others in &its {
                let query = Side { tokens, ..one.side() };
                let document = Side { tokens: others, ..other.side() };
                let passages = between(query, document, genre, stop)?;
                if !passages.complete {
                    cut.extend(link.documents);
                }
                let passages = passages.of_at_least(options.min_passage);
                found.extend(of_pair(a, b, &passages, tokens, options.min_passage));
            }
        }
        let is_shared = |side: usize| {
            let places = found.iter().map(|link| link.places[side]).collect();
            let shared = f64::from(covered(places));
            shared >= SHARED_MIN * f64::from(length(link.places[side]))
        };
        match is_shared(0) && is_shared(1) {
            true => divided.push(*link),
            false => divided.extend(found),
        }
    }
    Ok((divided, cut))
}

fn part_of(tokens: &Tokens, place: Place) -> Tokens {
    let range = tokens_in(tokens, place);
    let range = range.start as usize..range.end as usize;
    Tokens { hashes: tokens.hashes[range.clone()].to_vec(), spans: tokens.spans[range].to_vec() }
}

/// Returns the number of bytes in any of the places.
fn covered(mut places: Vec<Place>) -> u32 {
    places.sort_unstable();
    let (mut covered, mut end) = (0, 0);
    for place in places {
        covered += place.1.saturating_sub(place.0.max(end));
        end = end.max(place.1);
    }
    covered
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_cut_at_the_ends_of_the_repeated_passages_that_it_has() {
        let repeats = vec![(10, 40), (12, 40), (60, 90), (95, 120)];
        let check = |place: Place, expected: &[Place]| {
            assert_eq!(pieces(place, Some(&repeats)), expected, "{place:?}");
        };
        check((0, 100), &[(0, 10), (10, 40), (40, 60), (60, 90), (90, 100)]);
        check((11, 90), &[(11, 40), (40, 60), (60, 90)]);
        check((30, 90), &[(30, 90)]);
        assert_eq!(pieces((0, 100), None), [(0, 100)]);
    }

    #[test]
    fn bytes_of_places_that_overlap_count_once() {
        assert_eq!(covered(vec![(20, 30), (0, 10), (5, 12), (21, 22)]), 22);
    }
}
