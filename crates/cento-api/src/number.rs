//! Numbers in the notation that people write and read.

/// Writes a number with a comma between thousands.
#[must_use]
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Writes a number of things. `one` is the singular of their name.
///
/// ```
/// use cento_api::number::counted;
///
/// assert_eq!(counted(1, "query"), "1 query");
/// assert_eq!(counted(12_345, "query"), "12,345 queries");
/// ```
#[must_use]
pub fn counted(number: u64, one: &str) -> String {
    let stem = one.strip_suffix('y').filter(|stem| !stem.ends_with(['a', 'e', 'i', 'o', 'u']));
    match (number, stem) {
        (1, _) => format!("1 {one}"),
        (_, Some(stem)) => format!("{} {stem}ies", count(number)),
        _ => format!("{} {one}s", count(number)),
    }
}

/// Parses a number of bytes, such as `512MiB`, `1GB` or `4096`.
///
/// ```
/// use cento_api::number::parse_bytes;
///
/// assert_eq!(parse_bytes("512MiB"), Ok(512 << 20));
/// assert_eq!(parse_bytes("1 GB"), Ok(1_000_000_000));
/// assert!(parse_bytes("a lot").is_err());
/// ```
///
/// # Errors
/// When the text has a different form, as a clause.
pub fn parse_bytes(text: &str) -> Result<usize, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic()).trim_ascii_end();
    let unit = text[digits.len()..].trim_ascii().to_ascii_lowercase();
    let shift = match unit.as_str() {
        "" | "b" => 1,
        "k" | "kib" => 1 << 10,
        "m" | "mib" => 1 << 20,
        "g" | "gib" => 1 << 30,
        "kb" => 1_000,
        "mb" => 1_000_000,
        "gb" => 1_000_000_000,
        _ => return Err("expected a number of bytes, such as 512MiB or 1GB".into()),
    };
    let number: usize = digits.parse().map_err(|_| "expected a number of bytes, such as 512MiB")?;
    number.checked_mul(shift).ok_or_else(|| "the number is too large".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units() {
        assert_eq!(parse_bytes("4096"), Ok(4096));
        assert_eq!(parse_bytes("512MiB"), Ok(512 << 20));
        assert_eq!(parse_bytes("512m"), Ok(512 << 20));
        assert_eq!(parse_bytes("1 GB"), Ok(1_000_000_000));
        assert!(parse_bytes("many").is_err());
        assert!(parse_bytes("5 parsecs").is_err());
        assert!(parse_bytes("99999999999999999999").is_err());
    }
}
