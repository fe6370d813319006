//! Text of old office formats.
//!
//! Each format has a single reader: office_oxide for old Word documents (doc), and anydoc for RTF
//! and old presentations (ppt, [`super::model`]).

use std::io::Cursor;

use anydoc::{ConvertError, Format, to_document};
use office_oxide::doc::{DocDocument, DocError, SubDocumentKind};
use office_oxide::read_options::set_include_hidden_text;

use super::model::{ENCRYPTED, by_anydoc, end, push_text};
use super::{ExtractedText, rtf};
use crate::format::COMPOUND;

/// Returns the text of a document.
///
/// # Errors
/// When it has no text, with the reason as a clause.
pub fn extract(bytes: &[u8]) -> Result<ExtractedText, String> {
    if bytes.starts_with(b"{\\rtf") {
        return rtf::text_of(bytes);
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

/// Returns whether a compound file holds an encrypted document of a newer format.
fn is_encrypted(bytes: &[u8]) -> bool {
    matches!(to_document(bytes, Format::Docx), Err(ConvertError::Encrypted))
}

/// Returns the text of an old Word document. Hidden characters are counted by reading twice, with
/// and without hidden text.
fn doc_text(bytes: &[u8]) -> Result<ExtractedText, String> {
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
        Ok::<_, String>(ExtractedText { text, missing, hidden: 0 })
    };
    let all = read(true)?;
    let seen = read(false)?;
    let letters = |text: &str| text.chars().filter(|c| !c.is_whitespace()).count();
    let hidden = letters(&all.text).saturating_sub(letters(&seen.text));
    Ok(ExtractedText { hidden, ..seen })
}
