//! The main loop of the process that extracts texts.

use std::io::{self, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};

#[cfg(feature = "office")]
use super::old;
#[cfg(feature = "pdf")]
use super::pdf;
use super::{ExtractedText, MEMORY_BYTES_MAX, TEXT_BYTES_MAX, read_request, write_answer};
use crate::worker::{confine, set_for_next};
use crate::xml;

/// Answers requests until the input ends.
///
/// The process is limited and confined for the rest of its life, so it cannot do anything else
/// afterwards. If the system refuses to confine it, every answer is a failure with this reason.
///
/// # Errors
/// When reading a request, writing an answer or setting a limit fails.
pub fn serve(input: &mut impl Read, output: &mut impl Write) -> io::Result<()> {
    let confined = confine(MEMORY_BYTES_MAX, false);
    while let Some(bytes) = read_request(input)? {
        set_for_next()?;
        let extracted = confined.clone().and_then(|()| caught(|| extract(&bytes)));
        drop(bytes);
        write_answer(output, &extracted)?;
    }
    Ok(())
}

/// Turns a panic into an error, so that a defect of a library fails only a single document.
fn caught(
    extract: impl FnOnce() -> Result<ExtractedText, String>,
) -> Result<ExtractedText, String> {
    catch_unwind(AssertUnwindSafe(extract)).unwrap_or_else(|cause| {
        let words = cause.downcast_ref::<&str>().copied();
        let words = words.or_else(|| cause.downcast_ref::<String>().map(String::as_str));
        let what = words.unwrap_or("without a reason");
        Err(format!("extracting its text failed, by a defect of the library that reads it: {what}"))
    })
}

fn extract(bytes: &[u8]) -> Result<ExtractedText, String> {
    let extracted = extract_by_kind(bytes)?;
    match extracted.text.len() as u64 > TEXT_BYTES_MAX {
        true => Err(format!("its text has more than {} MiB", TEXT_BYTES_MAX >> 20)),
        false => Ok(extracted),
    }
}

fn extract_by_kind(bytes: &[u8]) -> Result<ExtractedText, String> {
    if bytes.starts_with(b"PK") {
        return xml::text_of_zip(bytes);
    }
    #[cfg(feature = "pdf")]
    if pdf::is_pdf(bytes) {
        return pdf::extract(bytes);
    }
    #[cfg(feature = "office")]
    return old::extract(bytes);
    #[cfg(not(feature = "office"))]
    Err("it is a document in a format that this build does not read".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_of_a_library_costs_one_document() {
        let why = caught(|| panic!("index out of bounds: {}", 3)).unwrap_err();
        assert!(why.ends_with("reads it: index out of bounds: 3"), "{why}");
        assert_eq!(caught(|| Ok(ExtractedText::default())), Ok(ExtractedText::default()));
    }
}
