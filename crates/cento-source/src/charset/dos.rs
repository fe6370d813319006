//! The code pages of DOS. The WHATWG Encoding Standard has only 866 and 874.
//!
//! A byte below 128 is ASCII. Each line of `dos.txt` has the number of a page, and the characters
//! of the bytes from 128 on, from Unicode's mapping tables.

const PAGES: &str = include_str!("dos.txt");

/// Prefixes that may precede the number of a page in a label.
const PREFIXES: [&str; 5] = ["cp", "ibm", "ibm-", "oem", "csibm"];

/// A code page of DOS.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DosPage {
    /// The number of the page, such as 850.
    pub number: &'static str,
    /// The characters of the bytes from 128 on.
    upper: &'static str,
}

impl DosPage {
    /// Returns the page with this label, such as `cp850`, `IBM850` or `850`.
    pub fn named(label: &str) -> Option<DosPage> {
        let label = label.trim().to_ascii_lowercase();
        let numbers = PREFIXES.iter().filter_map(|prefix| label.strip_prefix(prefix));
        let mut numbers = numbers.chain([&*label]);
        let pages = || PAGES.lines().filter_map(|line| line.split_once(' '));
        numbers.find_map(|wanted| {
            let (number, upper) = pages().find(|(number, _)| *number == wanted)?;
            Some(DosPage { number, upper })
        })
    }

    /// Decodes bytes. Bytes without a character become U+FFFD.
    pub fn decode(self, bytes: &[u8]) -> String {
        let upper: Vec<char> = self.upper.chars().collect();
        let character = |&byte: &u8| match byte.checked_sub(128) {
            Some(at) => upper.get(usize::from(at)).copied().unwrap_or(char::REPLACEMENT_CHARACTER),
            None => byte.into(),
        };
        bytes.iter().map(character).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::DecodingReader;
    use super::*;
    use std::io::Read as _;

    #[test]
    fn every_page_has_a_character_for_each_byte() {
        assert_eq!(PAGES.lines().count(), 12);
        for line in PAGES.lines() {
            let number = line.split(' ').next().unwrap();
            let page = DosPage::named(number).unwrap();
            let all: Vec<u8> = (0..=255).collect();
            let text = page.decode(&all);
            assert_eq!(text.chars().count(), 256, "{number}");
            assert!(!text.contains('\u{fffd}') && text.is_char_boundary(128), "{number}");
        }
    }

    #[test]
    fn names_and_characters_are_those_of_the_pages() {
        for name in ["cp850", "IBM850", " 850 ", "ibm-850", "OEM850", "csIBM850"] {
            assert_eq!(DosPage::named(name).unwrap().number, "850", "{name}");
        }
        for name in ["cp866", "cp1252", "latin1", "", "cp", "85"] {
            assert_eq!(DosPage::named(name), None, "{name}");
        }
        let text = |name: &str, bytes: &[u8]| DosPage::named(name).unwrap().decode(bytes);
        assert_eq!(text("cp437", b"Gr\x94\xe1e \xc9\xe0"), "Gr\u{f6}\u{df}e \u{2554}\u{3b1}");
        assert_eq!(text("cp850", b"Gr\x94\xe1e \xd5"), "Gr\u{f6}\u{df}e \u{131}");
        assert_eq!(text("cp858", b"\xd5"), "\u{20ac}");
        assert_eq!(text("cp852", b"\x9f\xd8"), "\u{10d}\u{11b}");
        assert_eq!(text("cp737", b"\x80\x98"), "\u{391}\u{3b1}");
    }

    #[test]
    fn a_stream_is_read_whatever_the_size_of_its_reads() {
        let bytes = b"Gr\x94\xe1e ".repeat(5000);
        let page = DosPage::named("cp850").unwrap();
        let mut read = Vec::new();
        let mut reader = DecodingReader::new(&*bytes, 1, |bytes: &[u8]| page.decode(bytes));
        loop {
            let mut some = [0; 3];
            let len = reader.read(&mut some).unwrap();
            if len == 0 {
                break;
            }
            read.extend_from_slice(&some[..len]);
        }
        assert_eq!(String::from_utf8(read).unwrap(), page.decode(&bytes));
    }
}
