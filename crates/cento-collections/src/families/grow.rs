//! Families of places, grown along the passages that documents have in common.
//!
//! Single linkage of overlapping places, as in Smith, Cordell and Mullen, "Computational Methods
//! for Uncovering Reprinted Texts in Antebellum Newspapers" (2015), joins passages that have
//! nothing in common: a document that has both, side by side, overlaps each. So a family here has
//! a *founder*, the longest passage of the earliest document that is in no family yet, and each
//! place has a part of the founder that it came from, link by link. A place joins if
//!
//! - its document shares, with one that carries the passage, at least half of the passage as it is
//!   there, and
//! - what came down from the founder is at least half of the founder, by its place and by its
//!   words: if each of two links has 6 words in 10, about 36 in 100 come down by both, and an
//!   archive of tables would else be one family.
//!
//! A link that both documents of a family account for founds no other. One that is much longer than
//! the place founds a family of its own: an article, beside the family of a sentence of it that
//! others quote. The documents of the article also carry the sentence, and so are in both; their
//! place of it is *projected* from the place of the whole, which is an estimate, and joins as the
//! text has it ([`Texts`]). Estimates of estimates would lead away from the passage.
//!
//! The result depends on the set of links, and on the texts, only.

use std::cmp::Reverse;
use std::collections::HashSet;

use super::link::{Link, Place};
use super::places::{Places, SHARE_MIN, common, covers, is_same, length};
use cento_api::error::Result;
use cento_text::runtime::Stop;

/// A link is accounted for by a family if its places have this share of its matched part, or if
/// either has [`SAME_MIN`] of the other: where a passage of many documents begins and ends differs
/// from pair to pair, by a word that both have by chance.
const ACCOUNTED_MIN: f64 = 0.9;

/// Two copied places are one passage if each has this share of the other. Rewritten ones, whose
/// places are whole sentences, are one if each has half.
const SAME_MIN: f64 = 0.66;

/// A passage with a smaller matched part, in per cent, was rewritten. It extends no place: its own
/// places are whole sentences, whatever is reused of them. Nor is a part of it projected, because
/// its words are in another order.
const COPIED_MIN: u8 = 80;

/// A place of a family.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Claim {
    /// The rank of the document.
    pub document: u32,
    pub place: Place,
    /// The part of the place that came down from the founder.
    core: Place,
    /// The part of the founder that it came from, as shares of its length.
    share: (f64, f64),
    /// The part of the words of that part which came down, as far as the links tell: each changes
    /// others.
    kept: f64,
}

impl Claim {
    /// Returns the share of the founder that came down.
    fn of_founder(&self) -> f64 {
        (self.share.1 - self.share.0) * self.kept
    }
}

/// The texts of the documents, which decide on estimated places.
pub trait Texts {
    /// Returns the place near an estimated one that has most of the passage of a founder, which is
    /// a place of a document, and the share of all its words that it has; `None` if the text does
    /// not have half of it there.
    ///
    /// # Errors
    /// When a text cannot be read.
    fn find(
        &mut self,
        founder: (u32, Place),
        estimate: (u32, Place),
    ) -> Result<Option<(Place, f64)>>;
}

/// Groups the places of links, which are sorted, into families, each with its founder first.
///
/// # Errors
/// Those of `texts`; [`Error::Cancelled`](cento::Error::Cancelled) soon after `stop`.
pub fn grow(
    links: &[Link],
    documents: usize,
    texts: &mut dyn Texts,
    stop: &Stop,
) -> Result<Vec<Vec<Claim>>> {
    let graph = Graph::new(links, documents);
    let mut founders: Vec<u32> = (0..links.len() as u32).collect();
    founders.sort_unstable_by_key(|&at| {
        let Link { documents: [a, _], places: [place, _], .. } = links[at as usize];
        (a, Reverse(length(place)), at)
    });
    let mut is_accounted = vec![false; links.len()];
    let mut families = Vec::new();
    for founder in founders {
        if is_accounted[founder as usize] {
            continue;
        }
        let family = graph.family(&links[founder as usize], texts, stop)?;
        graph.account(&family, &mut is_accounted, stop)?;
        is_accounted[founder as usize] = true;
        families.push(family.into_claims());
    }
    Ok(families)
}

/// The links by document, each list a tree of places.
///
/// The entries of a document are in the order of their starts. The middle of a range of them is the
/// root of a tree, whose branches are the entries before and after it.
struct Graph<'a> {
    links: &'a [Link],
    /// Where the entries of each document begin.
    starts: Vec<u32>,
    entries: Vec<Entry>,
}

