//! What do the pages of this PDF say?
//!
//! pdf-inspector itself, not through anydoc, which refuses a whole file for one page without text.

use std::collections::BTreeSet;

use pdf_inspector::{
    MarkdownOptions, OCR_REASON_NO_TEXT, PdfError, PdfOptions, PdfProcessResult,
    process_pdf_mem_with_options,
};

use super::Extracted;
use crate::sniff::COMPOUND;

/// A PDF may begin so late (ISO 32000-1, annex H, note 13).
const HEADER_BYTES_MAX: usize = 1024;

/// What the library writes before the text of a page, with its number between.
const PAGE: (&str, &str) = ("<!-- Page ", " -->");

/// What remains of the markup of the library's output with the options below.
const TAGS: [&str; 4] = ["<sub>", "</sub>", "<sup>", "</sup>"];

/// Whether it is one.
pub fn is_pdf(bytes: &[u8]) -> bool {
    let start = &bytes[..bytes.len().min(HEADER_BYTES_MAX)];
    // What begins as another format may contain the words.
    let is_other = [&b"PK"[..], b"{\\rtf", COMPOUND].iter().any(|mark| start.starts_with(mark));
    !is_other && memchr::memmem::find(start, b"%PDF-").is_some()
}

/// The text of a PDF.
///
/// # Errors
/// When there is none, with the reason as a clause.
pub fn extract(bytes: &[u8]) -> Result<Extracted, String> {
    let options = PdfOptions::new().markdown(MarkdownOptions {
        detect_headers: false,
        detect_lists: false,
        detect_code: false,
        detect_bold: false,
        detect_italic: false,
        detect_underline: false,
        include_links: false,
        format_urls: false,
        include_page_numbers: true,
        ..MarkdownOptions::default()
    });
    let found = process_pdf_mem_with_options(bytes, options).map_err(|error| reason(&error))?;
    let pages = pages_of(found.markdown.as_deref().unwrap_or_default(), found.page_count);
    let without = without_text(&found, &pages);
    if !without.is_empty() && pages.iter().all(|page| page.trim().is_empty()) {
        return Err("its pages are images, without text; recognise it (OCR) first".into());
    }
    let missing = (!without.is_empty()).then(|| {
        let is_one = without.len() == 1;
        let (noun, verb) = if is_one { ("page", "is an image") } else { ("pages", "are images") };
        format!(
            "{noun} {} of {} {verb} without text, or cannot be decoded, and missing",
            ranges(&without),
            found.page_count
        )
    });
    Ok(Extracted { text: pages.join("\u{c}"), missing, hidden: 0 })
}

fn reason(error: &PdfError) -> String {
    match error {
        PdfError::Encrypted => "it is encrypted; remove the password".into(),
        error => format!("it is damaged or no PDF: {error}"),
    }
}

/// The texts of so many pages.
fn pages_of(markdown: &str, count: u32) -> Vec<String> {
    let mut pages = vec![String::new(); count.max(1) as usize];
    let mut at = 0;
    for line in markdown.lines() {
        let number = line.strip_prefix(PAGE.0).and_then(|rest| rest.strip_suffix(PAGE.1));
        // What a page says may look like it, but not with a number that comes next.
        let number = number.and_then(|number| number.parse::<usize>().ok());
        match number.filter(|&number| (at + 1..=pages.len()).contains(&number)) {
            Some(number) => at = number - 1,
            None => push_line(line, &mut pages[at]),
        }
    }
    for page in &mut pages {
        page.truncate(page.trim_end().len());
        page.drain(..page.len() - page.trim_start().len());
    }
    pages
}

/// Adds a line without its markup.
fn push_line(line: &str, page: &mut String) {
    let cells = line.strip_prefix('|').and_then(|rest| rest.strip_suffix('|'));
    if cells.is_some_and(|cells| cells.chars().all(|c| matches!(c, '|' | '-' | ':' | ' '))) {
        return;
    }
    let heading = line.trim_start_matches('#');
    let is_heading = heading.len() < line.len() && heading.starts_with(' ');
    let mut words =
        if is_heading { heading.trim_start() } else { cells.unwrap_or(line) }.to_owned();
    if cells.is_some() {
        words = words.replace('|', "\t");
    }
    for tag in TAGS.into_iter().filter(|_| line.contains('<')) {
        words = words.replace(tag, "");
    }
    // A form feed in the text of a page would count as its end.
    page.push_str(&words.replace('\u{c}', " "));
    page.push('\n');
}

/// The pages that show something and have no text; those that are empty are complete.
fn without_text(found: &PdfProcessResult, pages: &[String]) -> BTreeSet<u32> {
    let has_image = |page: &&pdf_inspector::PageOcrReasons| {
        page.reasons.iter().any(|reason| reason != OCR_REASON_NO_TEXT)
    };
    let is_empty = |number: &u32| {
        let page = (*number as usize).checked_sub(1).and_then(|at| pages.get(at));
        page.is_some_and(|page| page.trim().is_empty())
    };
    let flagged = found.ocr_reasons_by_page.iter().filter(has_image).map(|page| page.page);
    flagged.filter(is_empty).collect()
}

/// Numbers as in `2, 5-7, 12`.
fn ranges(numbers: &BTreeSet<u32>) -> String {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for &number in numbers {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => ranges.push((number, number)),
        }
    }
    let shown = ranges.into_iter().map(|(first, last)| match first == last {
        true => first.to_string(),
        false => format!("{first}-{last}"),
    });
    shown.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_cut_at_their_marks_and_lose_their_markup() {
        let markdown = "<!-- Page 1 -->\n\n# One\n\n|a|b<sup>2</sup>|\n|---|---|\n|c||\n\n\
                        <!-- Page 3 -->\n\n<!-- Page 1 -->\nthree #1 a|b\n<!-- Page 9 -->\n";
        let expected = ["One\n\na\tb2\nc\t", "", "<!-- Page 1 -->\nthree #1 a|b\n<!-- Page 9 -->"];
        let pages = pages_of(markdown, 3);
        assert_eq!(
            pages.iter().map(|page| page.trim_end()).collect::<Vec<_>>(),
            expected.map(str::trim_end)
        );
        assert_eq!(pages_of("", 0), [""]);
    }

    #[test]
    fn what_begins_as_another_form_is_no_pdf() {
        assert!(is_pdf(b"%PDF-1.7\n") && is_pdf(b"\n\n%PDF-1.4\n"));
        for other in [b"PK\x03\x04", b"{\\rtf".as_slice(), COMPOUND] {
            assert!(!is_pdf(&[other, b" how %PDF-1.7 begins"].concat()), "{other:?}");
        }
    }

    #[test]
    fn numbers_are_shown_as_ranges() {
        assert_eq!(ranges(&[2, 5, 6, 7, 12].into()), "2, 5-7, 12");
        assert_eq!(ranges(&[1, 2].into()), "1-2");
    }
}
