//! Describes a family: its carriers with their dates, places and changes.

use std::collections::HashSet;

use super::Settled;
use super::ends::{Excerpt, settled_versions};
use super::link::Place;
use super::places::length;
use super::version::words;
use crate::chronology::{Chronology, TimeOrder};
use cento::index::{Snapshot, StoredDocument};
use cento_api::error::Result;
use cento_text::compare::place::{line_ends, places_in_parts};
use cento_text::runtime::Stop;

use cento_api::part::part_at;
use cento_api::{Carrier, DateRelation, DirectionBy, Family};

/// The inputs of descriptions.
pub struct Describing<'a> {
    pub snapshot: &'a Snapshot,
    pub documents: &'a Chronology,
    /// The rank of the document that families were requested for.
    pub requested: Option<u32>,
    /// Ranks of documents whose search for passages was cut short.
    pub cut_short: &'a HashSet<u32>,
    pub stop: &'a Stop,
}

impl Describing<'_> {
    /// Describes the family with these places, with 0 as its number.
    ///
    /// # Errors
    /// When a document cannot be read. [`Error::Cancelled`](cento::Error::Cancelled) soon after
    /// `stop`.
    pub fn family(&self, settled: &Settled) -> Result<Family> {
        let Describing { snapshot, documents, cut_short, stop, .. } = *self;
        let analyzer = snapshot.config().analyzer.of_passages();
        let longest = settled.iter().map(|&(_, place)| length(place)).max().unwrap_or(0);
        let (mut carriers, mut excerpts) = (Vec::new(), Vec::new());
        for of_document in settled.chunk_by(|one, other| one.0 == other.0) {
            stop.check()?;
            let rank = of_document[0].0;
            let address = documents.address(rank);
            let StoredDocument { id, text, parts, .. } = snapshot.document(address)?;
            let (text, date) = (text.unwrap_or_default(), documents.date(snapshot, rank)?);
            let places: Vec<Place> = of_document.iter().map(|&(_, place)| place).collect();
            let starts: Vec<u32> = places.iter().map(|place| place.0).collect();
            let on_pages = places_in_parts((&text, &parts), &starts);
            for (at, (&place, (page, line))) in places.iter().zip(on_pages).enumerate() {
                let before = at.checked_sub(1).map(|at| places[at]);
                let after = places.get(at + 1).copied();
                let parted = (&text[..], &parts[..]);
                excerpts.push(Excerpt::new(parted, place, longest / 2, before, after));
                carriers.push(Carrier {
                    id: id.clone(),
                    index: snapshot.name_of(address).map(str::to_owned),
                    date: date.clone(),
                    time: documents.time(rank).map(|time| time.start),
                    start: place.0,
                    end: place.1,
                    part: part_at(&parts, place.0).map(|part| part.name.clone()),
                    page,
                    line,
                    relation: self.relation(rank),
                    version: 0,
                    nearest: None,
                    direction_by: None,
                    similarity: None,
                    changes: Vec::new(),
                });
            }
        }
        let mut versions = 0;
        let found = settled_versions(&mut excerpts, &analyzer, stop)?;
        for ((carrier, found), &(rank, _)) in carriers.iter_mut().zip(found).zip(settled) {
            versions = versions.max(found.number);
            carrier.version = found.number;
            carrier.nearest = found.nearest.map(|at| at as u64 + 1);
            let nearest = found.nearest.map(|at| settled[at].0);
            carrier.direction_by = nearest.and_then(|nearest| self.direction(nearest, rank));
            (carrier.similarity, carrier.changes) = (found.similarity, found.changes);
        }
        for (carrier, excerpt) in carriers.iter_mut().zip(&excerpts) {
            set_place(carrier, excerpt);
        }
        let text = excerpts[0].text().to_owned();
        Ok(Family {
            family: 0,
            documents: document_count(settled),
            tokens: words(&analyzer, &text, stop)?.hashes.len() as u32,
            order: documents.order,
            first_is_certain: is_first_certain(documents, settled),
            versions,
            complete: !settled.iter().any(|(rank, _)| cut_short.contains(rank)),
            text,
            carriers,
        })
    }

    /// Returns how the date of a document relates to the date of the requested document.
    fn relation(&self, rank: u32) -> Option<DateRelation> {
        let other = self.requested.filter(|&requested| requested != rank);
        other.map(|requested| self.documents.relation(rank, requested))
    }

    /// Returns why the nearest carrier is taken to be earlier.
    fn direction(&self, nearest: u32, rank: u32) -> Option<DirectionBy> {
        let by = match self.documents.relation(nearest, rank) {
            DateRelation::Earlier => DirectionBy::Date,
            _ => self.documents.by_addition(nearest, rank),
        };
        (nearest != rank).then_some(by)
    }
}

/// Sets the place of a carrier, which may now begin earlier in its part.
fn set_place(carrier: &mut Carrier, excerpt: &Excerpt) {
    let added = excerpt.until(carrier.start);
    let page_ends = memchr::memchr_iter(b'\x0c', added).count() as u32;
    carrier.page = carrier.page.map(|page| page - page_ends);
    carrier.line = carrier.line.map(|line| line - line_ends(added) as u32);
    (carrier.start, carrier.end) = excerpt.place;
}

/// Counts the documents of places that are sorted by document.
pub fn document_count(places: &Settled) -> u64 {
    places.chunk_by(|one, other| one.0 == other.0).count() as u64
}

/// Tells whether the first document is known to be earlier than every other document.
fn is_first_certain(documents: &Chronology, settled: &Settled) -> bool {
    let first = settled[0].0;
    let mut others = settled.iter().map(|&(rank, _)| rank).filter(|&rank| rank != first);
    documents.order == TimeOrder::Date
        && others.all(|rank| documents.relation(first, rank) == DateRelation::Earlier)
}
