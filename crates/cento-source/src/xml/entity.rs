//! Entities declared within a file: names of texts and of external files.

use std::collections::HashMap;

/// The maximum size of the texts of all references of a file, in bytes, because nested entities may
/// expand to far more text than the file holds. A reference counts as a byte, because its text may
/// be empty.
const EXPANDED_BYTES_MAX: usize = 4 << 20;

/// The maximum length of a name, in bytes. Without it, a long text without an end of a name takes
/// the square of its length.
const NAME_BYTES_MAX: usize = 256;

/// Maximum nesting of entities in entities, because damaged files may have cycles.
const DEPTH_MAX: usize = 16;

/// Predefined names in every file. A declaration does not change a predefined name.
const PREDEFINED: [&str; 5] = ["amp", "apos", "gt", "lt", "quot"];

/// The declared entities of a file.
#[derive(Debug, Default)]
pub struct Entities {
    by_name: HashMap<String, EntityValue>,
    /// The size of the values of all references so far, plus a byte per reference.
    expanded_bytes: usize,
}

#[derive(Debug, PartialEq, Eq)]
pub enum EntityValue {
    /// A text, which may have tags and references.
    Text(String),
    /// The address of a file with text.
    File(String),
}

impl Entities {
    /// Reads the declarations of a document type. The first declaration of a name
    /// counts. Parameter entities (`%name;`) are parts of declarations, and pictures are no text.
    pub fn declare(&mut self, doctype: &str) {
        let mut rest = doctype;
        while let Some(at) = rest.find("<!") {
            rest = &rest[at..];
            if let Some(comment) = rest.strip_prefix("<!--") {
                rest = comment.split_once("-->").map_or("", |(_, after)| after);
            } else if let Some(declaration) = rest.strip_prefix("<!ENTITY") {
                rest = self.declare_one(declaration).unwrap_or(declaration);
            } else {
                rest = &rest[2..];
            }
        }
    }

    /// Reads a declaration, and returns the text after it.
    fn declare_one<'a>(&mut self, declaration: &'a str) -> Option<&'a str> {
        let (name, rest) = name_until(declaration.trim_start(), char::is_whitespace)?;
        let rest = rest.trim_start();
        let is_named = |word: &str| rest.starts_with(word);
        let (value, rest) = if is_named("SYSTEM") || is_named("PUBLIC") {
            let rest = &rest["SYSTEM".len()..];
            let (first, rest) = quoted(rest)?;
            let (address, rest) = quoted(rest).unwrap_or((first, rest));
            if rest.trim_start().starts_with("NDATA") {
                return Some(rest);
            }
            (EntityValue::File(address.to_owned()), rest)
        } else {
            let (text, rest) = quoted(rest)?;
            (EntityValue::Text(text.to_owned()), rest)
        };
        if name != "%" && !PREDEFINED.contains(&name) {
            self.by_name.entry(name.to_owned()).or_insert(value);
        }
        Some(rest)
    }

    /// Returns the value of a declared name.
    pub fn get(&self, name: &str) -> Option<&EntityValue> {
        self.by_name.get(name)
    }

    /// Returns the text of a reference, including nested references. The text of an external file
    /// is empty. `None` if the name is not declared.
    ///
    /// # Errors When the references of the file expand to too much text. The error is a clause.
    pub fn text_of(&mut self, name: &str) -> Option<Result<String, String>> {
        let mut text = String::new();
        let mut room = EXPANDED_BYTES_MAX - self.expanded_bytes;
        if let EntityValue::Text(value) = self.by_name.get(name)? {
            let expanded = self.expand(value, 1, &mut room, &mut text);
            self.expanded_bytes = EXPANDED_BYTES_MAX - room;
            if expanded.is_none() {
                return Some(Err(format!(
                    "the text of its entities is longer than {} MiB",
                    EXPANDED_BYTES_MAX >> 20
                )));
            }
        }
        Some(Ok(text))
    }

    /// Appends a text and expands its references. `None` if the text is too long.
    fn expand(&self, value: &str, depth: usize, room: &mut usize, text: &mut String) -> Option<()> {
        let mut rest = value;
        *room = room.checked_sub(1 + value.len())?;
        loop {
            let at = rest.find('&').unwrap_or(rest.len());
            text.push_str(&rest[..at]);
            if at == rest.len() {
                return Some(());
            }
            rest = &rest[at + 1..];
            let reference =
                name_until(rest, |c| c == ';').filter(|(name, _)| self.get(name).is_some());
            let Some((name, after)) = reference else {
                text.push('&');
                continue;
            };
            rest = after;
            if let Some(EntityValue::Text(inner)) = self.get(name)
                && depth < DEPTH_MAX
            {
                self.expand(inner, depth + 1, room, text)?;
            }
        }
    }
}

