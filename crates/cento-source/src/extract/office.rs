//! What does this document of an office program, or e-book, say?
//!
//! The text of anydoc's model: paragraphs, the words of links, cells and notes, without markup,
//! addresses and the numbers of lists. Slides of .pptx are told apart by anchors, which the model has
//! for those that another slide links to: links to all of them are added first. Slides of .odp get a mark.

use anydoc::model::{Block, CellSlot, Document, Inline};
use anydoc::{ConvertError, Format, to_document};

use super::Extracted;
use crate::archive::{SLIDE_MARK, with_slide_links, with_slide_marks};
use crate::sniff::COMPOUND;

/// A presentation with more slides is one without numbers.
const SLIDES_MAX: usize = 10_000;

/// The text of a document.
///
/// # Errors
/// When there is none, with the reason as a clause.
pub fn extract(bytes: &[u8]) -> Result<Extracted, String> {
    let format = match Format::from_bytes(bytes) {
        Some(Format::Excel | Format::Ods | Format::Csv) => {
            return Err("it is a spreadsheet; export it as .csv".into());
        }
        Some(format) => format,
        // The parser of the commonest format of the container says why.
        None if bytes.starts_with(COMPOUND) && !is_encrypted(bytes) => Format::Doc,
        None => Format::Docx,
    };
    let with_links = match format {
        Format::Pptx => with_slide_links(bytes),
        Format::Odp => with_slide_marks(bytes),
        _ => None,
    };
    let linked = with_links.and_then(|bytes| to_document(&bytes, format).ok());
    let document = match linked {
        Some(document) => document,
        None => to_document(bytes, format).map_err(|error| reason(&error))?,
    };
    Ok(Extracted { text: text_of(&document), missing: None, hidden: 0 })
}

/// Whether a compound file holds an encrypted document of a newer format.
fn is_encrypted(bytes: &[u8]) -> bool {
    matches!(to_document(bytes, Format::Docx), Err(ConvertError::Encrypted))
}

fn reason(error: &ConvertError) -> String {
    match error {
        ConvertError::Encrypted => "it is encrypted; remove the password".into(),
        ConvertError::ResourceLimit { limit, detail } => {
            format!("it is larger inside than is read ({limit}): {detail}")
        }
        error => format!("it is damaged or no document: {error}"),
    }
}

fn text_of(document: &Document) -> String {
    let mut text = String::new();
    let mut slide = 1;
    for block in &document.blocks {
        match slide_of(block) {
            Some(number) => {
                text.extend((slide..number).map(|_| '\u{c}'));
                slide = slide.max(number);
            }
            None if is_mark(block) => text.push('\u{c}'),
            None => push_blocks(std::slice::from_ref(block), &mut text),
        }
    }
    document.notes.iter().for_each(|note| push_blocks(&note.blocks, &mut text));
    text
}

/// The number of the slide that begins here, by the anchor of one that is linked to.
fn slide_of(block: &Block) -> Option<usize> {
    let Block::Paragraph(content) = block else { return None };
    let [Inline::Anchor(anchor)] = &content[..] else { return None };
    let number = anchor.strip_prefix("slide-")?.parse().ok()?;
    (1..=SLIDES_MAX).contains(&number).then_some(number)
}

/// Whether a slide of .odp begins here.
fn is_mark(block: &Block) -> bool {
    let (Block::Heading { content, .. } | Block::Paragraph(content)) = block else { return false };
    matches!(&content[..], [Inline::Text { text, .. }] if text.trim().chars().eq([SLIDE_MARK]))
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
            Block::BlockQuote(blocks) => push_blocks(blocks, text),
            Block::CodeBlock { text: code, .. } | Block::Math(code) => {
                push_text(code, text);
                end(text, "\n\n");
            }
            Block::Rule => {}
        }
    }
}

/// Ends what has been written, unless it has ended or there is nothing.
fn end(text: &mut String, end: &str) {
    let written = text.trim_end_matches(' ').len();
    text.truncate(written);
    if !text.is_empty() && !text.ends_with(end) {
        text.push_str(end);
    }
}

fn push_inlines(inlines: &[Inline], text: &mut String) {
    for inline in inlines {
        match inline {
            Inline::Text { text: piece, .. }
            | Inline::Math(piece)
            | Inline::Image { alt: piece, .. } => push_text(piece, text),
            Inline::Link { content, .. } => push_inlines(content, text),
            Inline::LineBreak => text.push('\n'),
            Inline::Anchor(_) | Inline::NoteRef(_) | Inline::Checkbox(_) => {}
        }
    }
}

/// Adds what the document says, in which a form feed would count as the end of a page.
fn push_text(piece: &str, text: &mut String) {
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
