//! Text of documents that anydoc reads: RTF and old presentations.
//!
//! The text has paragraphs, the words of links, cells and notes, but no markup, addresses or list
//! numbers.

use anydoc::model::{Block, CellSlot, Document, Inline};
use anydoc::{ConvertError, Format, to_document};

use crate::extracted::ExtractedText;
use crate::quoted::with_quoted_lines;

/// The reason why an encrypted document is not read.
pub const ENCRYPTED: &str = "it is encrypted; remove the password";

/// Returns the text of a document of this format.
///
/// # Errors
/// When it has no text, with the reason as a clause.
pub fn by_anydoc(bytes: &[u8], format: Format) -> Result<ExtractedText, String> {
    let document = to_document(bytes, format).map_err(|error| match error {
        ConvertError::Encrypted => ENCRYPTED.to_owned(),
        ConvertError::ResourceLimit { limit, detail } => {
            format!("it is larger inside than is read ({limit}): {detail}")
        }
        error => format!("it is damaged or no document: {error}"),
    })?;
    Ok(ExtractedText { text: text_of(&document), ..ExtractedText::default() })
}

fn text_of(document: &Document) -> String {
    let mut text = String::new();
    push_blocks(&document.blocks, &mut text);
    document.notes.iter().for_each(|note| push_blocks(&note.blocks, &mut text));
    text
}

fn push_blocks(blocks: &[Block], text: &mut String) {
    for block in blocks {
        match block {
            Block::Heading { content, .. } | Block::Paragraph(content) => {
                push_inlines(content, text);
                end(text, "\n\n");
            }
            Block::List(list) => {
                list.items.iter().for_each(|item| push_blocks(&item.blocks, text));
            }
            Block::Table(table) => {
                for row in &table.grid {
                    for slot in row {
                        if let CellSlot::Origin(cell) = slot {
                            push_blocks(&cell.blocks, text);
                        }
                    }
                }
            }
            Block::BlockQuote(blocks) => {
                let mut quoted = String::new();
                push_blocks(blocks, &mut quoted);
                let whole = std::iter::once(0..quoted.len()).collect();
                text.push_str(&with_quoted_lines(quoted.clone(), &quoted, whole));
            }
            Block::CodeBlock { text: code, .. } | Block::Math(code) => {
                push_text(code, text);
                end(text, "\n\n");
            }
            Block::Rule => {}
        }
    }
}

/// Ends the text with `end`, unless the text is empty or ends so already.
pub fn end(text: &mut String, end: &str) {
    let written = text.trim_end_matches(' ').len();
    text.truncate(written);
    if !text.is_empty() && !text.ends_with(end) {
        text.push_str(end);
    }
}

fn push_inlines(inlines: &[Inline], text: &mut String) {
    for inline in inlines {
        match inline {
            Inline::Text { text: piece, .. } | Inline::Math(piece) => push_text(piece, text),
            Inline::Image { alt, .. } if !alt.trim().is_empty() => {
                // Separated from the words around the image, because it is not part of the
                // sentence.
                text.push(' ');
                push_text(alt, text);
                text.push(' ');
            }
            Inline::Image { .. } => {}
            Inline::Link { content, .. } => push_inlines(content, text),
            Inline::LineBreak => text.push('\n'),
            Inline::Anchor(_) | Inline::NoteRef(_) | Inline::Checkbox(_) => {}
        }
    }
}

/// Appends text. Form feeds become line feeds, because a form feed would count as a page end.
pub fn push_text(piece: &str, text: &mut String) {
    text.extend(piece.chars().map(|c| if c == '\u{c}' { '\n' } else { c }));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_words_of_a_document_end_its_pages() {
        let code = Block::CodeBlock { lang: None, text: "one\u{c}two".into() };
        let mut text = String::new();
        push_blocks(&[code, Block::Math("three\u{c}four".into())], &mut text);
        assert_eq!(text, "one\ntwo\n\nthree\nfour\n\n");
    }
}
