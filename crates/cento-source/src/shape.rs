//! Finds the place of records in JSON by its beginning.

use super::TextField;
use super::jsonl::PARTS;
use super::meta_fields::META;

/// The places of the records of a JSON text, which are objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Nesting {
    /// Objects in sequence, not within an array.
    Sequence,
    /// Elements of the top-level array.
    Array,
    /// Elements of arrays within objects, at this depth of brackets: two in `{"data": [{}]}`.
    Members(usize),
}

/// What the beginning of a text shows about records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// The text is not JSON.
    Other,
    /// JSON without any record.
    NoRecords,
    /// A JSON object per line.
    Lines,
    /// Records that may span lines.
    Records(Nesting),
    /// An object that continues after the beginning, without a text so far.
    Unclear,
}

/// The maximum number of open brackets. Deeper JSON is not examined.
const DEPTH_MAX: usize = 128;

/// Returns the shape of a text with this beginning. `is_whole` says that nothing follows. An object
/// is a record if it has the `text_field`.
pub fn shape(start: &[u8], is_whole: bool, text_field: &TextField) -> Shape {
    let text = start.trim_ascii_start();
    match text.first() {
        Some(b'[') => array(text, is_whole),
        Some(b'{') => object(text, is_whole, text_field),
        _ => Shape::Other,
    }
}

/// Returns the shape of a text that begins with `[`, which need not be JSON.
fn array(text: &[u8], is_whole: bool) -> Shape {
    let first = text[1..].trim_ascii_start();
    match (first.first(), first.get(1..).unwrap_or_default().trim_ascii_start().first()) {
        (Some(b'{'), Some(b'"' | b'}')) => Shape::Records(Nesting::Array),
        _ if is_whole && serde_json::from_slice::<serde::de::IgnoredAny>(text).is_ok() => {
            // An array without elements loses nothing.
            let is_empty = first.first() == Some(&b']');
            if is_empty { Shape::Records(Nesting::Array) } else { Shape::NoRecords }
        }
        _ => Shape::Other,
    }
}

fn object(text: &[u8], is_whole: bool, text_field: &TextField) -> Shape {
    let ObjectPrefix { end, seen, has_text, members, unfinished, is_json, keys, has_meta } =
        look(text, text_field);
    let members = members.or(unfinished);
    // A change of the meta object of a stored document.
    let is_change = has_meta && keys == 2;
    if !is_json {
        return Shape::Other;
    }
    let first = &text[..seen];
    let rest = &text[seen..];
    let is_line = !first.contains(&b'\n') && !first.contains(&b'\r');
    // Text after the object on the same line would make the line invalid as JSON lines.
    let blank = rest.iter().position(|byte| !matches!(byte, b' ' | b'\t'));
    let ends_line = blank.is_none_or(|at| matches!(rest[at], b'\n' | b'\r'));
    let is_line = is_line && (end.is_none() || ends_line);
    // An object that does not end must not take the records of the lines below it.
    let is_broken_line = end.is_none() && is_whole && begins_object(next_line(text));
    let is_alone = end.is_some() && is_whole && rest.trim_ascii().is_empty();
    match members {
        Some(depth) if !has_text => Shape::Records(Nesting::Members(depth)),
        None if !has_text && is_alone && !is_change => Shape::NoRecords,
        None if !has_text && end.is_none() => Shape::Unclear,
        _ if is_line || is_broken_line => Shape::Lines,
        _ => Shape::Records(Nesting::Sequence),
    }
}

/// Returns the second line of a text that is not blank, or no bytes.
fn next_line(text: &[u8]) -> &[u8] {
    let mut lines = text.split(|&byte| byte == b'\n').filter(|line| !line.trim_ascii().is_empty());
    lines.nth(1).unwrap_or_default()
}

/// Returns whether a line begins as an object, without the indentation of an object in another.
fn begins_object(line: &[u8]) -> bool {
    line.first() == Some(&b'{') && line[1..].trim_ascii_start().first() == Some(&b'"')
}

/// What the beginning of a text shows about the first object.
struct ObjectPrefix {
    /// The end of the object, if the beginning contains it.
    end: Option<usize>,
    /// How far the text was examined: to the end of the object, to a fault, or to its depth.
    seen: usize,
    /// Whether the object has the field of the text.
    has_text: bool,
    /// The depth of a list of records within the object, in brackets. The first element decides.
    members: Option<usize>,
    /// Likewise for a list whose first object has not ended.
    unfinished: Option<usize>,
    /// Whether the beginning is valid JSON, apart from the contents of strings and numbers.
    is_json: bool,
    /// The number of top-level fields.
    keys: usize,
    /// Whether the object has a meta object.
    has_meta: bool,
}

