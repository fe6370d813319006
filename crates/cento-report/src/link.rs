//! Ids that are addresses a reader can follow.

/// Returns `id` if `id` is an http or https address that can become a link unchanged.
///
/// Everything else stays text: other schemes could run scripts, and an address with a user name
/// looks like the address of a different host.
///
/// ```
/// use cento_report::link;
///
/// assert!(link("https://example.org/press.html").is_some());
/// assert_eq!(link("javascript:alert(1)"), None);
/// ```
#[must_use]
pub fn link(id: &str) -> Option<&str> {
    let rest = strip_scheme(id, "https://").or_else(|| strip_scheme(id, "http://"))?;
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (host, path) = rest.split_at(end);
    let of_host = |b: u8| b.is_ascii_alphanumeric() || b"-._:[]".contains(&b);
    let is_host = host.bytes().all(of_host) && host.bytes().any(|b| b.is_ascii_alphanumeric());
    // Excludes characters that addresses escape, and lookalike letters.
    let of_path = |b: u8| b.is_ascii_graphic() && !b"\"'<>\\^`{|}".contains(&b);
    (is_host && path.bytes().all(of_path)).then_some(id)
}

fn strip_scheme<'a>(id: &'a str, scheme: &str) -> Option<&'a str> {
    let (start, rest) = id.split_at_checked(scheme.len())?;
    start.eq_ignore_ascii_case(scheme).then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_of_the_web_are_links() {
        for good in [
            "http://example.org",
            "HTTPS://example.org:8080/a%20b?q=1&r=[2]#part",
            "https://[2001:db8::1]/x",
        ] {
            assert_eq!(link(good), Some(good));
        }
        for bad in [
            "",
            "essay.txt",
            "javascript:alert(1)",
            "data:text/html,<script>alert(1)</script>",
            " http://example.org",
            "http:/example.org",
            "http://",
            "http://.",
            "https://bank.example@evil.example/",
            "http://example.org/\"onclick=alert(1)",
            "http://example.org/\nx",
            "http://example.org/\u{202e}fdp.exe",
            "http://ex\u{430}mple.org/",
            "http://example.org\\@evil.example/",
            "\u{e9}http://",
        ] {
            assert_eq!(link(bad), None, "{bad:?}");
        }
    }
}
