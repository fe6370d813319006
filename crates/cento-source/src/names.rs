//! Names of files as ids.
//!
//! An id is text without control characters, but a file name is bytes. A byte that no id can have
//! is written as a percent sign and two hexadecimal digits. A percent sign that would look like an
//! escape is escaped, too. Different names therefore stay different, and nearly all names stay
//! unchanged.

use std::borrow::Cow;
use std::fmt::Write;

/// Returns the name as an id.
pub fn escaped(name: &[u8]) -> Cow<'_, str> {
    let is_plain = |name: &&str| !name.contains(|c: char| c == '%' || c.is_control());
    if let Some(name) = std::str::from_utf8(name).ok().filter(is_plain) {
        return name.into();
    }
    let mut id = String::with_capacity(name.len() + 8);
    let write = |id: &mut String, bytes: &[u8]| {
        for byte in bytes {
            // Writing to memory cannot fail.
            let _ = write!(id, "%{byte:02X}");
        }
    };
    for chunk in name.utf8_chunks() {
        let valid = chunk.valid();
        for (at, c) in valid.char_indices() {
            let own = &valid.as_bytes()[at..at + c.len_utf8()];
            match c.is_control() || (c == '%' && escape(&valid.as_bytes()[at + 1..]).is_some()) {
                true => write(&mut id, own),
                false => id.push(c),
            }
        }
        write(&mut id, chunk.invalid());
    }
    id.into()
}

/// Returns the byte of an escape by [`escaped`], given the bytes after the percent sign.
fn escape(rest: &[u8]) -> Option<u8> {
    let digit = |at: usize| {
        let digit = rest.get(at).filter(|byte| !byte.is_ascii_lowercase())?;
        char::from(*digit).to_digit(16)
    };
    let byte = u8::try_from(digit(0)? << 4 | digit(1)?).ok()?;
    matches!(byte, 0..0x20 | 0x7f.. | 0x25).then_some(byte)
}

/// Returns the file name that [`escaped`] turns into this id.
pub fn unescaped(id: &str) -> Vec<u8> {
    let mut name = Vec::new();
    let mut rest = id.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let byte = if first == b'%' { escape(after) } else { None };
        name.push(byte.unwrap_or(first));
        rest = if byte.is_some() { &after[2..] } else { after };
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_that_are_ids_stay_as_they_are() {
        for name in ["a.txt", "100 %.txt", "a%20b", "%fe", "caf\u{e9}/\u{fffd}", "%", "%E"] {
            assert_eq!(escaped(name.as_bytes()), name);
        }
        assert_eq!(escaped(b"\xfe.txt"), "%FE.txt");
        assert_eq!(escaped(b"caf\xe9\n"), "caf%E9%0A");
        assert_eq!(escaped(b"%FE"), "%25FE");
        assert_eq!(escaped(b"%25FE"), "%2525FE");
        assert_eq!(escaped("\u{85}".as_bytes()), "%C2%85");
    }

    proptest! {
        #[test]
        fn no_two_names_are_one_id(name in prop::collection::vec(prop_oneof![
            any::<u8>(), Just(b'%'), Just(b'F'), Just(b'2'), Just(b'5'), Just(0xc3), Just(0xa9),
        ], 0..20)) {
            let id = escaped(&name);
            prop_assert!(!id.contains(char::is_control));
            prop_assert_eq!(unescaped(&id), name);
        }
    }
}
