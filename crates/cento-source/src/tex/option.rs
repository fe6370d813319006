//! Is the text in brackets after a command an option, or does a reader see it?
//!
//! Only the definition of a command says whether it takes options. So brackets go where a known
//! command takes them, and after other commands where they look like options before an argument.
//! Everything else is text: prose in brackets that disappeared would be hidden from a comparison.

/// Maximum size of an option in bytes, about a line; lists such as those of `\usepackage` may be
/// longer.
const OPTION_BYTES_MAX: usize = 120;

/// Commands with an option before an argument that is text: the option is a short title, a number,
/// a length or a name.
const BEFORE_TEXT: [&str; 37] = [
    "author",
    "caption",
    "captionof",
    "chapter",
    "date",
    "footnote",
    "footnotetext",
    "framebox",
    "framesubtitle",
    "frametitle",
    "hyperref",
    "includestandalone",
    "institute",
    "lstinputlisting",
    "lstset",
    "makebox",
    "num",
    "paragraph",
    "parbox",
    "part",
    "qty",
    "RequirePackage",
    "resizebox",
    "rotatebox",
    "savebox",
    "scalebox",
    "section",
    "SI",
    "si",
    "subparagraph",
    "subsection",
    "subsubsection",
    "subtitle",
    "thanks",
    "title",
    "todo",
    "unit",
];

/// Commands with an option that need no argument after it.
const ALONE: [&str; 22] = [
    "addplot",
    "clip",
    "coordinate",
    "draw",
    "fill",
    "filldraw",
    "footnotemark",
    "frontmatter",
    "linebreak",
    "listoftodos",
    "node",
    "nolinebreak",
    "nopagebreak",
    "pagebreak",
    "path",
    "printbibliography",
    "printglossary",
    "printindex",
    "rowcolors",
    "shade",
    "tableofcontents",
    "tikz",
];

/// Environments whose options are not text.
const ENVIRONMENTS: [&str; 18] = [
    "adjustbox",
    "algorithm",
    "algorithmic",
    "axis",
    "description",
    "enumerate",
    "figure",
    "figure*",
    "frame",
    "itemize",
    "lstlisting",
    "Verbatim",
    "minted",
    "scope",
    "table",
    "table*",
    "tikzpicture",
    "wrapfigure",
];

/// Keys of options whose values a reader sees.
const SEEN_KEYS: [&str; 5] = ["caption", "note", "notes", "subtitle", "title"];

/// Units of TeX.
const UNITS: [&str; 12] = ["pt", "pc", "in", "bp", "cm", "mm", "dd", "cc", "sp", "ex", "em", "mu"];

