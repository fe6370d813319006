//! The format of web pages.

use super::text_of;
use crate::extracted::ExtractedText;
use crate::format::{FileFormat, Markup, TextOf};
use crate::xml::root;

/// A web page: HTML or XHTML.
pub static FORMAT: FileFormat = FileFormat {
    name: "html",
    endings: &[".html", ".htm", ".xhtml"],
    documents: "the content of the page",
    feature: None,
    is_built: true,
    keeps_lines: false,
    example: b"<!DOCTYPE html><title>Tides</title>\n\
        <nav>Home</nav><p>Twice a day the <b>sea</b> rises.</p>\n",
    markup: Some(Markup {
        is: "it is a web page, such as the message of a server",
        begins: |start| {
            is_html(start.text) || (start.text.starts_with(b"<?xml") && root::is_page(start.bytes))
        },
        named_begins: Some(b"<"),
        text_of: TextOf::Bytes(|bytes, options| {
            let (text, origins, hidden) = text_of(bytes, options.label(), options.html)?;
            Ok((ExtractedText { text, hidden, ..ExtractedText::default() }, origins))
        }),
        has_source: true,
    }),
};

fn is_html(text: &[u8]) -> bool {
    let begins = |mark: &[u8]| {
        let start = text.get(..mark.len());
        let is_whole = text.get(mark.len()).is_none_or(|byte| !byte.is_ascii_alphanumeric());
        is_whole && start.is_some_and(|start| start.eq_ignore_ascii_case(mark))
    };
    [&b"<!doctype html"[..], b"<html"].iter().any(|mark| begins(mark))
}
