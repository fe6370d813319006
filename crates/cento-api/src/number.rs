//! Numbers in sentences for people.

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

/// Writes a number of things; `one` is the singular.
#[must_use]
pub fn counted(number: u64, one: &str) -> String {
    let stem = one.strip_suffix('y').filter(|stem| !stem.ends_with(['a', 'e', 'i', 'o', 'u']));
    match (number, stem) {
        (1, _) => format!("1 {one}"),
        (_, Some(stem)) => format!("{} {stem}ies", count(number)),
        _ => format!("{} {one}s", count(number)),
    }
}
