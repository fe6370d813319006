//! Decides whether brackets after a command are an option, which is invisible, or text.
//!
//! Only the definition of a command says whether it takes options. Brackets are removed after
//! commands that are known to take options, and after other commands if they look like options and
//! an argument follows. Everything else is text, because a wrongly removed bracket would hide prose
//! from a comparison.

/// The maximum size of an option in bytes, about a line. Lists, as for `\usepackage`, may be
/// longer.
const OPTION_BYTES_MAX: usize = 120;

/// Commands with an option before a text argument. The option is a short title, a number, a length
/// or a name.
const BEFORE_TEXT: [&str; 43] = [
    "added",
    "author",
    "caption",
    "captionof",
    "chapter",
    "date",
    "deleted",
    "footnote",
    "footnotetext",
    "framebox",
    "framesubtitle",
    "frametitle",
    "fxerror",
    "fxnote",
    "fxwarning",
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
    "replaced",
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

/// Commands whose option needs no argument after the brackets.
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

/// Units of length in TeX.
pub const UNITS: [&str; 12] =
    ["pt", "pc", "in", "bp", "cm", "mm", "dd", "cc", "sp", "ex", "em", "mu"];

/// Where an option may be.
#[derive(Debug, Clone, Copy)]
pub enum Owner<'a> {
    /// After a command. The flag says that the command takes arguments without text.
    Command(&'a str, bool),
    /// After the name of an environment.
    Environment(&'a str),
    /// After a line break.
    Break,
}

/// The maximum number of options in a row, because each starts a search for the argument.
const OPTIONS_MAX: usize = 4;

/// Returns the number of bytes of leading options, which are not text.
pub fn options(near: &str, owner: Owner<'_>, is_formula: bool) -> usize {
    // An option in a formula ends within the formula.
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
    // Further options may precede the argument.
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

/// Returns the size of the leading brackets with their contents. Closing brackets count only in the
/// same paragraph, and outside of braces and formulas that begin inside.
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
            // The brace closes the argument around the brackets.
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

/// Splits at commas outside of braces.
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

/// Returns the values of settings that a reader sees. The brackets of an environment that is not
/// known to take settings may be a title.
pub fn seen_values<'a>(inner: &'a str, owner: &str) -> Vec<&'a str> {
    let takes_settings = ENVIRONMENTS.contains(&owner) || BEFORE_TEXT.contains(&owner);
    if !takes_settings && pieces(inner).any(|piece| setting(piece).is_none()) {
        return Vec::new();
    }
    let seen = pieces(inner).filter_map(setting).filter(|(key, _)| SEEN_KEYS.contains(key));
    seen.map(|(_, value)| value.trim()).collect()
}

/// Returns whether a setting contains visible text.
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

/// Returns whether a text is a number with a unit or a command, such as `-1.5ex` and
/// `.5\textwidth`.
fn is_length(piece: &str) -> bool {
    let unit = piece.trim_start_matches(|c: char| c.is_ascii_digit() || "+-. ".contains(c));
    let has_number = unit.len() < piece.len();
    let is_command = unit
        .strip_prefix('\\')
        .is_some_and(|name| name.len() > 4 && name.bytes().all(|byte| byte.is_ascii_alphabetic()));
    is_command || has_number && UNITS.contains(&unit)
}
