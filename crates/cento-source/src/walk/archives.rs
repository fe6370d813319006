//! Opens archives and documents that are zip files.

use std::io::Seek;
use std::ops::ControlFlow;
use std::sync::Arc;

use super::WalkReader;
use crate::archive::{self, Entry, ZipForm};
use crate::bytes::Source;
use crate::filter::ABOUT_PAGES;
use crate::format::has_ending;
use crate::sniff;
use crate::too_long;
use crate::unread;
use crate::warc;
use cento::Error;

/// The extension of zip archives.
const ZIP: &str = ".zip";

/// Extensions of documents that are zip files.
const ZIP_DOCUMENTS: [&str; 10] =
    [".docx", ".docm", ".dotx", ".pptx", ".pptm", ".ppsx", ".odt", ".odp", ".ott", ".epub"];

impl WalkReader<'_> {
    /// Reads a zip file: an archive, or a document.
    pub(super) fn zip(
        &mut self,
        place: &Arc<str>,
        name: &str,
        start: &[u8],
        source: Source<'_>,
    ) -> ControlFlow<()> {
        let max = self.options.record_bytes_max;
        let mut file = match source.seekable(max) {
            Ok(Some(file)) => file,
            Ok(None) => return self.fail(unread(place, too_long(self.options.record_bytes_max))),
            Err(error) => return self.fail(Error::io("read", &**place, error)),
        };
        let form = archive::form_of_zip(&mut file);
        if let Err(error) = file.rewind() {
            return self.fail(Error::io("read", &**place, error));
        }
        match form {
            Ok(ZipForm::Java) if has_ending(name, &[ZIP]) => {
                self.archive(place, file, |file, each| archive::zip(file, each))
            }
            Ok(ZipForm::Java) => self.skip(place, "it is a Java archive"),
            Ok(ZipForm::Web) => self.archive(place, file, |file, each| {
                archive::zip(file, &mut |name, entry| match entry {
                    Entry::EmptyDirectory => each(name, entry),
                    _ if name.starts_with(archive::WEB_PAGES) => each(name, entry),
                    _ => each(name, Entry::LeftOut(ABOUT_PAGES)),
                })
            }),
            Ok(ZipForm::Unread(why)) => self.skip(place, why),
            Ok(ZipForm::Document) => self.document(place, start, Source::of(file)),
            // The document's own parser may still read a damaged file.
            Err(_)
                if has_ending(name, &ZIP_DOCUMENTS)
                    || (sniff::begins_as_document(start) && !has_ending(name, &[ZIP])) =>
            {
                self.document(place, start, Source::of(file))
            }
            Ok(ZipForm::Archive) | Err(_) => {
                self.archive(place, file, |file, each| archive::zip(file, each))
            }
        }
    }

    pub(super) fn tar(&mut self, place: &Arc<str>, source: Source<'_>) -> ControlFlow<()> {
        self.archive(place, source, |source, each| archive::tar(source, each))
    }

    /// Reads a WARC or ARC archive.
    pub(super) fn web_archive(
        &mut self,
        place: &Arc<str>,
        source: Source<'_>,
        is_arc: bool,
    ) -> ControlFlow<()> {
        let kind = if is_arc { warc::Kind::Arc } else { warc::Kind::Warc };
        self.archive(place, source, |source, each| warc::pages(source, kind, each))
    }
}
