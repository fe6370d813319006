//! Text of .docx files.

use super::package::Package;
use super::word::Word;
use super::{Out, walk};
use crate::extracted::ExtractedText;
use crate::html;

/// Maximum nesting of documents in documents, counting the outermost.
const DEPTH_MAX: usize = 3;

/// The kinds of relations to parts beside the text, in reading order.
const BESIDE: [&str; 5] = ["footnotes", "endnotes", "diagramData", "header", "footer"];

/// Returns the text of a document.
///
/// # Errors
/// When it cannot be read, with the reason as a clause.
pub fn text_of(bytes: &[u8]) -> Result<ExtractedText, String> {
    at_depth(&mut Package::open(bytes)?, 1)
}

fn at_depth(package: &mut Package<'_>, depth: usize) -> Result<ExtractedText, String> {
    let main = package.relations("");
    let main = main.into_values().find(|relation| relation.kind == "officeDocument");
    let main = main.map_or_else(|| "word/document.xml".to_owned(), |relation| relation.target);
    let relations = package.relations(&main);
    let mut beside: Vec<(usize, String)> = Vec::new();
    let mut word = Word::default();
    for relation in relations.values() {
        if relation.kind == "styles" {
            let styles = package.xml(&relation.target)?;
            walk(&styles, &mut word, &mut Out::default());
        }
        if let Some(at) = BESIDE.iter().position(|kind| relation.kind == *kind) {
            beside.push((at, relation.target.clone()));
        }
    }
    beside.sort();
    beside.dedup();
    let mut missing = None;
    for (id, relation) in relations.iter().filter(|(_, relation)| relation.kind == "aFChunk") {
        match embedded(package, &relation.target, depth) {
            Ok(mut extracted) => {
                missing = missing.or(extracted.missing.take());
                word.embedded.insert(id.clone(), extracted);
            }
            Err(why) => {
                missing = missing.or(Some(format!("a file embedded in it is not read: {why}")));
            }
        }
    }
    let (document, mut out) = (package.xml(&main)?, Out::default());
    missing = walk(&document, &mut word, &mut out).or(missing);
    // Most pages have the same header.
    let mut read = Vec::new();
    for (_, part) in beside {
        let mut part_out = Out::default();
        let damage = match package.xml(&part) {
            Ok(xml) => walk(&xml, &mut word, &mut part_out),
            Err(why) => Some(why),
        };
        missing = missing.or(damage);
        let ExtractedText { text, hidden, .. } = part_out.finish(None);
        if !read.contains(&text) {
            out.hidden += hidden;
            out.aside(text.clone());
            read.push(text);
        }
    }
    Ok(out.finish(missing))
}

/// Returns the text of an embedded file: a web page, plain text, or a further document.
fn embedded(package: &mut Package<'_>, part: &str, depth: usize) -> Result<ExtractedText, String> {
    let bytes = package.part(part)?;
    let name = part.to_ascii_lowercase();
    if bytes.starts_with(b"PK\x03\x04") {
        return match depth < DEPTH_MAX {
            true => at_depth(&mut Package::open(&bytes)?, depth + 1),
            false => Err("it is in too many others".into()),
        };
    }
    if [".htm", ".html", ".xhtml"].iter().any(|end| name.ends_with(end)) {
        return Ok(html::body_of(&bytes));
    }
    if name.ends_with(".txt") {
        let text = crate::charset::decode(&bytes, None).text.into_owned();
        return Ok(ExtractedText { text, ..ExtractedText::default() });
    }
    #[cfg(feature = "office")]
    if bytes.starts_with(b"{\\rtf") {
        return crate::extract::rtf::text_of(&bytes);
    }
    Err(format!("{part} is in a form that is not read there"))
}
