//! Takes a `.sig` file apart, and puts it together again with checksums that fit.

const HEADER_BYTES: usize = 40;
const FOOTER_BYTES: usize = 192;
const PAGE_BYTES: usize = 4096;

/// The sections before the checksums, in file order.
pub const SECTIONS: [&str; 7] =
    ["terms", "term index", "filter", "postings", "forward", "ids", "documents"];

/// The number of the section with the checksums.
pub const CHECKSUMS: usize = SECTIONS.len();

/// A `.sig` file in parts that can be changed.
#[derive(Clone)]
pub struct Parts {
    pub header: Vec<u8>,
    sections: [Vec<u8>; SECTIONS.len()],
    pub footer: Vec<u8>,
    /// The padding before the lines of the filter, which begin at a multiple of 64 bytes.
    pub padding: u8,
}

impl Parts {
    /// The parts of a sound file.
    pub fn of(bytes: &[u8]) -> Parts {
        let sections = std::array::from_fn(|i| {
            let (start, len) = section(bytes, i);
            let padding = if SECTIONS[i] == "filter" { padding(start) } else { 0 };
            bytes[start + padding..start + len].to_vec()
        });
        let (header, footer) = (&bytes[..HEADER_BYTES], &bytes[bytes.len() - FOOTER_BYTES..]);
        Parts { header: header.to_vec(), sections, footer: footer.to_vec(), padding: 0 }
    }

    /// The bytes of a section. The filter has no padding here.
    pub fn section(&mut self, name: &str) -> &mut Vec<u8> {
        let at = SECTIONS.iter().position(|section| *section == name);
        &mut self.sections[at.expect("the name of a section")]
    }

    /// The file, with a section table and checksums computed from the current parts.
    pub fn seal(mut self) -> Vec<u8> {
        let mut bytes = self.header;
        let mut table = Vec::new();
        for (name, section) in SECTIONS.iter().zip(self.sections) {
            let at = bytes.len();
            if *name == "filter" {
                // The sections before it may have changed their lengths.
                bytes.resize(at + padding(at), self.padding);
            }
            bytes.extend(section);
            table.extend([at, bytes.len() - at]);
        }
        let checksums: Vec<u8> =
            bytes.chunks(PAGE_BYTES).flat_map(|page| crc32fast::hash(page).to_le_bytes()).collect();
        table.extend([bytes.len(), checksums.len()]);
        for (field, number) in self.footer.chunks_exact_mut(8).zip(table) {
            field.copy_from_slice(&(number as u64).to_le_bytes());
        }
        self.footer[172..176].copy_from_slice(&crc32fast::hash(&checksums).to_le_bytes());
        seal_footer(&mut self.footer);
        bytes.extend(checksums);
        bytes.extend(self.footer);
        bytes
    }
}

/// The bytes from `at` to a multiple of 64.
fn padding(at: usize) -> usize {
    at.next_multiple_of(64) - at
}

/// Makes the checksum fit a footer that has been changed.
pub fn seal_footer(footer: &mut [u8]) {
    let crc = crc32fast::hash(&footer[..176]);
    footer[176..180].copy_from_slice(&crc.to_le_bytes());
}

/// Offset and length of a section of a sound file, the checksums being the last.
pub fn section(bytes: &[u8], index: usize) -> (usize, usize) {
    let footer = &bytes[bytes.len() - FOOTER_BYTES..];
    let number = |at: usize| {
        let bytes = footer[at..at + 8].try_into().expect("eight bytes");
        u64::from_le_bytes(bytes) as usize
    };
    (number(16 * index), number(16 * index + 8))
}

/// The start of the footer of a sound file.
pub fn footer_at(bytes: &[u8]) -> usize {
    bytes.len() - FOOTER_BYTES
}
