//! Finds the content of a page.
//!
//! The core is the part of the page with the maximum sum, where a word counts 1 and a tag -2. It is
//! within the `main` element of a page, which other articles may surround that are longer.
//! Content is the core and its surroundings except menus (elements beside the content, and runs of
//! links): the remaining text of the article or `main` element around the core, the paragraphs that
//! are in the same element as the paragraphs of the core, and the text before and after the core up
//! to the next menu. The sum alone would skip tables of data and short
//! paragraphs, which have many tags for their words.

use std::collections::HashMap;
use std::ops::Range;

use super::place::PlaceInPage;
use super::{PagePiece, TagPlace};

/// Tags within a paragraph of this number of words cost nothing. With 15 to 30, pages are read
/// alike, and better than with any cost (docs/DESIGN.md).
const PARAGRAPH_WORDS_MIN: i64 = 20;

/// The minimum share (1/2) of the words outside of menus that the content must have. If it has
/// fewer, everything outside of menus is read.
const CONTENT_SHARE: i64 = 2;

/// The minimum share (1/4) of the core's words in an element that makes the element content.
const ARTICLE_SHARE: i64 = 4;

/// The minimum number of words of a `main` element that has the core.
const MAIN_WORDS_MIN: i64 = 50;

/// The text around the core ends at this number of blocks of a menu.
const MENU_BLOCKS: usize = 2;

/// Makes tags within long paragraphs cost nothing. In an edition, every word may be a link to a
/// dictionary, and in OCR output, every word may have a position. A menu has few words, so it still
/// pays for its tags.
pub fn free_paragraphs(pieces: &mut [PagePiece]) {
    let is_end = |piece: &PagePiece| {
        matches!(piece, PagePiece::Tag { place: TagPlace::BlockEnd | TagPlace::CellEnd, .. })
    };
    for paragraph in pieces.split_mut(is_end) {
        if words_of(paragraph) < PARAGRAPH_WORDS_MIN {
            continue;
        }
        for piece in paragraph {
            if let PagePiece::Tag { place, cost } = piece
                && (place.is_in_line() || *place == TagPlace::LineEnd)
            {
                *cost = 0;
            }
        }
    }
}

fn words_of(pieces: &[PagePiece]) -> i64 {
    let words = pieces.iter().map(|piece| match piece {
        PagePiece::Text { words, .. } => *words,
        PagePiece::Tag { .. } | PagePiece::Hidden(_) => 0,
    });
    words.sum()
}

/// Removes all pieces outside of the content.
pub fn keep_content(pieces: &mut Vec<PagePiece>) {
    let blocks = blocks(pieces);
    let main = main_with_words(&blocks);
    let core = core(pieces, main);
    let mut kept: Vec<bool> = blocks
        .iter()
        .map(|block| block.overlaps(&core) && !block.is_beside && !block.is_title)
        .collect();
    keep_article(&mut kept, &blocks, &pieces[core.clone()]);
    keep_around(&mut kept, &blocks, &core);
    keep_beside(&mut kept, &blocks, &pieces[core]);
    // A single line with links and other words, between paragraphs that are content, is no menu.
    for at in 1..kept.len().saturating_sub(1) {
        let block = &blocks[at];
        let may_be = block.links < block.words && !block.is_beside && !block.is_title;
        kept[at] |= kept[at - 1] && kept[at + 1] && may_be;
    }
    let words = |is_in: &dyn Fn(usize) -> bool| -> i64 {
        (0..blocks.len()).filter(|&at| is_in(at)).map(|at| blocks[at].words).sum()
    };
    let may_be = |at: usize| kept[at] || !blocks[at].is_menu();
    if words(&|at| kept[at]) * CONTENT_SHARE < words(&may_be) {
        kept = (0..blocks.len()).map(may_be).collect();
    }
    let ranges: Vec<_> = blocks
        .iter()
        .zip(&kept)
        .filter(|(_, kept)| **kept)
        .map(|(block, _)| block.at.clone())
        .collect();
    let (Some(first), Some(last)) = (ranges.first(), ranges.last()) else { return };
    let (start, end) = (first.start, last.end);
    let (mut at, mut range) = (0, 0);
    pieces.retain(|piece| {
        let here = at;
        at += 1;
        while ranges.get(range).is_some_and(|range| range.end <= here) {
            range += 1;
        }
        let is_kept = ranges.get(range).is_some_and(|range| range.start <= here);
        is_kept || ((start..end).contains(&here) && !matches!(piece, PagePiece::Text { .. }))
    });
}

/// A paragraph, a table row, or another stretch of a page between block tags.
struct ContentBlock {
    at: Range<usize>,
    words: i64,
    /// The number of words in links.
    links: i64,
    is_beside: bool,
    is_title: bool,
    /// The place of the first words of the block.
    place: PlaceInPage,
}

impl ContentBlock {
    fn is_menu(&self) -> bool {
        let is_of_links = self.links * 2 >= self.words && self.words < PARAGRAPH_WORDS_MIN;
        self.is_beside || self.is_title || is_of_links
    }

    fn overlaps(&self, other: &Range<usize>) -> bool {
        self.at.start < other.end && other.start < self.at.end
    }
}

