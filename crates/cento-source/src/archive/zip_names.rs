//! Decodes the file names in a zip archive.
//!
//! Programs on Windows write names in the local encoding without declaring it, and some separate
//! directories by backslashes. The encoding is detected from all names together, because a single
//! name has too few letters. Names with invalid bytes are read in code page 437, where every
//! byte is a character.

use std::borrow::Cow;
use std::collections::HashSet;
use std::io::{Read, Seek};

use encoding_rs::{Encoding, WINDOWS_1252};

use crate::charset;

/// The flag of an entry whose name is in UTF-8.
const UTF_8: u16 = 1 << 11;

/// Returns the file names of an archive, in the order of its directory. Names differ unless their
/// bytes are equal.
pub fn of<R: Read + Seek>(archive: &mut zip::ZipArchive<R>) -> Vec<String> {
    let raw: Vec<Vec<u8>> = archive.file_names_raw().map(<[u8]>::to_vec).collect();
    let by_page_437 = |archive: &zip::ZipArchive<R>, at: usize| match archive.name_for_index(at) {
        Some(Ok(name)) => name.into_owned(),
        _ => format!("file {}", at + 1),
    };
    let encoding = match raw.iter().all(|name| std::str::from_utf8(name).is_ok()) {
        true => None,
        false => {
            let is_free: Vec<bool> = (0..raw.len()).map(|at| !is_utf8(archive, at)).collect();
            let names = raw.iter().zip(&is_free).filter(|(_, is_free)| **is_free);
            detect(names.map(|(name, _)| name.as_slice())).map(|encoding| (encoding, is_free))
        }
    };
    let mut taken = HashSet::new();
    let mut names: Vec<String> = Vec::with_capacity(raw.len());
    for (at, bytes) in raw.iter().enumerate() {
        let name = match &encoding {
            Some((encoding, is_free)) if is_free[at] => {
                encoding.decode_without_bom_handling_and_without_replacement(bytes)
            }
            _ => None,
        };
        let name = name.map(Cow::into_owned).filter(|name| !taken.contains(name));
        let name = name.unwrap_or_else(|| by_page_437(archive, at));
        taken.insert(name.clone());
        names.push(name);
    }
    // Files in directories need a separator. Without slashes, backslashes must be separators.
    if names.iter().all(|name| !name.contains('/')) {
        for name in &mut names {
            *name = name.replace('\\', "/");
        }
    }
    names
}

/// Returns whether an entry declares a UTF-8 name.
fn is_utf8<R: Read + Seek>(archive: &mut zip::ZipArchive<R>, at: usize) -> bool {
    let entry = archive.by_index_raw(at);
    entry.is_ok_and(|entry| entry.flags().as_u16() & UTF_8 != 0)
}

