//! Text of e-books (.epub).
//!
//! Chapters are read in the order of the spine, and each chapter once. Chapters are read as web
//! pages, because they use HTML's names of characters and declare their own encodings.

use std::collections::{HashMap, HashSet};

use super::package::{Package, resolved};
use super::{Element, Format, Out, Rule, walk};
use crate::extracted::ExtractedText;
use crate::html;

/// Returns the text of an e-book.
///
/// # Errors
/// When it cannot be read, with the reason as a clause.
pub fn text_of(bytes: &[u8]) -> Result<ExtractedText, String> {
    let package = &mut Package::open(bytes)?;
    let mut container = Opf::default();
    walk(&package.xml("META-INF/container.xml")?, &mut container, &mut Out::default());
    let root = container.root.ok_or("it is damaged: it does not say where its contents are")?;
    let mut book = Opf::default();
    let mut missing = walk(&package.xml(&root)?, &mut book, &mut Out::default());
    let mut encrypted = Opf::default();
    if package.has("META-INF/encryption.xml") {
        let encryption = package.xml("META-INF/encryption.xml")?;
        walk(&encryption, &mut encrypted, &mut Out::default());
    }
    let dir = root.rsplit_once('/').map_or("", |(dir, _)| dir);
    let (mut read, mut chapters, mut hidden) = (HashSet::new(), Vec::new(), 0);
    for href in book.spine.iter().filter_map(|id| book.items.get(id)) {
        let name = resolved(dir, &unescaped(href.split('#').next().unwrap_or_default()));
        if !read.insert(name.clone()) {
            continue;
        }
        if encrypted.locked.contains(&name) {
            return Err("it is encrypted: it is protected against copying".into());
        }
        match package.part(&name) {
            Ok(chapter) => {
                let chapter = html::body_of(&chapter);
                hidden += chapter.hidden;
                chapters.push(chapter.text);
            }
            Err(why) => missing = missing.or(Some(why)),
        }
    }
    chapters.retain(|chapter| !chapter.is_empty());
    Ok(ExtractedText { text: chapters.join("\n\n"), missing, hidden })
}

/// The tables that lead from the container file to the chapters.
#[derive(Default)]
struct Opf {
    /// The path of the file that lists the chapters.
    root: Option<String>,
    /// The files, by their ids.
    items: HashMap<String, String>,
    /// The ids of the chapters, in order.
    spine: Vec<String>,
    /// The paths of encrypted files.
    locked: HashSet<String>,
}

impl Format for Opf {
    fn start(&mut self, element: &Element<'_>, _: usize, _: &mut Out) -> Rule {
        match element.name {
            "rootfile" if self.root.is_none() => self.root = element.attribute("full-path"),
            "item" => {
                if let (Some(id), Some(href)) = (element.attribute("id"), element.attribute("href"))
                {
                    self.items.entry(id).or_insert(href);
                }
            }
            "itemref" => self.spine.extend(element.attribute("idref")),
            "CipherReference" => {
                self.locked.extend(element.attribute("URI").map(|uri| unescaped(&uri)));
            }
            _ => {}
        }
        Rule::Inline
    }
}

/// Decodes the escaped bytes of an address.
pub fn unescaped(address: &str) -> String {
    let (mut bytes, mut rest) = (Vec::new(), address.as_bytes());
    while let Some((&byte, after)) = rest.split_first() {
        let escaped = after.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        let escaped = escaped.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match escaped {
            Some(escaped) if byte == b'%' => {
                bytes.push(escaped);
                rest = &after[2..];
            }
            _ => {
                bytes.push(byte);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_chapters_may_be_escaped() {
        assert_eq!(unescaped("a%20b%C3%A9.xhtml"), "a b\u{e9}.xhtml");
        assert_eq!(unescaped("100%"), "100%");
    }
}
