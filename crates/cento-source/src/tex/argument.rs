//! Arguments and blocks that are no text at their place in the source.

/// Commands whose argument is a note.
const NOTES: [&str; 11] = [
    "endnote",
    "footnote",
    "footnotetext",
    "marginnote",
    "marginpar",
    "note",
    "pagenote",
    "sidenote",
    "sidenotetext",
    "tablefootnote",
    "thanks",
];

/// Commands whose argument is apart from the text around it.
const HEADINGS: [&str; 17] = [
    "author",
    "caption",
    "captionof",
    "chapter",
    "date",
    "frame",
    "framesubtitle",
    "frametitle",
    "institute",
    "paragraph",
    "part",
    "section",
    "subparagraph",
    "subsection",
    "subsubsection",
    "subtitle",
    "title",
];

/// Environments whose first argument is their title.
pub const WITH_TITLE: [&str; 4] = ["alertblock", "block", "exampleblock", "frame"];

/// Commands whose argument was deleted, or is a remark for the authors.
const DELETED: [&str; 11] = [
    "DIFdel",
    "DIFdelFL",
    "deleted",
    "fxerror",
    "fxnote",
    "fxwarning",
    "missingfigure",
    "sout",
    "st",
    "todo",
    "xout",
];

/// Commands whose argument is a quotation: of csquotes and dirtytalk.
const QUOTED: [&str; 10] = [
    "blockcquote",
    "blockquote",
    "enquote",
    "foreignblockquote",
    "foreignquote",
    "foreigntextquote",
    "hyphenquote",
    "say",
    "textcquote",
    "textquote",
];

/// A command with a new text, followed by the text to replace.
const REPLACED: &str = "replaced";

/// Commands that begin a block without text, and the commands that end the block.
const BLOCKS: [(&str, &[&str]); 3] = [
    ("DIFdelbegin", &["DIFdelend"]),
    ("DIFdelbeginFL", &["DIFdelendFL"]),
    ("iffalse", &["fi", "else"]),
];

/// Commands that show a term in the plural, which in English nearly always means an `s`.
const PLURALS: [&str; 7] = ["GLSpl", "Glspl", "aclp", "acp", "acfp", "acsp", "glspl"];

/// What an argument or block is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArgumentKind {
    Note,
    Heading,
    /// Text like the surrounding text, as an argument of a macro.
    Text,
    /// A quotation, which is shown in quotation marks.
    Quoted,
    /// A term that is shown in the plural.
    Plural,
    Deleted,
    /// A text. The next argument is the replaced text.
    Replacement,
    /// No text until one of these commands.
    Block(&'static [&'static str]),
}

impl ArgumentKind {
    /// Returns the kind of the argument of a command.
    pub fn of(command: &str) -> Option<ArgumentKind> {
        match command {
            REPLACED => Some(ArgumentKind::Replacement),
            name if PLURALS.contains(&name) => Some(ArgumentKind::Plural),
            name if NOTES.contains(&name) => Some(ArgumentKind::Note),
            name if HEADINGS.contains(&name) => Some(ArgumentKind::Heading),
            name if DELETED.contains(&name) => Some(ArgumentKind::Deleted),
            name if QUOTED.contains(&name) => Some(ArgumentKind::Quoted),
            _ => None,
        }
    }

    /// Returns the block that a command begins.
    pub fn block(command: &str) -> Option<ArgumentKind> {
        let found = BLOCKS.iter().find(|(begin, _)| *begin == command);
        found.map(|(_, ends)| ArgumentKind::Block(ends))
    }

    /// Returns whether this is a block that a command ends.
    pub fn is_ended_by(self, command: &str) -> bool {
        matches!(self, ArgumentKind::Block(ends) if ends.contains(&command))
    }

    /// Returns whether the text up to here may still go elsewhere.
    pub fn is_apart(self) -> bool {
        matches!(self, ArgumentKind::Note | ArgumentKind::Deleted | ArgumentKind::Block(_))
    }
}

/// Returns whether the argument of a command is a label: a citation or a reference.
pub fn is_pointer(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let is_reference = name.ends_with("ref") && name != "hyperref";
    name.contains("cite") || is_reference || name.ends_with("label")
}