/// Returns the encoding of names, or `None` for a western code page of DOS.
fn detect<'a>(names: impl Iterator<Item = &'a [u8]>) -> Option<&'static Encoding> {
    let all = names.collect::<Vec<_>>().join(&b'\n');
    let encoding = charset::detect(&all);
    // Letters of western Europe are above 0xC0 on Windows, and below 0xA6 in DOS.
    let count = |is_in: fn(&u8) -> bool| all.iter().filter(|byte| is_in(byte)).count();
    let is_dos = count(|byte| (0x80..0xa6).contains(byte)) > count(|byte| *byte >= 0xc0);
    (encoding != WINDOWS_1252 || !is_dos).then_some(encoding)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::archive::{Entry, zip};
    use encoding_rs::{GBK, IBM866, SHIFT_JIS};
    use std::io::Cursor;
    use std::ops::ControlFlow;

    /// Returns a zip archive of empty files with these names.
    fn archive(names: &[Vec<u8>]) -> Vec<u8> {
        let (mut out, mut directory) = (Vec::new(), Vec::new());
        for name in names {
            let at = (out.len() as u32).to_le_bytes();
            // Version, flags, method, time, date, CRC, sizes, and the lengths of the name and of
            // further fields.
            let mut header = [0; 26];
            header[0] = 20;
            header[22..24].copy_from_slice(&(name.len() as u16).to_le_bytes());
            out.extend([&b"PK\x03\x04"[..], &header, name].concat());
            directory.extend([&b"PK\x01\x02\x14\0"[..], &header, &[0; 10], &at, name].concat());
        }
        let count = (names.len() as u16).to_le_bytes();
        let (len, at) = (directory.len() as u32, out.len() as u32);
        out.extend(directory);
        out.extend([&b"PK\x05\x06\0\0\0\0"[..], &count, &count].concat());
        out.extend([&len.to_le_bytes()[..], &at.to_le_bytes(), &[0, 0]].concat());
        out
    }

    #[track_caller]
    fn check(names: &[Vec<u8>], expected: &[&str]) {
        let mut found = Vec::new();
        let flow = zip(Cursor::new(archive(names)), &mut |name, entry| {
            assert!(matches!(entry, Entry::File(_)), "{name}");
            found.push(name.to_owned());
            ControlFlow::Continue(())
        });
        assert!(flow.unwrap().is_continue());
        assert_eq!(found, expected);
    }

    fn encoded(encoding: &'static Encoding, names: &[&str]) -> Vec<Vec<u8>> {
        names.iter().map(|name| encoding.encode(name).0.into_owned()).collect()
    }

    #[test]
    fn names_are_read_in_the_encoding_of_the_machine_that_wrote_them() {
        let chinese = ["\u{5b66}\u{751f}\u{7532}\u{4f5c}\u{4e1a}/Main.java", "\u{5b66}/a.txt"];
        check(&encoded(GBK, &chinese), &chinese);
        // In Shift JIS, the second byte of some letters is a backslash.
        let japanese = [
            "\u{8868}\u{5c71}\u{592a}\u{90ce}\u{3055}\u{3093}/\u{30ec}\u{30dd}\u{30fc}\u{30c8}.txt",
            "\u{5c71}\u{7530}/a.txt",
        ];
        check(&encoded(SHIFT_JIS, &japanese), &japanese);
        let russian = [
            "\u{41a}\u{443}\u{440}\u{441}\u{43e}\u{432}\u{430}\u{44f} \u{440}\u{430}\u{431}\u{43e}\u{442}\u{430}/\u{433}\u{43b}\u{430}\u{432}\u{430}.txt",
        ];
        check(&encoded(IBM866, &russian), &russian);
        check(&encoded(WINDOWS_1252, &["caf\u{e9} cr\u{e8}me.txt"]), &["caf\u{e9} cr\u{e8}me.txt"]);
        // Code page 437 is the fallback.
        check(
            &[b"Stra\xe1e f\x81r M\x84nner.txt".to_vec()],
            &["Stra\u{df}e f\u{fc}r M\u{e4}nner.txt"],
        );
        check(
            &["na\u{ef}ve.txt".into(), "\u{5b66}.txt".into()],
            &["na\u{ef}ve.txt", "\u{5b66}.txt"],
        );
    }

    #[test]
    fn backslashes_separate_directories_where_nothing_else_does() {
        let names =
            |names: &[&str]| names.iter().map(|name| name.as_bytes().to_vec()).collect::<Vec<_>>();
        check(
            &names(&["work\\", "work\\ann\\A.java", "work\\bob\\A.java"]),
            &["work/ann/A.java", "work/bob/A.java"],
        );
        check(&names(&["a/b\\c", "d\\e"]), &["a/b\\c", "d\\e"]);
    }

    #[test]
    fn names_that_cannot_be_decoded_stay_distinct() {
        let names = [vec![0x81], vec![0x8d], vec![0x90, 0xff], vec![0xff, 0xff]];
        let mut found = of(&mut zip::ZipArchive::new(Cursor::new(archive(&names))).unwrap());
        found.sort();
        found.dedup();
        assert_eq!(found.len(), 4);
    }
}
