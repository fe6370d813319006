//! Text of documents of office programs, and of e-books.
//!
//! Each format has one reader: `xml` reads zip files of XML (docx, pptx, odt, odp, epub),
//! office_oxide reads old Word documents (doc), and anydoc reads RTF and old presentations (ppt).
//! The text from anydoc is that of its model: paragraphs, the words of links, cells and notes,
//! without markup, addresses and the numbers of lists.

use std::io::Cursor;

use anydoc::model::{Block, CellSlot, Document, Inline};
use anydoc::{ConvertError, Format, to_document};
use office_oxide::doc::{DocDocument, DocError, SubDocumentKind};
use office_oxide::read_options::set_include_hidden_text;

use super::{Extracted, rtf};
use crate::sniff::COMPOUND;
use crate::xml;

/// Returns the text of a document.
///
/// # Errors
/// When it has no text, with the reason as a clause.
pub fn extract(bytes: &[u8]) -> Result<Extracted, String> {
    if bytes.starts_with(b"PK") {
        return xml::text_of_zip(bytes);
    }
    if bytes.starts_with(b"{\\rtf") {
        return rtf_text(bytes);
    }
    match Format::from_bytes(bytes) {
        Some(Format::Excel | Format::Ods | Format::Csv) => {
            Err("it is a spreadsheet; export it as .csv".into())
        }
        Some(Format::Ppt) => by_anydoc(bytes, Format::Ppt),
        None if bytes.starts_with(COMPOUND) && is_encrypted(bytes) => Err(ENCRYPTED.into()),
        // The parser of the container's commonest format reports why the file is no document.
        _ => doc_text(bytes),
    }
}

const ENCRYPTED: &str = "it is encrypted; remove the password";

/// Returns whether a compound file holds an encrypted document of a newer format.
fn is_encrypted(bytes: &[u8]) -> bool {
    matches!(to_document(bytes, Format::Docx), Err(ConvertError::Encrypted))
}

/// Returns the text of an RTF document.
///
/// # Errors
/// As [`extract`].
pub fn rtf_text(bytes: &[u8]) -> Result<Extracted, String> {
    let (seen, hidden) = rtf::seen(bytes);
    Ok(Extracted { hidden, ..by_anydoc(&seen, Format::Rtf)? })
}

fn by_anydoc(bytes: &[u8], format: Format) -> Result<Extracted, String> {
    let document = to_document(bytes, format).map_err(|error| match error {
        ConvertError::Encrypted => ENCRYPTED.to_owned(),
        ConvertError::ResourceLimit { limit, detail } => {
            format!("it is larger inside than is read ({limit}): {detail}")
        }
        error => format!("it is damaged or no document: {error}"),
    })?;
    Ok(Extracted { text: text_of(&document), ..Extracted::default() })
}

/// Returns the text of an old Word document. Its hidden characters are those that this text lacks.
fn doc_text(bytes: &[u8]) -> Result<Extracted, String> {
    let read = |with_hidden| {
        set_include_hidden_text(with_hidden);
        let document =
            DocDocument::from_reader(Cursor::new(bytes)).map_err(|error| match error {
                DocError::Encrypted => ENCRYPTED.to_owned(),
                error => format!("it is damaged or no document: {error}"),
            })?;
        let mut text = String::new();
        push_text(document.plain_text_ref(), &mut text);
        for beside in document.subdocuments() {
            if beside.kind != SubDocumentKind::Comments {
                end(&mut text, "\n\n");
                push_text(&beside.text, &mut text);
            }
        }
        let is_missing = !document.text_complete();
        let missing = is_missing.then(|| "it is damaged: a part of its text is missing".to_owned());
        Ok::<_, String>(Extracted { text, missing, hidden: 0 })
    };
    let all = read(true)?;
    let seen = read(false)?;
    let letters = |text: &str| text.chars().filter(|c| !c.is_whitespace()).count();
    let hidden = letters(&all.text).saturating_sub(letters(&seen.text));
    Ok(Extracted { hidden, ..seen })
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
            Block::BlockQuote(blocks) => push_blocks(blocks, text),
            Block::CodeBlock { text: code, .. } | Block::Math(code) => {
                push_text(code, text);
                end(text, "\n\n");
            }
            Block::Rule => {}
        }
    }
}

/// Ends the written text with `end`, unless it already ends so or is empty.
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
            Inline::Text { text: piece, .. } | Inline::Math(piece) => push_text(piece, text),
            Inline::Image { alt, .. } if !alt.trim().is_empty() => {
                // It is not part of the words around it.
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

/// Adds text of the document; a form feed in it would count as the end of a page.
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
