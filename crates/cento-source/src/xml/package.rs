//! Reads the parts of documents that are zip files.

use std::collections::HashMap;
use zip::result::ZipError;

use std::io::{Cursor, Read};

use super::{Element, Format, Out, Rule, walk};
use crate::charset::EncodingLabel;
use crate::html;

/// The maximum total size of the parts read from a document, in bytes.
const PART_BYTES_MAX: u64 = 128 << 20;

/// A document in a zip file.
pub struct Package<'a> {
    archive: zip::ZipArchive<Cursor<&'a [u8]>>,
    /// The number of bytes that may still be read.
    left: u64,
}

/// The references of a part to other parts, by id.
pub type Relations = HashMap<String, Relation>;

/// A reference between two parts.
#[derive(Debug, Clone)]
pub struct Relation {
    /// The last component of the URI that names the kind.
    pub kind: String,
    /// The name of the part.
    pub target: String,
}

impl<'a> Package<'a> {
    /// Opens a document.
    ///
    /// # Errors
    /// When the zip file is damaged, as a clause.
    pub fn open(bytes: &'a [u8]) -> Result<Package<'a>, String> {
        let archive = zip::ZipArchive::new(Cursor::new(bytes));
        let archive = archive.map_err(|error| format!("it is damaged or no document: {error}"))?;
        Ok(Package { archive, left: PART_BYTES_MAX })
    }

    /// Returns whether the document has this part.
    pub fn has(&self, name: &str) -> bool {
        self.archive.index_for_name(name).is_some()
    }

    /// Returns the names of all parts with this prefix.
    pub fn names(&self, start: &str) -> Vec<String> {
        let names = self.archive.file_names().flatten();
        names.filter(|name| name.starts_with(start)).map(|name| name.to_string()).collect()
    }

    /// Reads the bytes of a part.
    ///
    /// # Errors
    /// When it is missing, damaged or too large, as a clause.
    pub fn part(&mut self, name: &str) -> Result<Vec<u8>, String> {
        let name = name.trim_start_matches('/');
        let damaged = |what: String| format!("it is damaged: {name}: {what}");
        let entry = self.archive.by_name(name).map_err(|error| match error {
            ZipError::UnsupportedArchive(ZipError::PASSWORD_REQUIRED) => {
                "it is encrypted; remove the password".to_owned()
            }
            error => damaged(error.to_string()),
        })?;
        let mut bytes = Vec::new();
        let read = entry.take(self.left + 1).read_to_end(&mut bytes);
        read.map_err(|error| damaged(error.to_string()))?;
        let left = self.left.checked_sub(bytes.len() as u64);
        self.left = left.ok_or_else(|| {
            format!("it is larger inside than is read ({} MiB)", PART_BYTES_MAX >> 20)
        })?;
        Ok(bytes)
    }

    /// Reads the XML of a part.
    ///
    /// # Errors
    /// As [`part`](Self::part).
    pub fn xml(&mut self, name: &str) -> Result<String, String> {
        Ok(html::decoded_xml(&self.part(name)?, EncodingLabel::Missing)?.into_owned())
    }

    /// Returns the references of a part of an Office document. The result may be empty.
    pub fn relations(&mut self, part: &str) -> Relations {
        let (dir, file) = part.rsplit_once('/').unwrap_or(("", part));
        let name = format!("{dir}/_rels/{file}.rels");
        let Ok(xml) = self.xml(&name) else { return Relations::new() };
        let mut reader = RelationReader { dir, relations: Relations::new() };
        walk(&xml, &mut reader, &mut Out::default());
        reader.relations
    }
}

/// Reads relations from XML.
struct RelationReader<'a> {
    /// The directory that relative targets refer to.
    dir: &'a str,
    relations: Relations,
}

impl Format for RelationReader<'_> {
    fn start(&mut self, element: &Element<'_>, _: usize, _: &mut Out) -> Rule {
        let id = element.attribute("Id");
        if let (Some(id), Some(kind), Some(target)) =
            (id, element.attribute("Type"), element.attribute("Target"))
            && !element.has("TargetMode", "External")
        {
            let kind = kind.rsplit('/').next().unwrap_or_default().to_owned();
            self.relations.insert(id, Relation { kind, target: resolved(self.dir, &target) });
        }
        Rule::Inline
    }
}

/// Returns the full name of a part, from a target relative to `dir`.
pub fn resolved(dir: &str, target: &str) -> String {
    let dir = if target.starts_with('/') { "" } else { dir };
    let mut names: Vec<&str> = Vec::new();
    for name in dir.split('/').chain(target.split('/')) {
        match name {
            "" | "." => {}
            ".." => {
                names.pop();
            }
            name => names.push(name),
        }
    }
    names.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_parts_are_relative_to_the_part_that_refers_to_them() {
        assert_eq!(resolved("word", "footnotes.xml"), "word/footnotes.xml");
        assert_eq!(resolved("ppt/slides", "../notesSlides/a.xml"), "ppt/notesSlides/a.xml");
        assert_eq!(resolved("word", "/word/./a.xml"), "word/a.xml");
        assert_eq!(resolved("", "../a"), "a");
    }
}