/// A place of a link in a document.
#[derive(Clone, Copy, Default)]
struct Entry {
    place: Place,
    /// The last end of a place in the tree whose root this entry is.
    last: u32,
    /// The number of the link, times two; plus one for its second document.
    link: u32,
}

impl Entry {
    /// Returns the number of the link, and the side that the place is.
    fn side(self) -> (usize, usize) {
        ((self.link / 2) as usize, (self.link % 2) as usize)
    }
}

impl<'a> Graph<'a> {
    fn new(links: &'a [Link], documents: usize) -> Graph<'a> {
        let mut starts = vec![0; documents + 1];
        for link in links {
            link.documents.iter().for_each(|&document| starts[document as usize + 1] += 1);
        }
        for at in 0..documents {
            starts[at + 1] += starts[at];
        }
        let (mut next, mut entries) = (starts.clone(), vec![Entry::default(); 2 * links.len()]);
        for (at, link) in (0u32..).zip(links) {
            for (side, &document) in (0u32..).zip(&link.documents) {
                let place = link.places[side as usize];
                entries[next[document as usize] as usize] =
                    Entry { place, last: 0, link: 2 * at + side };
                next[document as usize] += 1;
            }
        }
        for of_document in starts.windows(2) {
            let tree = &mut entries[of_document[0] as usize..of_document[1] as usize];
            tree.sort_unstable_by_key(|entry| (entry.place, entry.link));
            set_last(tree);
        }
        Graph { links, starts, entries }
    }

    /// Writes the entries of a document whose places begin at `place.1` or before, and end at
    /// `place.0` or after, to `found`, in the order of their links.
    fn around(&self, document: u32, place: Place, found: &mut Vec<Entry>) {
        let document = document as usize;
        found.clear();
        let tree = self.starts[document] as usize..self.starts[document + 1] as usize;
        add_around(&self.entries[tree], place, found);
        found.sort_unstable_by_key(|entry| entry.link);
    }

    /// Grows a family from a link.
    fn family(&self, founder: &Link, texts: &mut dyn Texts, stop: &Stop) -> Result<Growing> {
        let mut family = Growing::new(founder);
        let (mut next, mut steps, mut around) = (0, 0, Vec::new());
        while next < family.claims.len() {
            let Claim { document, place, .. } = family.claims[next];
            // A place that has half of another has, or touches, its middle.
            let middle = place.0 + length(place) / 2;
            self.around(document, (middle, middle + length(place) % 2), &mut around);
            for &entry in &around {
                stop.check_at(steps)?;
                steps += 1;
                let (at, side) = entry.side();
                family.follow(next, (&self.links[at], side), texts)?;
            }
            next += 1;
        }
        Ok(family)
    }

    /// Marks the links that a family accounts for.
    fn account(&self, family: &Growing, is_accounted: &mut [bool], stop: &Stop) -> Result<()> {
        let has = |link: &Link, side: usize| {
            let place = link.places[side];
            let mut own = family.places.around(link.documents[side], place);
            own.any(|(own, _)| accounts_for(own, place, link.matched))
        };
        let (mut steps, mut around) = (0, Vec::new());
        for claim in &family.claims {
            self.around(claim.document, claim.place, &mut around);
            for &entry in &around {
                stop.check_at(steps)?;
                steps += 1;
                let (at, side) = entry.side();
                if side == 0 && !is_accounted[at] {
                    let link = &self.links[at];
                    is_accounted[at] = has(link, 0) && has(link, 1);
                }
            }
        }
        Ok(())
    }
}

/// Sets the last end of each tree; returns that of the whole.
fn set_last(tree: &mut [Entry]) -> u32 {
    if tree.is_empty() {
        return 0;
    }
    let (before, rest) = tree.split_at_mut(tree.len() / 2);
    let (root, after) = rest.split_first_mut().expect("a tree has a root");
    root.last = root.place.1.max(set_last(before)).max(set_last(after));
    root.last
}

/// Adds the entries of a tree whose places begin at `place.1` or before, and end at `place.0` or
/// after.
fn add_around(tree: &[Entry], place: Place, found: &mut Vec<Entry>) {
    let (before, rest) = tree.split_at(tree.len() / 2);
    let Some((&root, after)) = rest.split_first() else { return };
    if root.last < place.0 {
        return;
    }
    add_around(before, place, found);
    if root.place.0 > place.1 {
        return;
    }
    if root.place.1 >= place.0 {
        found.push(root);
    }
    add_around(after, place, found);
}

/// A family that is not complete yet.
struct Growing {
    /// The founder's document, and its place there.
    founder: (u32, Place),
    claims: Vec<Claim>,
    /// The places of the claims, with their numbers.
    places: Places,
    /// The estimated places that were looked for in the texts.
    looked_for: Places,
}

impl Growing {
    fn new(founder: &Link) -> Growing {
        let mut family = Growing {
            founder: (founder.documents[0], founder.places[0]),
            claims: Vec::new(),
            places: Places::default(),
            looked_for: Places::default(),
        };
        let kept = [1.0, founder.matched_share()];
        for side in [0, 1] {
            let (document, place) = (founder.documents[side], founder.places[side]);
            family.push(Claim {
                document,
                place,
                core: place,
                share: (0.0, 1.0),
                kept: kept[side],
            });
        }
        family
    }

