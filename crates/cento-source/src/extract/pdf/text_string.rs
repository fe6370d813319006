//! Strings of a PDF that hold text for people: values of fields, and texts beside glyphs.

/// Decodes a string: UTF-16 or UTF-8 with a mark, or else a single-byte encoding.
pub fn decoded(bytes: &[u8]) -> String {
    let wide = |bytes: &[u8], unit: fn([u8; 2]) -> u16| {
        let (units, _) = bytes.as_chunks::<2>();
        String::from_utf16_lossy(&units.iter().map(|&pair| unit(pair)).collect::<Vec<u16>>())
    };
    match bytes {
        [0xfe, 0xff, rest @ ..] => wide(rest, u16::from_be_bytes),
        [0xff, 0xfe, rest @ ..] => wide(rest, u16::from_le_bytes),
        [0xef, 0xbb, 0xbf, rest @ ..] => String::from_utf8_lossy(rest).into_owned(),
        bytes => encoding_rs::WINDOWS_1252.decode_without_bom_handling(bytes).0.into_owned(),
    }
}
