//! Reads the layout of a stored document with checks.
//!
//! tantivy's own reader trusts every length: a damaged length makes it allocate more memory than
//! exists, which ends the process. Compressed blocks have no checksum, so damaged lengths do occur.
//! Here every length is compared with the remaining bytes. The layout is tantivy's, whose version
//! is pinned: the number of fields, then for each field its number, a code for its type, and the
//! value.

use tantivy::schema::Field;

use super::store::number;

/// The code of a text, which has its length and then its bytes.
const TEXT_CODE: u8 = 0;
/// The code of a date, which has 8 bytes.
const DATE_CODE: u8 = 5;

/// Returns the texts of a stored document with their fields. `None` if it is not cento's.
pub fn texts(mut bytes: &[u8]) -> Option<Vec<(Field, &str)>> {
    let fields = number(&mut bytes)?;
    let mut texts = Vec::new();
    for _ in 0..fields {
        let field = u32::from_le_bytes(take(&mut bytes, 4)?.try_into().ok()?);
        match take(&mut bytes, 1)?[0] {
            TEXT_CODE => {
                let len = usize::try_from(number(&mut bytes)?).ok()?;
                let text = std::str::from_utf8(take(&mut bytes, len)?).ok()?;
                texts.push((Field::from_field_id(field), text));
            }
            DATE_CODE => {
                take(&mut bytes, 8)?;
            }
            _ => return None,
        }
    }
    bytes.is_empty().then_some(texts)
}

fn take<'a>(bytes: &mut &'a [u8], len: usize) -> Option<&'a [u8]> {
    let (taken, rest) = bytes.split_at_checked(len)?;
    *bytes = rest;
    Some(taken)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A document with an id and a date.
    const DOCUMENT: [u8; 22] =
        [0x82, 0, 0, 0, 0, 0, 0x83, b'a', b'b', b'c', 5, 0, 0, 0, 5, 1, 2, 3, 4, 5, 6, 7];

    #[test]
    fn texts_are_taken_and_dates_passed_over() {
        let whole = [&DOCUMENT[..], &[8]].concat();
        assert_eq!(texts(&whole), Some(vec![(Field::from_field_id(0), "abc")]));
        for len in 0..whole.len() {
            assert_eq!(texts(&whole[..len]), None, "cut to {len}");
        }
    }

    #[test]
    fn a_length_beyond_the_end_asks_for_no_memory() {
        // A text of 2^42 bytes once ended the process here.
        let mut hostile = vec![0x81, 0, 0, 0, 0, 0];
        hostile.extend([0, 0, 0, 0, 0, 0, 0x81]);
        assert_eq!(texts(&hostile), None);
    }

    proptest! {
        #[test]
        fn any_bytes_are_no_panic(bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
            texts(&bytes);
        }
    }
}
