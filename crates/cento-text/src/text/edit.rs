//! The positions of the words of an edited text in the original.
//!
//! Some analyzers change a text before cutting words. Passages are shown in the original, so an
//! edited text records the bytes of the original behind each byte.

use super::{Span, Take};

/// A text that consists of pieces of an original, some replaced.
#[derive(Debug, Default)]
pub(super) struct EditedText {
    pub(super) text: String,
    /// The pieces in order. Together they cover the text.
    pieces: Vec<EditPiece>,
}

#[derive(Debug)]
struct EditPiece {
    /// The first byte in the edited text.
    start: usize,
    /// The bytes of the original that the piece came from.
    origin: Span,
    /// Whether the piece is an unchanged copy of those bytes.
    is_copy: bool,
}

impl EditedText {
    pub(super) fn copy(&mut self, original: &str, start: usize, end: usize) {
        self.push(&original[start..end], start, end, true);
    }

    /// Appends `text`, which replaces the bytes from `start` to `end` of the original.
    pub(super) fn replace(&mut self, text: &str, start: usize, end: usize) {
        self.push(text, start, end, false);
    }

    /// Returns whether the text is a single piece of the original. That is an unchanged text only
    /// if no bytes before or after the piece were omitted.
    pub(in crate::text) fn is_copy(&self) -> bool {
        self.pieces.len() <= 1 && self.pieces.iter().all(|piece| piece.is_copy)
    }

    fn push(&mut self, text: &str, start: usize, end: usize, is_copy: bool) {
        if text.is_empty() {
            return;
        }
        let origin = Span { start: start as u32, end: end as u32 };
        match self.pieces.last_mut() {
            Some(last) if is_copy && last.is_copy && last.origin.end == origin.start => {
                last.origin.end = origin.end;
            }
            _ => self.pieces.push(EditPiece { start: self.text.len(), origin, is_copy }),
        }
        self.text.push_str(text);
    }

    /// Returns the bytes of the original that `span` came from. `span` must not be empty.
    pub(super) fn origin(&self, span: Span) -> Span {
        let (first, offset) = self.piece_at(span.start as usize);
        let start = if first.is_copy { first.origin.start + offset } else { first.origin.start };
        let (last, offset) = self.piece_at(span.end as usize - 1);
        let end = if last.is_copy { last.origin.start + offset + 1 } else { last.origin.end };
        Span { start, end }
    }

    /// Returns a sink for tokens of the edited text, which passes the tokens on to `tokens`.
    pub(super) fn moved<'a, T: Take>(
        &'a self,
        tokens: &'a mut T,
    ) -> MovedTokens<'a, T, impl Fn(Span) -> Span + 'a> {
        MovedTokens { tokens, origin: |span| self.origin(span) }
    }

    /// Returns the piece that contains this byte, and the offset of the byte in the piece.
    fn piece_at(&self, byte: usize) -> (&EditPiece, u32) {
        let after = self.pieces.partition_point(|piece| piece.start <= byte);
        let piece = &self.pieces[after - 1];
        (piece, (byte - piece.start) as u32)
    }
}

/// Passes on the tokens of an edited text, with their spans in the original.
pub(super) struct MovedTokens<'a, T, F> {
    pub(super) tokens: &'a mut T,
    /// The function that returns the bytes of the original that a span came from.
    pub(super) origin: F,
}

impl<T: Take, F: Fn(Span) -> Span> Take for MovedTokens<'_, T, F> {
    #[inline(always)]
    fn take(&mut self, hash: u64, span: Span) {
        self.tokens.take(hash, (self.origin)(span));
    }

    #[inline(always)]
    fn take_all(
        &mut self,
        hashes: impl ExactSizeIterator<Item = u64>,
        spans: impl ExactSizeIterator<Item = Span>,
    ) {
        self.tokens.take_all(hashes, spans.map(&self.origin));
    }

    fn taken(&self) -> u64 {
        self.tokens.taken()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_know_where_they_came_from() {
        let original = "one <b>&eacute;two";
        let mut edited = EditedText::default();
        edited.copy(original, 0, 2);
        edited.copy(original, 2, 4);
        edited.replace("\u{e9}", 7, 15);
        edited.copy(original, 15, 18);
        assert_eq!(edited.text, "one \u{e9}two");
        assert_eq!(edited.pieces.len(), 3);
        let origin = |start, end| edited.origin(Span { start, end });
        assert_eq!(origin(0, 3), Span { start: 0, end: 3 });
        assert_eq!(origin(4, 9), Span { start: 7, end: 18 });
        assert_eq!(origin(4, 6), Span { start: 7, end: 15 });
        assert_eq!(origin(7, 8), Span { start: 16, end: 17 });
    }
}
