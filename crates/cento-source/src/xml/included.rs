//! Finds the files that an XML file includes: by XInclude, a DITA map, or an external entity.

use quick_xml::events::{BytesStart, Event};

use super::entity::{Entities, EntityValue};
use super::epub::unescaped;
use super::root::{reader, split};
use super::{DECLARATION, Element};
use crate::charset;
use crate::format::has_ending;

/// File name extensions of XML with text. Other files of XML begin with a declaration.
const ENDINGS: [&str; 4] = [".xml", ".dita", ".ditamap", ".nxml"];

/// Words that only files with included files have.
const SIGNS: [&[u8]; 4] = [b"2001/XInclude", b"topicref", b"mapref", b"<!ENTITY"];

/// Elements of a DITA map that include a file.
const OF_MAPS: [&str; 2] = ["topicref", "mapref"];

/// Further elements of a map of a book, whose names are common.
const OF_BOOK_MAPS: [&str; 6] =
    ["appendix", "chapter", "notices", "part", "preface", "frontmatter"];

/// Returns whether a file is XML with possible includes.
pub fn may_include(place: &str, bytes: &[u8]) -> bool {
    let start = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    start.starts_with(DECLARATION) || has_ending(place, &ENDINGS)
}

/// Returns the addresses of files included by an XML file, relative to the XML file.
pub fn included(bytes: &[u8]) -> Vec<String> {
    let is_wide = bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff");
    if !is_wide && !SIGNS.iter().any(|sign| memchr::memmem::find(bytes, sign).is_some()) {
        return Vec::new();
    }
    let xml = charset::decode(bytes, None).text;
    let (mut reader, mut found) = (reader(&xml), Vec::new());
    let (mut entities, mut root) = (Entities::default(), None);
    // After damage, the text is not read either.
    while let Ok(event) = reader.read_event() {
        match event {
            Event::DocType(declarations) => entities.declare(&declarations),
            Event::GeneralRef(name) => {
                if let Some(EntityValue::File(address)) = entities.get(&name) {
                    found.push(address.clone());
                }
            }
            Event::Start(tag) => {
                let name = tag.name();
                let name = split(name.as_ref()).1;
                let root = root.get_or_insert_with(|| name.to_owned());
                found.extend(included_by(&tag, root == "bookmap"));
            }
            Event::Eof => break,
            _ => {}
        }
    }
    let file = |address: String| unescaped(address.split('#').next().unwrap_or_default());
    found.into_iter().map(file).filter(|file| !file.is_empty()).collect()
}

/// Returns the address of the file that an element includes.
fn included_by(tag: &BytesStart<'_>, is_of_book: bool) -> Option<String> {
    let qualified = tag.name();
    let (prefix, name) = split(qualified.as_ref());
    let element = Element { tag, prefix, name };
    let space = || element.attribute("xmlns").unwrap_or_default();
    let includes = match name {
        "include" => prefix == "xi" || space().contains("XInclude"),
        name => OF_MAPS.contains(&name) || (is_of_book && OF_BOOK_MAPS.contains(&name)),
    };
    // Files that a map names for links alone.
    let is_aside =
        element.has("scope", "external") || element.has("processing-role", "resource-only");
    element.attribute("href").filter(|_| includes && !is_aside)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(xml: &str, expected: &[&str]) {
        assert_eq!(included(xml.as_bytes()), expected, "{xml}");
    }

    #[test]
    fn included_files_are_found_where_they_are_used() {
        let xi = "xmlns:xi='http://www.w3.org/2001/XInclude'";
        check(
            &format!("<TEI {xi}><xi:include href='a%20b.xml'/><xi:include xpointer='x'/></TEI>"),
            &["a b.xml"],
        );
        check(
            "<b><include xmlns='http://www.w3.org/2001/XInclude' href='../a.xml#x'/></b>",
            &["../a.xml"],
        );
        let map = "<topicref href='a.dita'><mapref href='b.ditamap'/></topicref><chapter href='c'/>\
                   <topicref href='d' scope='external'/>";
        check(&format!("<map>{map}</map>"), &["a.dita", "b.ditamap"]);
        check(&format!("<bookmap>{map}</bookmap>"), &["a.dita", "b.ditamap", "c"]);
        let declared = "<!DOCTYPE b [<!ENTITY a SYSTEM 'a.xml'><!ENTITY c SYSTEM 'c.xml'>]>";
        check(&format!("{declared}<b>&a; &amp;</b>"), &["a.xml"]);
        check("<program><include href='a.h'/></program>", &[]);
    }
}