    fn push(&mut self, claim: Claim) {
        self.places.insert(claim.document, claim.place, self.claims.len());
        self.claims.push(claim);
    }

    /// Lets the other document of a link join if the link has most of the place of a claim.
    fn follow(
        &mut self,
        from: usize,
        (link, side): (&Link, usize),
        texts: &mut dyn Texts,
    ) -> Result<()> {
        let (claim, [own, other]) = (self.claims[from], [link.places[side], link.places[1 - side]]);
        if !covers(own, claim.place, SHARE_MIN) {
            return Ok(());
        }
        let Some(core) = common(claim.core, own) else { return Ok(()) };
        let share = project_share(core, claim.core, claim.share);
        let document = link.documents[1 - side];
        if covers(claim.place, own, SHARE_MIN) {
            let (core, kept) = (project(core, own, other), claim.kept * link.matched_share());
            let joined = Claim { document, place: other, core, share, kept };
            match self.known(document, other) {
                None => self.join(joined),
                Some(known) if link.matched >= COPIED_MIN => {
                    self.extend(from, own);
                    self.extend(known, other);
                }
                Some(_) => {}
            }
        } else if link.matched >= COPIED_MIN && share.1 - share.0 >= SHARE_MIN {
            let estimate = project(common(claim.place, own).unwrap_or(core), own, other);
            if self.known(document, estimate).is_some() || !self.note(document, estimate) {
                return Ok(());
            }
            let found = texts.find(self.founder, (document, estimate))?;
            let Some((place, kept)) = found else { return Ok(()) };
            if self.known(document, place).is_none() {
                self.join(Claim { document, place, core: place, share: (0.0, 1.0), kept });
            }
        }
        Ok(())
    }

    /// Takes a claim if at least half of the founder came down to it.
    fn join(&mut self, claim: Claim) {
        if claim.of_founder() >= SHARE_MIN {
            self.push(claim);
        }
    }

    /// Returns the claims, each place once: two can have been extended to the same.
    fn into_claims(self) -> Vec<Claim> {
        let Growing { mut claims, .. } = self;
        let mut known = HashSet::new();
        claims.retain(|claim| known.insert((claim.document, claim.place)));
        claims
    }

    /// Returns the first claim of this place of a document.
    fn known(&self, document: u32, place: Place) -> Option<usize> {
        let around = self.places.around(document, place);
        around.filter(|&(known, _)| is_same(known, place)).map(|(_, at)| at).min()
    }

    /// Tells whether an estimated place was not looked for before, and notes it.
    fn note(&mut self, document: u32, estimate: Place) -> bool {
        let is_new =
            !self.looked_for.around(document, estimate).any(|(one, _)| is_same(one, estimate));
        if is_new {
            self.looked_for.insert(document, estimate, 0);
        }
        is_new
    }

