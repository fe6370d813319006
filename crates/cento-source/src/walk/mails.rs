//! The documents in mails and mailboxes.

use std::io;
use std::ops::ControlFlow;
use std::sync::Arc;

use super::WalkReader;
use super::{ARCHIVES_MAX, Within};
use crate::bytes::Source;
use crate::mail::{self, Attachment, InMailbox, Mail};
use crate::{Chunk, ChunkKind, EMPTY, Html, too_long, unread};
use cento::Error;

impl WalkReader<'_> {
    /// Reads a mail, whose attachments are read as files.
    pub(super) fn mail(&mut self, place: &Arc<str>, source: Source<'_>) -> ControlFlow<()> {
        match self.bytes(place, source) {
            Ok(bytes) => self.parsed(place, bytes),
            Err(error) => self.fail(error),
        }
    }

    /// Reads a mailbox, whose mails have numbers as names.
    pub(super) fn mailbox(&mut self, place: &Arc<str>, source: Source<'_>) -> ControlFlow<()> {
        if self.is_one {
            return self.skip(place, "it is a mailbox; each of its mails is a text");
        }
        let before = self.chunks;
        let read = mail::read_mailbox(source, self.options.record_bytes_max, |found| match found {
            InMailbox::Mail(number, bytes) => {
                self.parsed(&format!("{place}/{number}").into(), bytes)
            }
            InMailbox::TooLong(number) => self.fail(unread(
                &format!("{place}/{number}"),
                too_long(self.options.record_bytes_max),
            )),
        });
        read.unwrap_or_else(|error| self.fail(Error::io(self.read_since(before), &**place, error)))
    }

    fn parsed(&mut self, place: &Arc<str>, bytes: Vec<u8>) -> ControlFlow<()> {
        let len = bytes.len() as u64;
        let parsed = mail::parse(bytes, self.options.encoding.as_deref());
        let Mail { text, hidden, page, attachments } = match parsed {
            Ok(mail) => mail,
            Err(why) => return self.fail(unread(place, why)),
        };
        if let Some(page) = page {
            let kind = match (self.options.html, &crate::html::FORMAT.markup) {
                (Html::Content | Html::All, Some(markup)) => ChunkKind::Markup(markup),
                _ => ChunkKind::File,
            };
            let (path, id_source, parts) = (place.clone(), self.id_source, None);
            return self.emit(Ok(Chunk {
                path,
                bytes: page,
                kind,
                id_source,
                parts,
                definitions: None,
            }));
        }
        if self.is_one && !attachments.is_empty() {
            return self.skip(place, "it is a mail with attachments; each of them is a text");
        }
        if !text.trim().is_empty() {
            let (bytes, id_source) = (text.into_bytes(), self.id_source);
            let kind = ChunkKind::Text { hidden };
            let (path, parts) = (place.clone(), None);
            self.emit(Ok(Chunk { path, bytes, kind, id_source, parts, definitions: None }))?;
        } else if attachments.is_empty() {
            return self.skip(place, EMPTY);
        }
        let is_too_deep = self.within.len() == ARCHIVES_MAX;
        self.within.push(Within::of(len));
        let flow = attachments.into_iter().try_for_each(|Attachment { name, bytes }| {
            let place: Arc<str> = format!("{place}/{name}").into();
            match bytes {
                _ if is_too_deep => {
                    self.skip(&place, "it is attached to a mail in an archive in an archive")
                }
                Ok(bytes) => self.stream(&place, Source::Bytes(io::Cursor::new(bytes))),
                Err(why) => self.fail(unread(&place, why)),
            }
        });
        self.within.pop();
        flow
    }
}
