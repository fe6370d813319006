//! Grows families of places along the passages that documents share.
//!
//! Single linkage of overlapping places, as in Smith, Cordell and Mullen, "Computational Methods
//! for Uncovering Reprinted Texts in Antebellum Newspapers" (2015), joins unrelated passages: a
//! document with two passages side by side overlaps both. So a family here has a *founder*, the
//! longest passage of the earliest document without a family. Every place descends from a part of
//! the founder, link by link. A place joins if
//!
//! - its document shares at least half of the passage with a carrier, as the carrier has it, and
//! - at least half of the founder came down, by place and by words. If two links keep 6 words in 10
//!   each, about 36 in 100 come down by both. Without this condition, an archive of tables would be
//!   one family.
//!
//! A link founds no further family if a family accounts for both of its documents. A link much
//! longer than the place founds a family of its own: an article, beside the family of a sentence
//! quoted from the article. The documents of the article carry the sentence as well, so they are in
//! both families. Their place of the sentence is *projected* from the place of the article. As
//! estimates of estimates would drift away from the passage, the text decides where a projected
//! place is ([`Texts`]).
//!
//! The result depends only on the set of links and on the texts.

use std::cmp::Reverse;
use std::collections::HashSet;

use super::link::{DocumentPlace, PassageLink, Place};
use super::places::{Places, SHARE_MIN, common, covers, is_same, length};
use cento_api::error::Result;
use cento_text::runtime::Stop;

/// A family accounts for a link if its places have this share of the link's matched part, or if a
/// place and the link's place have [`SAME_MIN`] in common on both sides. The ends of a passage of
/// many documents differ from pair to pair, by words that agree by chance.
const ACCOUNTED_MIN: f64 = 0.9;

/// The minimum share of the shorter and of the longer place if two copied places are one passage.
/// For rewritten places, which are whole sentences, half is enough.
const SAME_MIN: f64 = 0.66;

/// A passage with a smaller matched part, in per cent, was rewritten. Its places are whole
/// sentences, however little is reused, so the passage extends no place. The words are in a
/// different order, so no part of the passage is projected.
const COPIED_MIN: u8 = 80;

/// A place of a family.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Claim {
    /// The rank of the document in time.
    pub document: u32,
    pub place: Place,
    /// The part of the place that came down from the founder.
    core: Place,
    /// The part of the founder that came down, as a range of shares of its length.
    share: (f64, f64),
    /// The share of words that came down within `share`, if every link changes different words.
    kept: f64,
}

impl Claim {
    /// Returns the part of the founder that came down to a part of `core`.
    fn share_of(&self, part: Place) -> (f64, f64) {
        let Claim { core, share: (start, end), .. } = *self;
        let scale =
            |at: u32| start + f64::from(at - core.0) / f64::from(length(core)) * (end - start);
        (scale(part.0), scale(part.1))
    }

    /// Returns the share of the founder that came down.
    fn of_founder(&self) -> f64 {
        (self.share.1 - self.share.0) * self.kept
    }
}

/// The texts of the documents, which decide on estimated places.
pub trait Texts {
    /// Returns the place near `estimate` that has most of the founder's passage, and the share of
    /// the passage's words there. Returns `None` if the text has less than half of the passage
    /// there.
    ///
    /// # Errors
    /// When a text cannot be read.
    fn find(
        &mut self,
        founder: DocumentPlace,
        estimate: DocumentPlace,
    ) -> Result<Option<(Place, f64)>>;
}

