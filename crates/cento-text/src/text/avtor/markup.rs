//! Removal of HTML markup.
//!
//! Tags, comments, and the contents of scripts and style sheets are removed, and character
//! references become their characters (Sharapova and Sharapova 2018, section 3.3). A tag within a
//! line of text (`<b>`) joins the text around it, and every other tag separates the text, as a
//! reader sees it.

use super::edit::EditedText;
use html5gum::emitters::callback::{CallbackEmitter, CallbackEvent};
use html5gum::{Emitter, ForwardingEmitter, Tokenizer};
use std::convert::Infallible;

/// Elements whose contents are skipped.
const HIDDEN: [&[u8]; 2] = [b"script", b"style"];

/// Elements within a line of text, whose tags separate nothing.
const WITHIN_LINES: [&[u8]; 24] = [
    b"a", b"abbr", b"acronym", b"b", b"big", b"cite", b"code", b"dfn", b"em", b"font", b"i",
    b"kbd", b"mark", b"q", b"s", b"samp", b"small", b"span", b"strong", b"sub", b"sup", b"tt",
    b"u", b"wbr",
];

/// The maximum length of a character reference, with `&` and `;`.
const REFERENCE_BYTES_MAX: usize = 40;

/// Returns the text without its markup, or `None` for a text without markup.
pub(in crate::text) fn strip(text: &str) -> Option<EditedText> {
    let Some(tag) = first_tag(text) else {
        // Most texts with an ampersand have no reference.
        memchr::memchr(b'&', text.as_bytes())?;
        let mut edited = EditedText::default();
        push_text(&mut edited, text, 0, text.len());
        return (!edited.is_copy()).then_some(edited);
    };
    Some(read(text, tag))
}

/// Returns where a tokenizer must start: at the first tag, comment or declaration (HTML, section
/// 13.2.5.6, "Tag open state"). Any earlier `<` is a character of the text.
fn first_tag(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let at = memchr::memchr_iter(b'<', bytes).find(|&at| {
        let next = bytes.get(at + 1);
        next.is_some_and(|&next| next.is_ascii_alphabetic() || b"/!?".contains(&next))
    })?;
    // `</>` is no token, and whether `</>` is text depends on the preceding characters.
    if bytes[at..].starts_with(b"</>") { Some(0) } else { Some(at) }
}

/// Passes positions on, but not errors, nor the contents of strings, comments and attributes, which
/// are unused: checking and copying the contents took two thirds of the time.
struct Positions<E>(E);

impl<E: Emitter> ForwardingEmitter for Positions<E> {
    type Token = E::Token;

    fn inner(&mut self) -> &mut impl Emitter<Token = E::Token> {
        &mut self.0
    }

    fn should_emit_errors(&mut self) -> bool {
        false
    }

    fn emit_string(&mut self, text: &[u8]) {
        // An empty string would not be reported.
        self.0.emit_string(&text[..text.len().min(1)]);
    }

    fn push_comment(&mut self, _: &[u8]) {}

    fn push_attribute_name(&mut self, _: &[u8]) {}

    fn push_attribute_value(&mut self, _: &[u8]) {}
}

/// Returns the remaining text. Before byte `from` there is no markup except references.
fn read(text: &str, from: usize) -> EditedText {
    let mut edited = EditedText::default();
    push_text(&mut edited, text, 0, from);
    let mut is_hidden = false;
    let mut separates: Option<usize> = None;
    // The end of the interpreted text.
    let mut end = from;
    let callback = |event: CallbackEvent<'_>, span: html5gum::Span<usize>| -> Option<Infallible> {
        let span = html5gum::Span { start: from + span.start, end: from + span.end };
        let is_unclosed = |text: &str| !text.ends_with("-->") && !text.ends_with("--!>");
        match event {
            CallbackEvent::Comment { .. } if span.end >= text.len() && is_unclosed(text) => {
                return None;
            }
            CallbackEvent::String { .. }
            | CallbackEvent::CloseStartTag { .. }
            | CallbackEvent::EndTag { .. }
            | CallbackEvent::Comment { .. }
            | CallbackEvent::Doctype { .. } => end = end.max(span.end.min(text.len())),
            _ => {}
        }
        match event {
            CallbackEvent::String { .. } if !is_hidden => {
                if let Some(at) = separates.take() {
                    edited.replace(" ", at, span.start.max(at));
                }
                push_text(&mut edited, text, span.start, span.end);
            }
            CallbackEvent::OpenStartTag { name } => {
                is_hidden = HIDDEN.contains(&name);
                if !WITHIN_LINES.contains(&name) {
                    separates = separates.or(Some(span.start));
                }
            }
            CallbackEvent::EndTag { name } => {
                is_hidden &= !HIDDEN.contains(&name);
                if !WITHIN_LINES.contains(&name) {
                    separates = separates.or(Some(span.start));
                }
            }
            _ => {}
        }
        None
    };
    let mut emitter = CallbackEmitter::new(callback);
    emitter.naively_switch_states(true);
    // Reading from memory does not fail, and the callback yields nothing: a single call reads
    // everything.
    let nothing = Tokenizer::new_with_emitter(&text[from..], Positions(emitter)).next();
    debug_assert!(nothing.is_none());
    // A tag or comment without an end is text: "i<n" in a text that is not HTML.
    if !is_hidden && text[end..].starts_with('<') {
        edited.replace(" ", end, end);
        push_text(&mut edited, text, end, text.len());
    }
    edited
}