/// The token that JSON allows next.
#[derive(Clone, Copy, PartialEq, Eq)]
enum JsonToken {
    Key,
    KeyOrEnd,
    Colon,
    Value,
    ValueOrEnd,
    CommaOrEnd,
}

/// Examines the first object, up to the end of the beginning.
fn look(text: &[u8], text_field: &TextField) -> ObjectPrefix {
    let mut found = ObjectPrefix {
        end: None,
        seen: 0,
        has_text: false,
        members: None,
        unfinished: None,
        is_json: true,
        keys: 0,
        has_meta: false,
    };
    let mut open: Vec<u8> = Vec::new();
    let (mut next, mut at) = (JsonToken::Value, 0);
    while let Some(&byte) = text.get(at) {
        let from = at;
        at += 1;
        found.seen = at;
        next = match (next, byte) {
            (_, b' ' | b'\t' | b'\n' | b'\r') => next,
            (JsonToken::Value | JsonToken::ValueOrEnd, b'{' | b'[') => {
                if byte == b'{' && next == JsonToken::ValueOrEnd && is_members(&open) {
                    found.unfinished = Some(open.len());
                }
                open.push(byte);
                if open.len() > DEPTH_MAX {
                    return found;
                }
                if byte == b'{' { JsonToken::KeyOrEnd } else { JsonToken::ValueOrEnd }
            }
            (JsonToken::KeyOrEnd, b'}') | (JsonToken::ValueOrEnd, b']') => {
                closed(&mut open, &mut found)
            }
            (JsonToken::CommaOrEnd, b'}') if open.last() == Some(&b'{') => {
                closed(&mut open, &mut found)
            }
            (JsonToken::CommaOrEnd, b']') if open.last() == Some(&b'[') => {
                closed(&mut open, &mut found)
            }
            (JsonToken::CommaOrEnd, b',') if open.last() == Some(&b'{') => JsonToken::Key,
            (JsonToken::CommaOrEnd, b',') => JsonToken::Value,
            (JsonToken::Colon, b':') => JsonToken::Value,
            (JsonToken::Key | JsonToken::KeyOrEnd, b'"') => {
                at = string_end(text, at);
                let key = text.get(from + 1..at - 1).unwrap_or_default();
                let is_text = str::from_utf8(key).is_ok_and(|key| text_field.is_in(key));
                // The texts of parts are no records of their own.
                let is_record = is_text || key == PARTS.as_bytes();
                if open.len() == 1 {
                    found.has_text |= is_record;
                    found.has_meta |= key == META.as_bytes();
                    found.keys += 1;
                }
                if is_text && found.unfinished.is_some_and(|depth| depth + 1 == open.len()) {
                    found.members = found.members.or(found.unfinished);
                }
                JsonToken::Colon
            }
            (JsonToken::Value | JsonToken::ValueOrEnd, b'"') => {
                at = string_end(text, at);
                JsonToken::CommaOrEnd
            }
            (
                JsonToken::Value | JsonToken::ValueOrEnd,
                b'-' | b'0'..=b'9' | b'a'..=b'z' | b'I' | b'N',
            ) => {
                let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"+-.".contains(byte);
                at += text[at..].iter().position(|byte| !is_part(byte)).unwrap_or(text.len() - at);
                JsonToken::CommaOrEnd
            }
            _ => {
                found.is_json = false;
                return found;
            }
        };
        found.seen = at.min(text.len());
        if open.is_empty() {
            found.end = Some(at);
            return found;
        }
    }
    found
}

fn closed(open: &mut Vec<u8>, found: &mut ObjectPrefix) -> JsonToken {
    open.pop();
    if found.unfinished == Some(open.len()) {
        found.unfinished = None;
    }
    JsonToken::CommaOrEnd
}

/// Returns whether the open brackets are an array within nothing but objects.
pub fn is_members(open: &[u8]) -> bool {
    open.split_last().is_some_and(|(last, others)| {
        *last == b'[' && !others.is_empty() && others.iter().all(|&bracket| bracket == b'{')
    })
}