/// Where an option may be.
#[derive(Debug, Clone, Copy)]
pub enum Owner<'a> {
    /// After the name of a command, which takes arguments that are not text if it is set.
    Command(&'a str, bool),
    /// After the name of an environment.
    Environment(&'a str),
    /// After a line break.
    Break,
}

/// Maximum number of options in a row: the search for the argument after them begins at each.
const OPTIONS_MAX: usize = 4;

/// Returns the number of bytes of the options that the text begins with, which are not text.
pub fn options(near: &str, owner: Owner<'_>, is_formula: bool) -> usize {
    // The end of a formula is the end of an option in it.
    let end = near.find('$').filter(|_| is_formula).unwrap_or(near.len());
    let near = &near[..end];
    let mut len = 0;
    for _ in 0..OPTIONS_MAX {
        let Some(bytes) = bracketed(&near[len..], b'[', b']') else { break };
        let inner = &near[len + 1..len + bytes - 1];
        let rest = &near[len + bytes..];
        if !is_option(inner, rest, owner, is_formula) {
            break;
        }
        len += bytes;
    }
    len
}

fn is_option(inner: &str, rest: &str, owner: Owner<'_>, is_formula: bool) -> bool {
    let is_short = inner.len() <= OPTION_BYTES_MAX || is_list(inner);
    // Another option may be between this one and the argument.
    let mut after = rest;
    for _ in 1..OPTIONS_MAX {
        after = &after[bracketed(after, b'[', b']').unwrap_or(0)..];
    }
    let has_argument = after.trim_start_matches(' ').starts_with('{');
    match owner {
        Owner::Break => is_length(inner.trim()),
        Owner::Environment(name) if ENVIRONMENTS.contains(&name) => is_short && !shows_text(inner),
        Owner::Environment(_) => has_form(inner),
        Owner::Command("item", _) => false,
        Owner::Command(name, _) if ALONE.contains(&name) => is_short,
        Owner::Command(_, true) => is_short && has_argument,
        Owner::Command(name, _) if BEFORE_TEXT.contains(&name) => is_short && has_argument,
        Owner::Command(..) => !is_formula && has_argument && has_form(inner),
    }
}

/// Returns the size of the brackets of a kind that the text begins with, with their contents.
/// They are closed within their paragraph, and not in braces or a formula that begins in them.
pub fn bracketed(text: &str, open: u8, close: u8) -> Option<usize> {
    if text.as_bytes().first() != Some(&open) {
        return None;
    }
    let is_option = open == b'[';
    let (mut depth, mut braces, mut is_formula) = (0_usize, 0_usize, false);
    let (mut is_escaped, mut line_is_empty) = (false, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'\n' if line_is_empty => return None,
            b'$' if is_option => is_formula = !is_formula,
            b'{' if is_option => braces += 1,
            // The argument that the option would be in ends.
            b'}' if is_option && braces == 0 => return None,
            b'}' if is_option => braces -= 1,
            _ if is_formula || braces > 0 => {}
            byte if byte == open => depth += 1,
            byte if byte == close => {
                depth -= 1;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
        line_is_empty = byte == b'\n' || (line_is_empty && byte.is_ascii_whitespace());
    }
    None
}

/// Splits at the commas that are not in braces.
fn pieces(inner: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0_i32;
    inner
        .split(move |c| {
            depth += i32::from(c == '{') - i32::from(c == '}');
            c == ',' && depth == 0
        })
        .map(str::trim)
}

fn words(text: &str) -> usize {
    text.split_whitespace().count()
}

/// Returns the key and the value of a setting.
fn setting(piece: &str) -> Option<(&str, &str)> {
    let (key, value) = piece.split_once('=')?;
    let is_key = |c: char| c.is_alphanumeric() || " /._-@*:".contains(c);
    let key = key.trim();
    (!key.is_empty() && words(key) <= 2 && key.chars().all(is_key)).then_some((key, value))
}

/// Returns whether this is a list of settings and names.
fn is_list(inner: &str) -> bool {
    pieces(inner).all(|piece| match setting(piece) {
        Some((_, value)) => words(value) <= 3,
        None => words(piece) <= 2,
    })
}

/// Returns whether a setting has text that a reader sees.
fn shows_text(inner: &str) -> bool {
    pieces(inner).filter_map(setting).any(|(key, _)| SEEN_KEYS.contains(&key))
}

/// Returns whether this has a form of options and not of text: settings, lengths and letters for a
/// place.
fn has_form(inner: &str) -> bool {
    let is_place =
        |piece: &str| piece.len() <= 6 && piece.bytes().all(|byte| b"!htbpHclrs".contains(&byte));
    let is_setting = |piece: &str| {
        let found = setting(piece);
        found.is_some_and(|(key, value)| words(value) <= 3 && !SEEN_KEYS.contains(&key))
    };
    pieces(inner).all(|piece| is_place(piece) || is_length(piece) || is_setting(piece))
}

/// Returns whether this is a number with a unit or a command, such as `-1.5ex` and `.5\textwidth`.
fn is_length(piece: &str) -> bool {
    let unit = piece.trim_start_matches(|c: char| c.is_ascii_digit() || "+-. ".contains(c));
    let has_number = unit.len() < piece.len();
    let is_command = unit
        .strip_prefix('\\')
        .is_some_and(|name| name.len() > 4 && name.bytes().all(|byte| byte.is_ascii_alphabetic()));
    is_command || has_number && UNITS.contains(&unit)
}