    /// Extends the place of a claim by that of a link, unless it would be mostly text that did not
    /// come down from the founder.
    fn extend(&mut self, at: usize, place: Place) {
        let Claim { document, place: own, core, .. } = self.claims[at];
        let whole = (own.0.min(place.0), own.1.max(place.1));
        if whole != own && f64::from(length(core)) >= SHARE_MIN * f64::from(length(whole)) {
            self.places.replace(document, own, whole, at);
            self.claims[at].place = whole;
        }
    }
}

/// Tells whether a place of a family accounts for that of a link with this matched part.
fn accounts_for(own: Place, place: Place, matched: u8) -> bool {
    let is_rewritten = matched < COPIED_MIN;
    let same_min = if is_rewritten { SHARE_MIN } else { SAME_MIN };
    covers(own, place, ACCOUNTED_MIN * f64::from(matched) / 100.0)
        || (covers(own, place, same_min) && covers(place, own, same_min))
}

/// Returns the part of `to` that a part of `from` corresponds to, if words are as long in both.
fn project(part: Place, from: Place, to: Place) -> Place {
    let scale = |at: u32| {
        let at = u64::from(at - from.0) * u64::from(length(to));
        to.0 + (at / u64::from(length(from))) as u32
    };
    let (start, end) = (scale(part.0), scale(part.1));
    (start.min(to.1 - 1), end.max(start.min(to.1 - 1) + 1))
}

fn project_share(part: Place, from: Place, to: (f64, f64)) -> (f64, f64) {
    let scale = |at: u32| to.0 + f64::from(at - from.0) / f64::from(length(from)) * (to.1 - to.0);
    (scale(part.0), scale(part.1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Texts that have each passage where it is estimated to be.
    struct AsEstimated;

    impl Texts for AsEstimated {
        fn find(
            &mut self,
            _: (u32, Place),
            estimate: (u32, Place),
        ) -> Result<Option<(Place, f64)>> {
            Ok(Some((estimate.1, 1.0)))
        }
    }

    fn grow(links: &[Link], documents: usize) -> Vec<Vec<Claim>> {
        super::grow(links, documents, &mut AsEstimated, Stop::NEVER).unwrap()
    }

    fn link(a: u32, place_a: Place, b: u32, place_b: Place) -> Link {
        Link { documents: [a, b], places: [place_a, place_b], matched: 100 }
    }

    /// The documents and places of each family, in order.
    fn families(mut links: Vec<Link>) -> Vec<Vec<(u32, Place)>> {
        links.sort_unstable();
        let documents = links.iter().map(|link| link.documents[1] as usize + 1).max().unwrap_or(0);
        let grown = grow(&links, documents);
        let mut found: Vec<Vec<_>> = Vec::new();
        for claims in grown {
            let mut places: Vec<_> =
                claims.iter().map(|claim| (claim.document, claim.place)).collect();
            places.sort_unstable();
            found.push(places);
        }
        found
    }

    #[test]
    fn a_neighbour_that_has_two_passages_does_not_join_them() {
        // Document 1 has a passage of 0 and one of 2, side by side.
        let found =
            families(vec![link(0, (0, 100), 1, (0, 100)), link(1, (100, 200), 2, (0, 100))]);
        assert_eq!(
            found,
            [vec![(0, (0, 100)), (1, (0, 100))], vec![(1, (100, 200)), (2, (0, 100))]]
        );
    }

    #[test]
    fn passages_that_slide_along_a_text_are_not_one() {
        // Each document has three quarters of the one before it, and new text.
        let links = (0..8).map(|at| link(at, (100, 400), at + 1, (0, 300))).collect();
        for family in families(links) {
            assert!(family.len() <= 4, "{family:?}");
        }
    }

    #[test]
    fn a_quotation_of_an_article_is_a_family_beside_it() {
        // 0 and 1 have the article, 2 quotes a tenth of it, and only 0 was found to have it.
        let found =
            families(vec![link(0, (0, 1000), 1, (50, 1050)), link(0, (400, 500), 2, (0, 100))]);
        assert_eq!(
            found,
            [
                vec![(0, (0, 1000)), (1, (50, 1050))],
                vec![(0, (400, 500)), (1, (450, 550)), (2, (0, 100))]
            ]
        );
    }

    #[test]
    fn parts_of_a_passage_are_not_families_of_their_own() {
        let found = families(vec![
            link(0, (0, 100), 1, (0, 100)),
            link(0, (0, 80), 2, (10, 90)),
            link(0, (30, 100), 3, (0, 70)),
            link(1, (0, 80), 2, (10, 90)),
            link(2, (40, 90), 3, (0, 50)),
        ]);
        let all = vec![(0, (0, 100)), (1, (0, 100)), (2, (10, 90)), (3, (0, 70))];
        assert_eq!(found, [all]);
    }

    #[test]
    fn a_later_version_joins_by_the_one_between() {
        // 2 has little of 0, but most of 1.
        let found = families(vec![link(0, (0, 100), 1, (5, 105)), link(1, (0, 105), 2, (7, 112))]);
        assert_eq!(found, [vec![(0, (0, 100)), (1, (0, 105)), (2, (7, 112))]]);
    }

    #[test]
    fn passages_that_have_half_of_the_words_of_one_another_are_not_one() {
        // Each document has two thirds of the words of the one before it, in a passage as long.
        let link = |at| Link { matched: 66, ..link(at, (0, 100), at + 1, (0, 100)) };
        for family in families((0..8).map(link).collect()) {
            assert!(family.len() <= 3, "{family:?}");
        }
    }

    #[test]
    fn a_rewritten_passage_neither_extends_a_copied_one_nor_is_another() {
        // Between 1 and 2 whole sentences were found; 60 in 100 of their words are the passage.
        let rewritten = Link { matched: 60, ..link(1, (0, 160), 2, (0, 160)) };
        let found = families(vec![
            link(0, (0, 100), 1, (0, 100)),
            link(0, (0, 100), 2, (60, 160)),
            rewritten,
        ]);
        assert_eq!(found, [vec![(0, (0, 100)), (1, (0, 100)), (2, (60, 160))]]);
    }

    #[test]
    fn a_part_of_a_rewritten_passage_is_not_projected() {
        // 0 and 1 have the article in other words, 2 quotes a tenth of it from 0.
        let rewritten = Link { matched: 60, ..link(0, (0, 1000), 1, (50, 1050)) };
        let found = families(vec![rewritten, link(0, (400, 500), 2, (0, 100))]);
        assert_eq!(
            found,
            [vec![(0, (0, 1000)), (1, (50, 1050))], vec![(0, (400, 500)), (2, (0, 100))]]
        );
    }

    proptest! {
        #[test]
        fn links_around_a_place_are_those_that_begin_before_its_end_and_end_after_its_start(
            links in prop::collection::vec(
                (0u32..4, 0u32..40, 1u32..30, 0u32..40, 1u32..30).prop_map(
                    |(a, at, len, to, other)| link(a, (at, at + len), 4, (to, to + other)),
                ),
                0..40,
            ),
            start in 0u32..60,
            length in 0u32..20,
        ) {
            let graph = Graph::new(&links, 5);
            let (place, mut found) = ((start, start + length), Vec::new());
            for document in 0..5 {
                graph.around(document, place, &mut found);
                let found: Vec<_> = found.iter().map(|entry| entry.side()).collect();
                let sides = (0..links.len()).flat_map(|at| [(at, 0), (at, 1)]);
                let expected: Vec<_> = sides
                    .filter(|&(at, side)| {
                        let own = links[at].places[side];
                        links[at].documents[side] == document
                            && own.0 <= place.1
                            && own.1 >= place.0
                    })
                    .collect();
                prop_assert_eq!(found, expected);
            }
        }

        #[test]
        fn every_link_is_in_a_family_and_every_place_is_linked_to_another(
            some in prop::collection::vec(
                (0u32..6, 0u32..6, 0u32..30, 1u32..20, 0u32..30, 1u32..20), 0..25,
            ),
            turned: bool,
        ) {
            let mut links: Vec<Link> = some
                .into_iter()
                .filter(|(a, b, ..)| a < b)
                .map(|(a, b, at, len, to, other)| link(a, (at, at + len), b, (to, to + other)))
                .collect();
            links.sort_unstable();
            links.dedup();
            let grown = grow(&links, 6);
            for link in &links {
                let has = |claims: &[Claim], side: usize| claims.iter().any(|claim| {
                    claim.document == link.documents[side]
                        && accounts_for(claim.place, link.places[side], link.matched)
                });
                let is_in_one = grown.iter().any(|claims| has(claims, 0) && has(claims, 1));
                prop_assert!(is_in_one, "{:?}", link);
            }
            for claims in &grown {
                prop_assert!(claims.len() >= 2);
                for claim in claims {
                    // Half of the founder came down to it, and it is on a link.
                    prop_assert!(claim.of_founder() >= SHARE_MIN);
                    let is_linked = links.iter().any(|link| (0..2).any(|side| {
                        link.documents[side] == claim.document
                            && common(link.places[side], claim.place).is_some()
                    }));
                    prop_assert!(is_linked);
                }
                for (at, one) in claims.iter().enumerate() {
                    let again = claims[at + 1..].iter().filter(|other| {
                        other.document == one.document && other.place == one.place
                    });
                    prop_assert_eq!(again.count(), 0);
                }
            }
            // The order of the links does not matter.
            if turned {
                links.reverse();
            }
            let mut again = links.clone();
            again.sort_unstable();
            prop_assert_eq!(grow(&again, 6), grown);
        }
    }
}
