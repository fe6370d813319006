//! Segments that every reader must refuse, with the reasons.
//!
//! Each is a sound segment with one change. Where a checksum would catch it, the checksums are made
//! to fit (`forged`), so that the check beyond them is what notices; the pages and frames that only
//! a checksum protects are changed as they are (`raw`).

mod frame;
mod sections;

use super::parts::{self, Parts};
use super::valid::Valid;

/// Why a segment is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// No `.sig` file, or its end is missing.
    Magic,
    /// A version of the format that the reader does not know.
    Version,
    /// Bytes that must be zero.
    Reserved,
    /// A checksum does not fit.
    Checksum,
    /// A number of the header or footer that the version does not allow.
    Parameter,
    /// A section, or a part of one, is not where or as long as it must be.
    Layout,
    /// Something points past the end of its section.
    Bounds,
    /// Bytes that do not encode the expected structure.
    Encoding,
    /// A number that is too large for its target.
    Range,
    /// Values that must ascend and do not.
    Order,
    /// Not as many as counted.
    Count,
    /// Two sections contradict each other.
    Mismatch,
}

impl Kind {
    /// As the manifest has it.
    pub fn name(self) -> String {
        format!("{self:?}").to_lowercase()
    }
}

/// When cento notices it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Noticed {
    /// When the segment is opened.
    Open,
    /// When the damaged bytes are first read.
    Read,
    /// When everything is compared with everything.
    Check,
}

impl Noticed {
    /// As the manifest has it.
    pub fn name(self) -> String {
        format!("{self:?}").to_lowercase()
    }
}

/// A segment with one fault that every reader must report.
pub struct Damaged {
    pub name: String,
    /// The sound segment before the change, if the kit has that segment.
    pub from: Option<String>,
    pub kind: Kind,
    /// The section that a refusal names.
    pub section: &'static str,
    pub noticed: Noticed,
    /// The change that was made.
    pub about: String,
    pub bytes: Vec<u8>,
}

/// Makes damaged segments out of one that is sound.
struct Maker<'a> {
    valid: &'a Valid,
    made: Vec<Damaged>,
}

/// Name, kind, section, when it is noticed, and the change.
type Label<'a> = (&'a str, Kind, &'static str, Noticed, &'a str);

impl Maker<'_> {
    /// With checksums as they were.
    fn raw(&mut self, label: Label<'_>, edit: impl FnOnce(&mut Vec<u8>)) {
        let mut bytes = self.valid.bytes.clone();
        edit(&mut bytes);
        self.push(label, bytes);
    }

    /// With section table and checksums that fit.
    fn forged(&mut self, label: Label<'_>, edit: impl FnOnce(&mut Parts)) {
        let mut parts = Parts::of(&self.valid.bytes);
        edit(&mut parts);
        self.push(label, parts.seal());
    }

    /// With a section changed, and checksums that fit.
    fn in_section(&mut self, label: Label<'_>, edit: impl FnOnce(&mut Vec<u8>)) {
        self.forged(label, |parts| edit(parts.section(label.2)));
    }

    /// With a footer changed and its own checksum that fits.
    fn footer(&mut self, label: Label<'_>, edit: impl FnOnce(&mut [u8])) {
        self.raw(label, |bytes| {
            let at = parts::footer_at(bytes);
            edit(&mut bytes[at..]);
            parts::seal_footer(&mut bytes[at..]);
        });
    }

    fn push(&mut self, label: Label<'_>, bytes: Vec<u8>) {
        let (name, kind, section, noticed, about) = label;
        assert!(bytes != self.valid.bytes, "{name} is not damaged");
        let from = Some(self.valid.name.to_owned()).filter(|from| !from.is_empty());
        let (name, about) = (name.to_owned(), about.to_owned());
        self.made.push(Damaged { name, from, kind, section, noticed, about, bytes });
    }
}

/// The kit's damaged segments, made of those that are sound.
pub fn all(valid: &[Valid]) -> Vec<Damaged> {
    let mut all = Vec::new();
    let mut of = |name: &str, make: fn(&mut Maker<'_>)| {
        let valid = valid.iter().find(|valid| valid.name == name).expect("a segment of the kit");
        let mut maker = Maker { valid, made: Vec::new() };
        make(&mut maker);
        all.append(&mut maker.made);
    };
    of("documented", frame::header);
    of("documented", frame::cut);
    of("documented", frame::footer);
    of("documented", frame::section_table);
    of("documented", frame::counts);
    of("documented", sections::terms);
    of("blocks", sections::blocks);
    of("documented", sections::record);
    of("documented", sections::filter);
    of("documented", sections::transducer_of_one);
    of("groups", sections::groups);
    of("documented", sections::postings);
    of("bitmap_runs", sections::bitmap);
    of("bitmap_array", sections::array);
    of("documented", sections::forward);
    of("positions", sections::positions);
    of("one_term", sections::without_bytes);
    of("documented", sections::ids);
    of("documented", sections::documents);
    of("unsigned", sections::without_signatures);
    all.extend(frame::pages());
    all
}

/// Writes a number of 8 bytes.
pub fn put(bytes: &mut [u8], at: usize, number: u64) {
    bytes[at..at + 8].copy_from_slice(&number.to_le_bytes());
}

/// Adds to a number of 8 bytes.
pub fn add(bytes: &mut [u8], at: usize, more: i64) {
    let number = u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
    put(bytes, at, number.wrapping_add_signed(more));
}