/// Groups the places of sorted links into families, each with its founder first.
///
/// # Errors
/// The errors of `texts`. [`Error::Cancelled`](cento::Error::Cancelled) soon after `stop`.
pub fn grow(
    links: &[PassageLink],
    documents: usize,
    texts: &mut dyn Texts,
    stop: &Stop,
) -> Result<Vec<Vec<Claim>>> {
    let graph = LinkGraph::new(links, documents);
    let mut founders: Vec<u32> = (0..links.len() as u32).collect();
    founders.sort_unstable_by_key(|&at| {
        let PassageLink { documents: [a, _], places: [place, _], .. } = links[at as usize];
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

/// The links by document, with a tree of places for each document.
///
/// The entries of a document are sorted by start. The middle entry of a range is the root of a
/// tree, and the entries before and after the root are its branches.
struct LinkGraph<'a> {
    links: &'a [PassageLink],
    starts: Vec<u32>,
    entries: Vec<LinkEntry>,
}

/// A place of a link in a document.
#[derive(Clone, Copy, Default)]
struct LinkEntry {
    place: Place,
    /// The greatest end of a place in the tree below this entry.
    last: u32,
    /// Twice the number of the link, plus one for the link's second document.
    link: u32,
}

impl LinkEntry {
    /// Returns the number of the link, and the side of the place.
    fn side(self) -> (usize, usize) {
        ((self.link / 2) as usize, (self.link % 2) as usize)
    }
}

impl<'a> LinkGraph<'a> {
    fn new(links: &'a [PassageLink], documents: usize) -> LinkGraph<'a> {
        let mut starts = vec![0; documents + 1];
        for link in links {
            link.documents.iter().for_each(|&document| starts[document as usize + 1] += 1);
        }
        for at in 0..documents {
            starts[at + 1] += starts[at];
        }
        let (mut next, mut entries) = (starts.clone(), vec![LinkEntry::default(); 2 * links.len()]);
        for (at, link) in (0u32..).zip(links) {
            for (side, &document) in (0u32..).zip(&link.documents) {
                let place = link.places[side as usize];
                entries[next[document as usize] as usize] =
                    LinkEntry { place, last: 0, link: 2 * at + side };
                next[document as usize] += 1;
            }
        }
        for of_document in starts.windows(2) {
            let tree = &mut entries[of_document[0] as usize..of_document[1] as usize];
            tree.sort_unstable_by_key(|entry| (entry.place, entry.link));
            set_last(tree);
        }
        LinkGraph { links, starts, entries }
    }

    /// Finds the entries of a document that begin at `place.1` or before and end at `place.0` or
    /// after, in the order of their links.
    fn around(&self, document: u32, place: Place, found: &mut Vec<LinkEntry>) {
        let document = document as usize;
        found.clear();
        let tree = self.starts[document] as usize..self.starts[document + 1] as usize;
        add_around(&self.entries[tree], place, found);
        found.sort_unstable_by_key(|entry| entry.link);
    }

    fn family(&self, founder: &PassageLink, texts: &mut dyn Texts, stop: &Stop) -> Result<Growing> {
        let mut family = Growing::new(founder);
        let (mut next, mut steps, mut around) = (0, 0, Vec::new());
        while next < family.claims.len() {
            let Claim { document, place, .. } = family.claims[next];
            // A place with half of a second place has, or touches, the middle of the second place.
            let middle = place.0 + length(place) / 2;
            self.around(document, (middle, middle + length(place) % 2), &mut around);
            for &entry in &around {
                stop.check_at(steps)?;
                steps += 1;
                let (at, side) = entry.side();
                family.follow(next, &self.links[at], side, texts)?;
            }
            next += 1;
        }
        Ok(family)
    }

    /// Marks the links that a family accounts for.
    fn account(&self, family: &Growing, is_accounted: &mut [bool], stop: &Stop) -> Result<()> {
        let has = |link: &PassageLink, side: usize| {
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

/// Sets the greatest end of each subtree, and returns the greatest end of the whole tree.
fn set_last(tree: &mut [LinkEntry]) -> u32 {
    if tree.is_empty() {
        return 0;
    }
    let (before, rest) = tree.split_at_mut(tree.len() / 2);
    let (root, after) = rest.split_first_mut().expect("a tree has a root");
    root.last = root.place.1.max(set_last(before)).max(set_last(after));
    root.last
}

/// Adds the entries of a tree that begin at `place.1` or before and end at `place.0` or after.
fn add_around(tree: &[LinkEntry], place: Place, found: &mut Vec<LinkEntry>) {
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

/// A family that is still growing.
struct Growing {
    founder: DocumentPlace,
    claims: Vec<Claim>,
    /// The places of the claims, with the numbers of the claims.
    places: Places,
    /// Estimated places that were searched for in the texts before.
    looked_for: Places,
}

impl Growing {
    fn new(founder: &PassageLink) -> Growing {
        let mut family = Growing {
            founder: DocumentPlace { document: founder.documents[0], place: founder.places[0] },
            claims: Vec::new(),
            places: Places::default(),
            looked_for: Places::default(),
        };
        let kept = [1.0, founder.matched_share()];
        for side in [0, 1] {
            let (document, place) = (founder.documents[side], founder.places[side]);
            let kept = kept[side];
            family.push(Claim { document, place, core: place, share: (0.0, 1.0), kept });
        }
        family
    }

    fn push(&mut self, claim: Claim) {
        self.places.insert(claim.document, claim.place, self.claims.len());
        self.claims.push(claim);
    }

    /// Lets the second document of a link join if the link has most of a claim's place.
    fn follow(
        &mut self,
        from: usize,
        link: &PassageLink,
        side: usize,
        texts: &mut dyn Texts,
    ) -> Result<()> {
        let (claim, [own, other]) = (self.claims[from], [link.places[side], link.places[1 - side]]);
        if !covers(own, claim.place, SHARE_MIN) {
            return Ok(());
        }
        let Some(core) = common(claim.core, own) else { return Ok(()) };
        let share = claim.share_of(core);
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
            let estimate = DocumentPlace { document, place: estimate };
            let found = texts.find(self.founder, estimate)?;
            let Some((place, kept)) = found else { return Ok(()) };
            if self.known(document, place).is_none() {
                self.join(Claim { document, place, core: place, share: (0.0, 1.0), kept });
            }
        }
        Ok(())
    }

    /// Adds a claim if at least half of the founder came down.
    fn join(&mut self, claim: Claim) {
        if claim.of_founder() >= SHARE_MIN {
            self.push(claim);
        }
    }

    /// Returns the claims without repeated places, which extensions can produce.
    fn into_claims(self) -> Vec<Claim> {
        let Growing { mut claims, .. } = self;
        let mut known = HashSet::new();
        claims.retain(|claim| known.insert((claim.document, claim.place)));
        claims
    }

    /// Returns the first claim that has this place of a document.
    fn known(&self, document: u32, place: Place) -> Option<usize> {
        let around = self.places.around(document, place);
        around.filter(|&(known, _)| is_same(known, place)).map(|(_, at)| at).min()
    }

    /// Tells whether an estimated place is new, and remembers it.
    fn note(&mut self, document: u32, estimate: Place) -> bool {
        let is_new =
            !self.looked_for.around(document, estimate).any(|(one, _)| is_same(one, estimate));
        if is_new {
            self.looked_for.insert(document, estimate, 0);
        }
        is_new
    }

    /// Extends the place of a claim by the place of a link, unless less than half of the result
    /// would have come down from the founder.
    fn extend(&mut self, at: usize, place: Place) {
        let Claim { document, place: own, core, .. } = self.claims[at];
        let whole = (own.0.min(place.0), own.1.max(place.1));
        if whole != own && f64::from(length(core)) >= SHARE_MIN * f64::from(length(whole)) {
            self.places.replace(document, own, whole, at);
            self.claims[at].place = whole;
        }
    }
}

/// Tells whether a place of a family accounts for a link's place with this matched part.
fn accounts_for(own: Place, place: Place, matched: u8) -> bool {
    let is_rewritten = matched < COPIED_MIN;
    let same_min = if is_rewritten { SHARE_MIN } else { SAME_MIN };
    covers(own, place, ACCOUNTED_MIN * f64::from(matched) / 100.0)
        || (covers(own, place, same_min) && covers(place, own, same_min))
}

/// Returns the part of `to` that corresponds to a part of `from`, if words are equally long in
/// both.
fn project(part: Place, from: Place, to: Place) -> Place {
    let scale = |at: u32| {
        let at = u64::from(at - from.0) * u64::from(length(to));
        to.0 + (at / u64::from(length(from))) as u32
    };
    let (start, end) = (scale(part.0), scale(part.1));
    (start.min(to.1 - 1), end.max(start.min(to.1 - 1) + 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Texts with every passage at its estimated place.
    struct AsEstimated;

    impl Texts for AsEstimated {
        fn find(
            &mut self,
            _: DocumentPlace,
            estimate: DocumentPlace,
        ) -> Result<Option<(Place, f64)>> {
            Ok(Some((estimate.place, 1.0)))
        }
    }

    fn grow(links: &[PassageLink], documents: usize) -> Vec<Vec<Claim>> {
        super::grow(links, documents, &mut AsEstimated, Stop::NEVER).unwrap()
    }

    fn link(a: u32, place_a: Place, b: u32, place_b: Place) -> PassageLink {
        PassageLink { documents: [a, b], places: [place_a, place_b], matched: 100 }
    }

    /// The documents and places of each family, in order.
    fn families(mut links: Vec<PassageLink>) -> Vec<Vec<(u32, Place)>> {
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
    fn a_neighbor_that_has_two_passages_does_not_join_them() {
        // Document 1 has a passage of document 0 and a passage of document 2, side by side.
        let found =
            families(vec![link(0, (0, 100), 1, (0, 100)), link(1, (100, 200), 2, (0, 100))]);
        assert_eq!(
            found,
            [vec![(0, (0, 100)), (1, (0, 100))], vec![(1, (100, 200)), (2, (0, 100))]]
        );
    }

    #[test]
    fn passages_that_slide_along_a_text_are_not_one() {
        // Each document has three quarters of its predecessor, and new text.
        let links = (0..8).map(|at| link(at, (100, 400), at + 1, (0, 300))).collect();
        for family in families(links) {
            assert!(family.len() <= 4, "{family:?}");
        }
    }

    #[test]
    fn a_quotation_of_an_article_is_a_family_beside_it() {
        // 0 and 1 have the article, and 2 quotes a tenth of it. A link was found only between 0 and
        // 2.
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
        // Each document has two thirds of its predecessor's words, in a passage of the same length.
        let link = |at| PassageLink { matched: 66, ..link(at, (0, 100), at + 1, (0, 100)) };
        for family in families((0..8).map(link).collect()) {
            assert!(family.len() <= 3, "{family:?}");
        }
    }

    #[test]
    fn a_rewritten_passage_neither_extends_a_copied_one_nor_is_another() {
        // The link between 1 and 2 has whole sentences, and 60 in 100 of their words are the
        // passage.
        let rewritten = PassageLink { matched: 60, ..link(1, (0, 160), 2, (0, 160)) };
        let found = families(vec![
            link(0, (0, 100), 1, (0, 100)),
            link(0, (0, 100), 2, (60, 160)),
            rewritten,
        ]);
        assert_eq!(found, [vec![(0, (0, 100)), (1, (0, 100)), (2, (60, 160))]]);
    }

    #[test]
    fn a_part_of_a_rewritten_passage_is_not_projected() {
        // 0 and 1 have the article in different words, and 2 quotes a tenth of it from 0.
        let rewritten = PassageLink { matched: 60, ..link(0, (0, 1000), 1, (50, 1050)) };
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
            let graph = LinkGraph::new(&links, 5);
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
            let mut links: Vec<PassageLink> = some
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
                    // At least half of the founder came down, and the place is on a link.
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