/// Returns the end of a string, including its quotation mark. The content begins at `at`.
fn string_end(text: &[u8], mut at: usize) -> usize {
    while let Some(found) = memchr::memchr2(b'"', b'\\', &text[at.min(text.len())..]) {
        at += found;
        if text[at] == b'"' {
            return at + 1;
        }
        at += 2;
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Shape) {
        assert_eq!(shape(text.as_bytes(), true, &"text".into()), expected, "{text}");
    }

    #[test]
    fn records_are_found_wherever_json_has_them() {
        check("{\"a\": 1, \"text\": \"x\"}\n", Shape::Lines);
        check("{\"a\": [{}], \"text\": \"x\"}\r\n{}", Shape::Lines);
        check("{\"a\": NaN, \"text\": null}", Shape::Lines);
        check("{\"id\":1,\"parts\":[{\"name\":\"a\",\"text\":\"x\"}]}", Shape::Lines);
        check("{\"a\":1}\n{\"a\":2}", Shape::Lines);
        // A broken line must not take the next one with it.
        check("{\"text\":\"x\",\"a\":[[\n{\"text\":\"y\"}\n", Shape::Lines);
        let deep = "[".repeat(400);
        check(&format!("{{\"text\":\"x\",\"a\":{deep}\n{{\"text\":\"y\"}}\n"), Shape::Lines);
        check("{\"text\":\"x\",\"a\":[\n {\"b\":1},", Shape::Records(Nesting::Sequence));
        check("{\"id\":\"a\",\"meta\":{\"b\":1}}\n", Shape::Lines);
        check(" {\n\"text\": \"x\"}", Shape::Records(Nesting::Sequence));
        check("{\"text\":\"x\"}{\"text\":\"y\"}", Shape::Records(Nesting::Sequence));
        check("{\"text\":\"x\"},\n{\"text\":\"y\"},", Shape::Records(Nesting::Sequence));
        check("{\n\"a\":1}\n{\"a\":2}", Shape::Records(Nesting::Sequence));
        check("[ {\"text\":\"x\"}]", Shape::Records(Nesting::Array));
        check("[{ }]", Shape::Records(Nesting::Array));
        check(" [ ] ", Shape::Records(Nesting::Array));
        check("{\"n\": 1, \"data\": [ {\"text\":\"x\"}]}", Shape::Records(Nesting::Members(2)));
        check("{\"a\":{\"b\":[{\"text\":1}]}}", Shape::Records(Nesting::Members(3)));
        check("{\"a\":[{}],\"b\":[{\"text\":1}]}", Shape::Records(Nesting::Members(2)));
    }

    #[test]
    fn json_without_records_and_texts_that_begin_as_json_are_distinct() {
        let lists = ["{\"a\":[{\"b\":1}]}", "{\"a\":[{\"b\":{\"text\":1}}]}"];
        for text in lists.into_iter().chain([
            "{\"a\":1}",
            "{\"a\":1,\"b\":2,\"meta\":{}}",
            "{\"a\":[1,{\"text\":1}]}",
            "{}",
            "[1,2]",
            "[[{}]]",
            "[\"a\"]\n",
        ]) {
            check(text, Shape::NoRecords);
        }
        for text in
            ["{{Infobox}}", "{ int x; }", "[1] a note", "{'a': 1}", "{\"a\" and b}", "[{x}]"]
        {
            check(text, Shape::Other);
        }
        for text in ["{a", "\\", "", "x", "// {", "{\"a\": // no\n1}"] {
            check(text, Shape::Other);
        }
    }

    #[test]
    fn a_beginning_decides_the_possible_shapes() {
        let cut = |text: &str| shape(text.as_bytes(), false, &"text".into());
        assert_eq!(cut("{\"id\":\"a\",\"text\":\"x"), Shape::Lines);
        assert_eq!(cut("{\"id\":\"a\\\"b"), Shape::Unclear);
        assert_eq!(cut("{\n\"text\":\"a"), Shape::Records(Nesting::Sequence));
        assert_eq!(cut("{\"a\":1}\n"), Shape::Lines);
        assert_eq!(cut("{\"data\":[{\"a"), Shape::Records(Nesting::Members(2)));
        assert_eq!(cut("[1,"), Shape::Other);
        let deep = format!("{{\"a\":{}", "[".repeat(8000));
        assert_eq!(cut(&deep), Shape::Unclear);
        assert_eq!(cut(&"{\"a\":".repeat(1000)), Shape::Unclear);
    }
}