/// Appends text between tags, with its character references decoded.
fn push_text(edited: &mut EditedText, text: &str, start: usize, end: usize) {
    let mut copied = start;
    for (at, _) in text[start..end].match_indices('&') {
        let at = start + at;
        // Extends to the semicolon, unless a second reference begins before it.
        let length = text[at + 1..end].find([';', '&']).map_or(0, |length| length + 1);
        if length >= REFERENCE_BYTES_MAX || text.as_bytes()[at + length] != b';' {
            continue;
        }
        let reference = &text[at..=at + length];
        let decoded = html_escape::decode_html_entities(reference);
        if decoded != reference {
            edited.copy(text, copied, at);
            edited.replace(&decoded, at, at + reference.len());
            copied = at + reference.len();
        }
    }
    edited.copy(text, copied, end);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn visible_text_is_left() {
        let check = |text: &str, expected: &str| {
            let stripped = strip(text).map_or_else(|| text.to_owned(), |edited| edited.text);
            assert_eq!((read(text, 0).text.as_str(), stripped.as_str()), (expected, expected));
        };
        check("no tags & no < fuss", "no tags & no < fuss");
        check("<p>one</p><p>t<b>w</b>o</p>", " one two");
        check("&&amp; &x&lt;", "&& &x<");
        check("caf&eacute; &#233;&amp;x &nosuch; &", "caf\u{e9} \u{e9}&x &nosuch; &");
        check("a<!-- x > y -->b<script>if (a < b) c();</script>d<style>p {}</style>", "ab d");
        check("<a href='x>y'>z</a>", "z");
        check("if i<n then more", "if i <n then more");
        check("x <!-- not closed", "x  <!-- not closed");
        check("<ul><li>\u{436}<li>b", " \u{436} b");
    }

    /// Returns the text between the tags of a text, as the tokenizer returns it.
    fn strings(text: &str) -> String {
        let mut found = String::new();
        let mut is_hidden = false;
        let mut emitter = html5gum::DefaultEmitter::default();
        emitter.naively_switch_states(true);
        for token in Tokenizer::new_with_emitter(text, emitter).flatten() {
            match token {
                html5gum::Token::StartTag(tag) => is_hidden = HIDDEN.contains(&tag.name.as_slice()),
                html5gum::Token::EndTag(tag) => is_hidden &= !HIDDEN.contains(&tag.name.as_slice()),
                html5gum::Token::String(string) if !is_hidden => {
                    found += &String::from_utf8_lossy(&string.value);
                }
                _ => {}
            }
        }
        found
    }

    proptest! {
        #[test]
        fn any_text_is_no_panic_and_plain_text_is_left_alone(
            parts in prop::collection::vec(prop::sample::select(vec![
                "<p>", "</p>", "<b", ">", "&", "amp;", "\u{e9}", "\r\n", "\r", "word", " ", "<!--",
                "-->", "<script>", "</script>", "<![CDATA[", "\0", "<", "/", "'", "\"", "=", "\u{1d54f}",
                "<title>", "<plaintext>", "<textarea>", "</textarea>", "&#x110000;", "&#0;",
                "<a b='c'", "<?x", "<!x", "</",
            ]), 0..30),
        ) {
            let text = parts.concat();
            let edited = read(&text, 0);
            for (start, c) in edited.text.char_indices() {
                let span = crate::text::Span { start: start as u32, end: (start + c.len_utf8()) as u32 };
                let origin = edited.origin(span);
                prop_assert!(text.get(origin.start as usize..origin.end as usize).is_some());
            }
            if !text.contains(['<', '&']) {
                prop_assert_eq!(&edited.text, &text);
                prop_assert!(strip(&text).is_none());
            }
            // Starting at the first tag gives the same text, from the same places.
            let fast = strip(&text);
            prop_assert_eq!(fast.as_ref().map_or(&text, |fast| &fast.text), &edited.text);
            for (at, byte) in edited.text.bytes().enumerate().filter(|(_, byte)| byte.is_ascii()) {
                let span = crate::text::Span { start: at as u32, end: at as u32 + 1 };
                let origin = fast.as_ref().map_or(span, |fast| fast.origin(span));
                prop_assert_eq!(origin, edited.origin(span), "{}", byte);
            }
            // The spans agree with the tokenizer's own strings, which lack "</>" within a text.
            if !text.contains(['&', '\0']) && !text.contains("</>") {
                let letters = |text: &str| -> String {
                    text.chars().filter(|c| !c.is_whitespace()).collect()
                };
                let (own, all) = (letters(&edited.text), letters(&text));
                let rest = own.strip_prefix(&letters(&strings(&text)));
                let is_open = |rest: &str| rest.starts_with('<') && all.ends_with(rest);
                prop_assert!(rest.is_some_and(|rest| rest.is_empty() || is_open(rest)), "{own}");
            }
        }
    }
}
