//! Which address does a redirect lead to?

use cento_client::address::parts;

/// Returns the target of a redirect (RFC 3986, section 5.2), or `None` if its scheme is neither
/// http nor https.
pub fn redirected(from: &str, location: &str) -> Option<String> {
    let (origin, path) = parts(from)?;
    let location = location.trim().split('#').next()?;
    let to = if parts(location).is_some() {
        location.to_owned()
    } else if let Some(rest) = location.strip_prefix("//") {
        format!("{}://{rest}", origin.split("://").next()?)
    } else if location.split(['/', '?']).next()?.contains(':') {
        return None;
    } else if location.starts_with('/') {
        format!("{origin}{location}")
    } else {
        let base = path.split('?').next()?;
        let directory = if location.starts_with('?') { base } else { &base[..=base.rfind('/')?] };
        format!("{origin}{directory}{location}")
    };
    parts(&to).map(|(origin, path)| format!("{origin}{}", without_dots(path)))
}

/// Returns a path without the segments `.` and `..`.
fn without_dots(path: &str) -> String {
    let (path, query) = path.find('?').map_or((path, ""), |at| path.split_at(at));
    let mut kept: Vec<&str> = Vec::new();
    let mut segments = path.split('/').skip(1).peekable();
    while let Some(segment) = segments.next() {
        let is_last = segments.peek().is_none();
        match segment {
            "." | ".." => {
                if segment == ".." {
                    kept.pop();
                }
                if is_last {
                    kept.push("");
                }
            }
            _ => kept.push(segment),
        }
    }
    format!("/{}{query}", kept.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn redirects_are_resolved() {
        let check = |location: &str, expected: Option<&str>| {
            let found = redirected("http://a.example/b/c?d", location);
            assert_eq!(found.as_deref(), expected, "{location}");
        };
        check("https://e.example/f#g", Some("https://e.example/f"));
        check("//e.example/f", Some("http://e.example/f"));
        check("/f", Some("http://a.example/f"));
        check("f", Some("http://a.example/b/f"));
        check("../../f", Some("http://a.example/f"));
        check("?q", Some("http://a.example/b/c?q"));
        check("javascript:alert(1)", None);
        check("file:///etc/passwd", None);
    }
}