/// Returns the name at the start of a text, and the text after the sign that ends the name.
fn name_until(text: &str, is_end: impl Fn(char) -> bool) -> Option<(&str, &str)> {
    let mut characters = text.char_indices().take_while(|(at, _)| *at <= NAME_BYTES_MAX);
    let (at, end) = characters.find(|(_, c)| is_end(*c))?;
    Some((&text[..at], &text[at + end.len_utf8()..]))
}

/// Returns the text of the next quotes, and the text after them.
fn quoted(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_start();
    let quote = text.chars().next().filter(|c| ['"', '\''].contains(c))?;
    text[1..].split_once(quote)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_and_files_of_a_document_type_are_declared() {
        let mut entities = Entities::default();
        entities.declare(
            "book PUBLIC 'x' \"y\" [<!ELEMENT a (b)><!-- <!ENTITY no 'x'> -->\
             <!ENTITY co \"A &mdash; B\">\
             <!ENTITY both '&co; &co;'><!ENTITY co 'second'><!ENTITY % part 'x'>\n\
             <!ENTITY ch SYSTEM 'ch.xml'><!ENTITY pic SYSTEM \"a.gif\" NDATA gif>\
             <!ENTITY far PUBLIC '-//x' 'far.xml' ><!ENTITY lt 'x'><!ENTITY cut 'x",
        );
        assert_eq!(entities.text_of("both"), Some(Ok("A &mdash; B A &mdash; B".into())));
        assert_eq!(entities.get("ch"), Some(&EntityValue::File("ch.xml".into())));
        assert_eq!(entities.get("far"), Some(&EntityValue::File("far.xml".into())));
        assert_eq!(entities.text_of("ch"), Some(Ok(String::new())));
        for name in ["no", "part", "%", "pic", "lt", "cut", "mdash"] {
            assert_eq!(entities.text_of(name), None, "{name}");
        }
    }

    #[test]
    fn entities_of_entities_have_a_limit() {
        let mut entities = Entities::default();
        let mut declarations =
            "<!ENTITY a0 'words words words words'><!ENTITY loop '&loop;x'>".to_owned();
        for level in 1..16 {
            let below = format!("&a{};", level - 1).repeat(10);
            declarations.push_str(&format!("<!ENTITY a{level} '{below}'>"));
        }
        entities.declare(&declarations);
        assert_eq!(entities.text_of("a1").unwrap().unwrap().len(), 230);
        assert_eq!(entities.text_of("loop").unwrap().unwrap(), "x".repeat(16));
        assert!(entities.text_of("a15").unwrap().unwrap_err().contains("4 MiB"));
        // Nothing, many times.
        let mut empty = Entities::default();
        empty.declare(&declarations.replace("words ", "").replace("words", ""));
        assert!(empty.text_of("a15").unwrap().is_err());
        let mut long = Entities::default();
        long.declare(&format!(
            "<!ENTITY a '{}'>{}",
            "&".repeat(500_000),
            "<!ENTITY".repeat(50_000)
        ));
        assert_eq!(long.text_of("a").unwrap().unwrap().len(), 500_000);
    }
}