/// Returns the blocks of a page, without blocks that have no words.
fn blocks(pieces: &[PagePiece]) -> Vec<ContentBlock> {
    let mut blocks = Vec::new();
    let mut start = 0;
    let is_end =
        |piece: &PagePiece| matches!(piece, PagePiece::Tag { place: TagPlace::BlockEnd, .. });
    for block in pieces.split(is_end) {
        let at = start..start + block.len();
        start = at.end + 1;
        let texts = block.iter().filter_map(|piece| match piece {
            PagePiece::Text { words, place, .. } if *words > 0 => Some((*words, *place)),
            _ => None,
        });
        let Some((_, place)) = texts.clone().next() else { continue };
        let words = texts.clone().map(|(words, _)| words).sum();
        let links = texts.clone().filter(|(_, place)| place.is_link).map(|(words, _)| words).sum();
        let is_beside = texts.clone().all(|(_, place)| place.is_beside);
        let is_title = texts.clone().all(|(_, place)| place.is_title);
        blocks.push(ContentBlock { at, words, links, is_beside, is_title, place });
    }
    blocks
}

/// Returns the number of the `main` element with most words outside of menus, if there are enough
/// words for some sentences.
fn main_with_words(blocks: &[ContentBlock]) -> Option<usize> {
    let mut words: HashMap<usize, i64> = HashMap::new();
    for block in blocks.iter().filter(|block| !block.is_menu()) {
        if let Some(main) = block.place.main {
            *words.entry(main).or_default() += block.words;
        }
    }
    let most = words.into_iter().max_by_key(|(main, words)| (*words, std::cmp::Reverse(*main)));
    most.filter(|(_, words)| *words >= MAIN_WORDS_MIN).map(|(main, _)| main)
}

/// Returns the range with the maximum sum, within the `main` element of this number if there is
/// one. Among equals, the first and longest range wins.
fn core(pieces: &[PagePiece], main: Option<usize>) -> Range<usize> {
    let (mut best, mut best_sum) = (0..0, 0);
    let (mut start, mut sum) = (0, 0);
    for (at, piece) in pieces.iter().enumerate() {
        sum += match piece {
            PagePiece::Text { place, .. } if main.is_some_and(|main| place.main != Some(main)) => 0,
            PagePiece::Text { words, place, .. } if !place.is_beside && !place.is_title => *words,
            PagePiece::Tag { cost, .. } => -cost,
            PagePiece::Text { .. } | PagePiece::Hidden(_) => 0,
        };
        if sum < 0 {
            (start, sum) = (at + 1, 0);
        } else if sum > best_sum {
            (best, best_sum) = (start..at + 1, sum);
        }
    }
    best
}

/// Returns the elements that hold a considerable share of the words of the core.
fn holders(core: &[PagePiece], element: fn(&PlaceInPage) -> Option<usize>) -> HashMap<usize, i64> {
    let words = words_of(core);
    let mut holders: HashMap<usize, i64> = HashMap::new();
    for piece in core {
        if let PagePiece::Text { words, place, .. } = piece
            && let Some(number) = element(place)
        {
            *holders.entry(number).or_default() += words;
        }
    }
    holders.retain(|_, found| *found * ARTICLE_SHARE >= words);
    holders
}

/// Keeps the articles around the core, or else the `main` element.
fn keep_article(kept: &mut [bool], blocks: &[ContentBlock], core: &[PagePiece]) {
    let (articles, mains) =
        (holders(core, |place| place.article), holders(core, |place| place.main));
    for (block, kept) in blocks.iter().zip(kept) {
        let is_in = match articles.is_empty() {
            true => block.place.main.is_some_and(|number| mains.contains_key(&number)),
            false => block.place.article.is_some_and(|number| articles.contains_key(&number)),
        };
        *kept |= is_in && !block.is_menu();
    }
}

/// Keeps the elements that hold the core from their first to their last paragraph. The summary of
/// an article may be before a table of contents, and tables may be between the paragraphs.
fn keep_beside(kept: &mut [bool], blocks: &[ContentBlock], core: &[PagePiece]) {
    for holder in holders(core, |place| place.container).into_keys() {
        let is_in =
            |block: &ContentBlock| block.place.container == Some(holder) && !block.is_menu();
        let first = blocks.iter().position(is_in).unwrap_or_default();
        let end = blocks.iter().rposition(is_in).map_or(0, |last| last + 1);
        for at in first..end {
            kept[at] |= !blocks[at].is_menu();
        }
    }
}

/// Keeps the text before and after the core, up to a menu.
fn keep_around(kept: &mut [bool], blocks: &[ContentBlock], core: &Range<usize>) {
    let first = blocks.partition_point(|block| block.at.end <= core.start);
    let last = blocks.partition_point(|block| block.at.start < core.end);
    let mut keep = |order: &mut dyn Iterator<Item = usize>| {
        let mut menus = 0;
        for at in order {
            menus = if blocks[at].is_menu() { menus + 1 } else { 0 };
            if menus == MENU_BLOCKS {
                return;
            }
            kept[at] |= menus == 0;
        }
    };
    keep(&mut (0..first).rev());
    keep(&mut (last..blocks.len()));
}

#[cfg(test)]
mod tests;
