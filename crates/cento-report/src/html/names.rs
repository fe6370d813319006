//! Short names of documents, for tables.

use std::collections::{BTreeSet, HashMap};

use maud::{Markup, html};

use super::text::{VisibleText, plain};

/// The separators of the parts of a path.
const SEPARATORS: [char; 2] = ['/', '\\'];

/// The maximum length of a path that is shown whole, in characters.
const PATH_CHARACTERS_MAX: usize = 40;

/// The maximum length of a name that is shown whole, in characters.
const NAME_CHARACTERS_MAX: usize = 60;

/// Short forms of the names in a list: without the common directory, and long paths with only the
/// first and the last part. The web page shortens names in the same way.
pub struct ShortNames<'a>(HashMap<&'a str, String>);

impl<'a> ShortNames<'a> {
    /// Shortens names so that different names stay different.
    pub fn new(names: impl Iterator<Item = &'a str>) -> ShortNames<'a> {
        let names: BTreeSet<&str> = names.collect();
        let common = common_directory(&names);
        let mut forms: HashMap<String, Vec<&str>> = HashMap::new();
        for name in &names {
            forms.entry(path(rest(name, common))).or_default().push(name);
        }
        let mut short = HashMap::new();
        for (form, names) in forms {
            for &name in &names {
                let is_alone = names.len() == 1;
                let form = if is_alone { form.clone() } else { rest(name, common).to_owned() };
                short.insert(name, form);
            }
        }
        ShortNames(short)
    }

    /// Shows a name in its short form, as a link if `link` is given. The title is the whole name.
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

/// Returns the common directory of all names, with the separator at its end. Addresses have no
/// common directory.
fn common_directory<'a>(names: &BTreeSet<&'a str>) -> &'a str {
    let Some(first) = names.first().filter(|_| !names.iter().any(|name| name.contains("://")))
    else {
        return "";
    };
    let mut ends = first.rmatch_indices(SEPARATORS).map(|(at, _)| &first[..=at]);
    ends.find(|directory| names.iter().all(|name| name.starts_with(directory))).unwrap_or_default()
}

/// Returns a name without its directory, or the whole name if nothing would remain.
fn rest<'a>(name: &'a str, directory: &str) -> &'a str {
    name.strip_prefix(directory).filter(|rest| !rest.is_empty()).unwrap_or(name)
}

/// Shortens a long path to its first and last parts.
fn path(path: &str) -> String {
    let ends = path.find(SEPARATORS).zip(path.rfind(SEPARATORS));
    let shown = match ends {
        Some((first, last)) if first < last && path.chars().count() > PATH_CHARACTERS_MAX => {
            format!("{}\u{2026}{}", &path[..=first], &path[last..])
        }
        _ => path.to_owned(),
    };
    shortened(&shown, NAME_CHARACTERS_MAX)
}

/// Removes the middle of a long name, because the ends distinguish files.
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

    fn check(names: &[&str], expected: &[&str]) {
        let short = ShortNames::new(names.iter().copied());
        let shown: Vec<&str> = names.iter().map(|name| short.0[name].as_str()).collect();
        assert_eq!(shown, expected);
    }

    #[test]
    fn names_are_shortened_and_stay_different() {
        // The common directory says nothing, but the next directory may be the name of a person.
        let class = ["class/ada/essay.txt", "class/ben/essay.txt", "class/ben/notes.txt", "class/"];
        check(&class, &["ada/essay.txt", "ben/essay.txt", "ben/notes.txt", "class/"]);
        check(&["in/one.txt"], &["one.txt"]);
        check(&["c:\\x\\a.txt", "c:\\x\\b.txt"], &["a.txt", "b.txt"]);
        check(&["a", "a", ""], &["a", "a", ""]);
        let address = "https://example.org/a";
        check(&[address], &[address]);
        let long = "y".repeat(40);
        let (one, other) = (format!("a/{long}/1.txt"), format!("b/{long}/1.txt"));
        check(&[&one, &other], &["a/\u{2026}/1.txt", "b/\u{2026}/1.txt"]);
        // The short forms would be equal.
        let (one, other) = (format!("a/{long}/1/x"), format!("a/{long}/2/x"));
        check(&[&one, &other, "b"], &[&one, &other, "b"]);
        let long = "z".repeat(100);
        let short = ShortNames::new([long.as_str()].into_iter());
        assert_eq!(short.0[long.as_str()].chars().count(), NAME_CHARACTERS_MAX);
    }

    #[test]
    fn the_title_is_the_whole_name() {
        let short = ShortNames::new(["a/b\u{202e}.txt"].into_iter());
        let shown = short.show("a/b\u{202e}.txt", None).into_string();
        assert!(shown.contains("title=\"a/bU+202E.txt\"") && shown.contains(">b<"), "{shown}");
        let short = ShortNames::new(["c"].into_iter());
        assert_eq!(short.show("c", None).into_string(), "<bdi>c</bdi>");
    }
}
