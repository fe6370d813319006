//! Lengths, numbers and addresses that are no text at their place in the source.

use super::option::UNITS;

/// Commands and registers that take a length, as in `\vskip 2pt plus 1fil` and `\parindent=0pt`.
const LENGTHS: [&str; 35] = [
    "abovedisplayskip",
    "arraycolsep",
    "baselineskip",
    "belowdisplayskip",
    "columnsep",
    "evensidemargin",
    "floatsep",
    "hangindent",
    "hoffset",
    "hsize",
    "hskip",
    "itemsep",
    "kern",
    "labelsep",
    "leftmargin",
    "leftskip",
    "lineskip",
    "lower",
    "mkern",
    "moveleft",
    "moveright",
    "mskip",
    "oddsidemargin",
    "parindent",
    "parsep",
    "parskip",
    "raise",
    "rightskip",
    "tabcolsep",
    "textheight",
    "textwidth",
    "topmargin",
    "topsep",
    "voffset",
    "vskip",
];

/// Commands and registers that take a number.
const NUMBERS: [&str; 10] = [
    "clubpenalty",
    "exhyphenpenalty",
    "hbadness",
    "hyphenpenalty",
    "looseness",
    "penalty",
    "pretolerance",
    "tolerance",
    "vbadness",
    "widowpenalty",
];

/// Units of stretchable space, longest first, and units of length after them.
const STRETCHES: [&str; 3] = ["filll", "fill", "fil"];

/// Returns the number of bytes of a length or a number after a command, or 0.
pub fn length_after(command: &str, rest: &str) -> usize {
    let (is_length, is_number) = (LENGTHS.contains(&command), NUMBERS.contains(&command));
    if !is_length && !is_number {
        return 0;
    }
    let start = rest.trim_start_matches(' ');
    let start = start.strip_prefix('=').unwrap_or(start);
    let mut left = match if is_length { after_length(start) } else { after_number(start) } {
        Some(left) => left,
        None => return 0,
    };
    for word in ["plus", "minus"] {
        let more = left.trim_start_matches(' ').strip_prefix(word).and_then(after_length);
        left = more.unwrap_or(left);
    }
    // A space ends the number. It is no text.
    rest.len() - left.strip_prefix(' ').unwrap_or(left).len()
}

/// Returns what follows a number.
fn after_number(rest: &str) -> Option<&str> {
    let number = rest.trim_start_matches([' ', '+', '-']);
    let left = number.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    (left.len() < number.len()).then_some(left)
}

/// Returns what follows a length.
fn after_length(rest: &str) -> Option<&str> {
    let left = after_number(rest)?.trim_start_matches(' ');
    let left = left.strip_prefix("true").unwrap_or(left).trim_start_matches(' ');
    let unit = STRETCHES.iter().chain(&UNITS).find_map(|unit| left.strip_prefix(unit));
    unit.filter(|left| !left.starts_with(|c: char| c.is_alphabetic()))
}

/// Returns the number of bytes of the measures of a box at the beginning of an environment, such as
/// `{14}(1,5.5)` and `{5cm}(0pt,1cm)`, or 0.
pub fn coordinates_len(rest: &str) -> usize {
    const MAX: usize = 60;
    let near = &rest[..rest.floor_char_boundary(MAX)];
    let between = |rest: &str, open: char, close: char| {
        let (inner, _) = rest.strip_prefix(open)?.split_once(close)?;
        let is_measure = |c: char| c.is_ascii_alphanumeric() || "\\.,+- ".contains(c);
        let number = inner.trim_start_matches([' ', '-', '.']);
        let is_number = number.starts_with(|c: char| c.is_ascii_digit());
        (is_number && inner.chars().all(is_measure)).then_some(inner.len() + 2)
    };
    let braces = between(near, '{', '}').unwrap_or(0);
    let place = between(&near[braces..], '(', ')');
    let place = place.filter(|len| near[braces..braces + len].contains(','));
    place.map_or(0, |len| braces + len)
}

/// Returns the size of an address in braces before the linked text, or 0.
pub fn address_len(near: &str) -> usize {
    let is_address = ["http://", "https://"].iter().any(|scheme| near.starts_with(scheme));
    let end = near.find('}').filter(|_| is_address).unwrap_or_default();
    let is_before_text =
        near[end..].starts_with("}{") && !near[..end].contains(char::is_whitespace);
    if is_before_text { end } else { 0 }
}

/// Returns the number of bytes of an overlay specification of beamer, such as `<1->` and
/// `<2|handout:0>`, or 0.
pub fn overlay_len(rest: &str) -> usize {
    const MAX: usize = 40;
    let near = &rest.as_bytes()[..rest.len().min(MAX)];
    let Some(end) = memchr::memchr(b'>', near).filter(|_| near[0] == b'<') else { return 0 };
    let inner = &near[1..end];
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"+-,.()@|: *".contains(byte);
    let has_number = inner.iter().any(|byte| byte.is_ascii_digit() || *byte == b'+');
    if has_number && inner.iter().all(is_part) { end + 1 } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_end_before_the_text() {
        let check = |command: &str, rest: &str, left: &str| {
            assert_eq!(&rest[length_after(command, rest)..], left, "{rest}");
        };
        check("vskip", " 2pt y", "y");
        check("hskip", " 3em plus 1fil minus .5 true cm z", "z");
        check("parindent", "=0pt\nz", "\nz");
        check("itemsep", "-1ex One", "One");
        check("penalty", "10000 z", "z");
        check("item", " 2 cm long", " 2 cm long");
        check("parskip", " is 2pt", " is 2pt");
        check("vskip", " 3 inches", " 3 inches");
    }

    #[test]
    fn overlays_have_numbers() {
        for overlay in ["<1->", "<+->", "<2|handout:0>", "<alert@2>", "<1-2,4>"] {
            assert_eq!(overlay_len(&format!("{overlay} x<3>")), overlay.len(), "{overlay}");
        }
        for text in
            ["<b> 1", "< 1 and a longer remark that ends somewhere far away >", "x<1>", "<", ""]
        {
            assert_eq!(overlay_len(text), 0, "{text}");
        }
    }
}
