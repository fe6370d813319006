//! Short names of documents, for tables.

use std::collections::HashMap;

use maud::{Markup, html};

use super::text::{VisibleText, plain};

/// The longest name that is shown whole, in characters.
const NAME_CHARACTERS_MAX: usize = 60;

/// Short forms of the names of a report: the last part of a path, with as many of the parts before
/// it as tell it from the other names. The web page shortens names in the same way.
pub struct ShortNames<'a>(HashMap<&'a str, String>);

impl<'a> ShortNames<'a> {
    /// Shortens names so that different ones stay different.
    pub fn new(names: impl Iterator<Item = &'a str>) -> ShortNames<'a> {
        let mut short = HashMap::new();
        let mut open: Vec<&str> = names.collect();
        for depth in 1.. {
            open.sort_unstable();
            open.dedup();
            let mut ends: HashMap<&str, Vec<&str>> = HashMap::new();
            for name in open.drain(..) {
                ends.entry(end(name, depth)).or_default().push(name);
            }
            for (end, names) in ends {
                for &name in &names {
                    if end.len() == name.len() {
                        short.insert(name, shortened(name, NAME_CHARACTERS_MAX));
                    } else if names.len() == 1 && !end.is_empty() {
                        let end = shortened(end, NAME_CHARACTERS_MAX - 2);
                        short.insert(name, format!("\u{2026}/{end}"));
                    } else {
                        open.push(name);
                    }
                }
            }
            if open.is_empty() {
                break;
            }
        }
        ShortNames(short)
    }

    /// Shows a name in its short form, as a link if it is an address; the whole name is its title.
    pub fn show(&self, name: &str, link: Option<&str>) -> Markup {
        let short = self.0.get(name).map_or(name, String::as_str);
        let title = (short != name).then(|| plain(name));
        let text = html! { bdi title=[title] { (VisibleText(short)) } };
        html! {
            @match link {
                Some(link) => a href=(link) rel="noopener noreferrer nofollow" { (text) },
                None => (text),
            }
        }
    }
}

/// Returns the last parts of a path; all of it if it has no more parts.
fn end(name: &str, parts: usize) -> &str {
    let mut separators = name.rmatch_indices(['/', '\\']);
    separators.nth(parts - 1).map_or(name, |(at, _)| &name[at + 1..])
}

/// Returns a name without its middle if it is too long: both ends tell files apart.
fn shortened(name: &str, max: usize) -> String {
    let characters: Vec<char> = name.chars().collect();
    if characters.len() <= max {
        return name.to_owned();
    }
    let (head, tail) = (max / 2, (max - 1) / 2);
    let head: String = characters[..head].iter().collect();
    let tail: String = characters[characters.len() - tail..].iter().collect();
    format!("{head}\u{2026}{tail}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_as_short_as_they_differ() {
        let long = "x".repeat(100);
        let names = [
            "class/ada/essay.txt",
            "class/ben/essay.txt",
            "class/ben/notes.txt",
            "notes",
            "a/",
            "b/",
            "essay.txt",
            "c:\\x\\y.txt",
            &long,
        ];
        let short = ShortNames::new(names.into_iter().chain(["notes"]));
        let shown: Vec<&str> = names.iter().map(|name| short.0[name].as_str()).collect();
        let expected = [
            "\u{2026}/ada/essay.txt",
            "\u{2026}/ben/essay.txt",
            "\u{2026}/notes.txt",
            "notes",
            "a/",
            "b/",
            "essay.txt",
            "\u{2026}/y.txt",
        ];
        assert_eq!(shown[..8], expected);
        assert_eq!(shown[8].chars().count(), NAME_CHARACTERS_MAX);
    }

    #[test]
    fn the_title_is_the_whole_name() {
        let short = ShortNames::new(["a/b\u{202e}.txt", "c"].into_iter());
        let shown = short.show("a/b\u{202e}.txt", None).into_string();
        assert!(
            shown.contains("title=\"a/bU+202E.txt\"") && shown.contains(">\u{2026}/b<"),
            "{shown}"
        );
        assert_eq!(short.show("c", None).into_string(), "<bdi>c</bdi>");
    }
}
