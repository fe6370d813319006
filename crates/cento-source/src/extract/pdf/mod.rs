//! Text of PDFs.
//!
//! The hayro interpreter draws each page on a device that only records letters and their positions
//! (`page`). The visible letters (`sight`) are then put into the order of columns and lines
//! (`layout`), and the pages become a text (`flow`).

mod bidi;
mod compound;
mod copies;
mod field;
mod flow;
mod fonts;
mod layout;
mod margin;
mod page;
#[cfg(test)]
mod pages_tests;
mod row;
mod running;
mod segment;
mod sight;
mod spelled;
#[cfg(test)]
mod tests;
mod text_string;

use std::collections::BTreeSet;
use std::sync::Arc;

use hayro_interpret::hayro_syntax::object::Dict;
use hayro_interpret::hayro_syntax::page::Page;
use hayro_interpret::hayro_syntax::{DecryptionError, LoadPdfError, Pdf};
use hayro_interpret::kurbo::Rect;
use hayro_interpret::{
    Context, InterpreterCache, InterpreterSettings, TransformExt, interpret_page,
};

use super::{ExtractedText, TEXT_BYTES_MAX};
use crate::format::COMPOUND;
use margin::Margins;
use row::PageRow;

/// Maximum offset of the header of a PDF (ISO 32000-1, annex H, note 13).
const HEADER_BYTES_MAX: usize = 1024;

/// A page with more lines and areas shows something.
const FILLS_SHOWN: usize = 20;

/// The result of reading a page.
enum PageOutcome {
    /// The rows, and the number of letters that a reader does not see.
    Text(Vec<PageRow>, usize),
    /// The page shows images but no letters.
    Image,
    /// Much of the page is in fonts whose letters are unknown.
    Unknown,
    /// The content of the page cannot be decoded.
    Damaged,
}

/// Returns whether the bytes are a PDF.
pub fn is_pdf(bytes: &[u8]) -> bool {
    let start = &bytes[..bytes.len().min(HEADER_BYTES_MAX)];
    // A file in a different format may contain these bytes further on.
    let is_other = [&b"PK"[..], b"{\\rtf", COMPOUND].iter().any(|mark| start.starts_with(mark));
    !is_other && memchr::memmem::find(start, b"%PDF-").is_some()
}

/// Returns the text of a PDF.
///
/// # Errors
/// When it has no text, with the reason as a clause.
pub fn extract(bytes: &[u8]) -> Result<ExtractedText, String> {
    let pdf = Pdf::new(Arc::new(bytes.to_vec())).map_err(reason)?;
    let pages = pdf.pages();
    if pages.is_empty() {
        return Err("it is damaged: it has no pages".into());
    }
    let cache = InterpreterCache::new();
    let fonts = fonts::Fonts::new(&pdf);
    let (mut all, mut hidden, mut bytes): (Vec<Vec<PageRow>>, _, _) = (Vec::new(), 0, 0);
    let (mut gaps, mut margins) = (Gaps::default(), Margins::default());
    for (number, page) in (1..).zip(pages.iter()) {
        let outcome = read(page, &pdf, &cache, &fonts, &mut margins)?;
        let rows = match outcome {
            PageOutcome::Text(rows, unseen) => {
                hidden += unseen;
                rows
            }
            outcome => {
                gaps.add(number, &outcome);
                Vec::new()
            }
        };
        bytes += rows.iter().map(|row| row.text.len() as u64).sum::<u64>();
        if bytes > TEXT_BYTES_MAX {
            return Err(format!("its text has more than {} MiB", TEXT_BYTES_MAX >> 20));
        }
        all.push(rows);
    }
    let lost = announced(&pdf).unwrap_or(0).saturating_sub(all.len());
    if all.iter().all(Vec::is_empty) {
        gaps.check(lost)?;
    }
    let missing = gaps.missing(all.len(), lost);
    Ok(ExtractedText { text: flow::text_of(all), missing, hidden })
}

fn reason(error: LoadPdfError) -> String {
    match error {
        LoadPdfError::Decryption(DecryptionError::PasswordProtected) => {
            "it is encrypted; remove the password".into()
        }
        LoadPdfError::Decryption(DecryptionError::UnsupportedAlgorithm) => {
            "it is encrypted in a way that is not known; remove the password".into()
        }
        LoadPdfError::Decryption(_) => "it is encrypted, and how is damaged".into(),
        LoadPdfError::Invalid => "it is damaged or no PDF".into(),
    }
}

