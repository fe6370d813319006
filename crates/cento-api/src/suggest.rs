//! Suggests a known name for a misspelled name.

/// The minimum Jaro similarity of a suggested name. Equal names have 1.
const ALIKE_MIN: f64 = 0.8;

/// Returns the known name that is most similar to `name`, or `None` if no name is similar enough.
/// Among equally similar names, the first wins.
///
/// ```
/// use cento_api::suggest::nearest;
///
/// assert_eq!(nearest("winow", ["minhash", "winnow"]), Some("winnow"));
/// assert_eq!(nearest("body", ["minhash", "winnow"]), None);
/// ```
#[must_use]
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let name = name.to_ascii_lowercase();
    let mut best: Option<(f64, &str)> = None;
    for candidate in known {
        let known = candidate.to_ascii_lowercase();
        let alike = strsim::jaro(&name, &known);
        let alike = if is_swapped(&name, &known) { alike.max(ALIKE_MIN) } else { alike };
        if alike >= ALIKE_MIN && best.is_none_or(|(most, _)| alike > most) {
            best = Some((alike, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// Returns whether the names differ only by two neighboring characters in another order, as `udi`
/// and `uid` do. The Jaro similarity of such short names is low.
fn is_swapped(one: &str, other: &str) -> bool {
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    if one.len() != other.len() {
        return false;
    }
    let differing: Vec<usize> = (0..one.len()).filter(|&at| one[at] != other[at]).collect();
    match differing[..] {
        [at, next] => next == at + 1 && one[at] == other[next] && one[next] == other[at],
        _ => false,
    }
}

/// Returns ` (did you mean `x`?)` with the known name that is most similar to `name`, or an empty
/// string if no name is similar enough.
#[must_use]
pub fn did_you_mean<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    nearest(name, known).map_or(String::new(), |meant| format!(" (did you mean `{meant}`?)"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_recognized_and_another_word_is_not() {
        let known = ["winnow", "minhash", "text", "id", "uid"];
        for (name, meant) in [
            ("winow", Some("winnow")),
            ("Minhash", Some("minhash")),
            ("txt", Some("text")),
            ("udi", Some("uid")),
            ("uxd", None),
            ("body", None),
            ("", None),
        ] {
            assert_eq!(nearest(name, known), meant, "{name}");
        }
        assert_eq!(did_you_mean("txet", known), " (did you mean `text`?)");
    }
}