/// Returns the number of pages that the document declares.
fn announced(pdf: &Pdf) -> Option<usize> {
    let catalog = pdf.xref().get::<Dict<'_>>(pdf.xref().root_id())?;
    let count = catalog.get::<Dict<'_>>("Pages")?.get::<i32>("Count")?;
    usize::try_from(count).ok()
}

/// Reads the text of a page.
///
/// # Errors
/// When the page has too many letters.
fn read<'a>(
    page: &Page<'a>,
    pdf: &'a Pdf,
    cache: &InterpreterCache<'a>,
    fonts: &fonts::Fonts<'a>,
    margins: &mut Margins,
) -> Result<PageOutcome, String> {
    if page.raw().contains_key("Contents") && page.page_stream().is_none() {
        return Ok(PageOutcome::Damaged);
    }
    let (width, height) = page.render_dimensions();
    let area = Rect::new(0.0, 0.0, f64::from(width), f64::from(height));
    let transform = page.initial_transform(true).to_kurbo();
    let settings = InterpreterSettings::default();
    let mut context = Context::new(transform, area, cache, pdf.xref(), settings);
    let mut canvas = page::Canvas::new(fonts);
    interpret_page(page, &mut context, &mut canvas);
    if canvas.is_full {
        return Err(format!("a page of it has more than {} letters", page::LETTERS_MAX));
    }
    canvas.letters.extend(field::values(page, transform));
    let mut seen = sight::seen(&canvas, area);
    let copies = copies::copies(&canvas.letters, &mut seen);
    let is_read = |at: usize| seen[at] && !copies[at];
    let letters = || canvas.letters.iter().enumerate();
    let (mut shown, mut unknown, mut hidden) = (0, 0, 0);
    for (at, letter) in letters().filter(|(at, letter)| !copies[*at] && !letter.is_space()) {
        match is_read(at) {
            true => {
                shown += 1;
                unknown += usize::from(letter.is_unreadable());
            }
            false => hidden += letter.text.chars().count(),
        }
    }
    Ok(if unknown * 4 > shown {
        PageOutcome::Unknown
    } else if shown == 0 && canvas.shows_more(FILLS_SHOWN) {
        PageOutcome::Image
    } else {
        let read = letters().filter(|(at, _)| is_read(*at)).map(|(_, letter)| letter);
        PageOutcome::Text(layout::rows_of(read, margins), hidden)
    })
}

/// The pages without readable text.
#[derive(Default)]
struct Gaps {
    images: BTreeSet<usize>,
    unknown: BTreeSet<usize>,
    damaged: BTreeSet<usize>,
}

impl Gaps {
    fn add(&mut self, number: usize, outcome: &PageOutcome) {
        match outcome {
            PageOutcome::Text(..) => return,
            PageOutcome::Image => &mut self.images,
            PageOutcome::Unknown => &mut self.unknown,
            PageOutcome::Damaged => &mut self.damaged,
        }
        .insert(number);
    }

    /// Refuses a document without readable text.
    fn check(&self, lost: usize) -> Result<(), String> {
        if !self.unknown.is_empty() {
            let advice = "recognize its text (OCR) first";
            return Err(format!("its fonts do not say which letters they have; {advice}"));
        }
        if !self.images.is_empty() {
            let advice = "recognize it (OCR) first";
            return Err(format!("it is a scan: its pages are images, without text; {advice}"));
        }
        match self.damaged.is_empty() && lost == 0 {
            true => Ok(()),
            false => Err("it is damaged: none of its pages can be decoded".into()),
        }
    }

    /// Returns the unread parts of a document with `count` pages, as a clause.
    fn missing(&self, count: usize, lost: usize) -> Option<String> {
        let images = ["is an image without text", "are images without text"];
        let unknown = [
            "has fonts that do not say which letters they have",
            "have fonts that do not say which letters they have",
        ];
        let damaged = ["cannot be decoded"; 2];
        let mut parts: Vec<String> = Vec::new();
        let mut add = |pages: &BTreeSet<usize>, [one, many]: [&str; 2]| match pages.len() {
            0 => {}
            1 => parts.push(format!("page {} of {count} {one}", ranges(pages))),
            _ => parts.push(format!("pages {} of {count} {many}", ranges(pages))),
        };
        add(&self.images, images);
        add(&self.unknown, unknown);
        add(&self.damaged, damaged);
        if lost > 0 {
            parts.push(format!("{lost} of {} pages cannot be found", count + lost));
        }
        (!parts.is_empty()).then(|| format!("{}, and missing", parts.join(", ")))
    }
}

/// Writes numbers as in `2, 5-7, 12`.
fn ranges(numbers: &BTreeSet<usize>) -> String {
    let mut ranges: Vec<(usize, usize)> = Vec::new();
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
