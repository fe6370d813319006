//! The rules of a host for robots.
//!
//! RFC 9309: the group with this robot's name applies, or else the group for all robots. The
//! longest rule decides, and among equally long rules the rule that allows.

/// The name of this robot in robots.txt.
pub const AGENT: &str = "cento";

/// The rules of a host for this robot.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Robots {
    /// Patterns of paths, each with whether matching paths are allowed.
    rules: Vec<(String, bool)>,
}

impl Robots {
    /// Reads a robots.txt.
    pub fn new(text: &str) -> Robots {
        let (mut own, mut all) = (None, Vec::new());
        // Whether the group is for this robot, for all robots, and whether it already has a rule.
        let (mut is_own, mut is_all, mut has_rules) = (false, false, true);
        for line in text.lines() {
            let line = line.split('#').next().unwrap_or_default();
            let Some((key, value)) = line.split_once(':') else { continue };
            let (key, value) = (key.trim().to_ascii_lowercase(), value.trim());
            match key.as_str() {
                "user-agent" => {
                    if has_rules {
                        (is_own, is_all, has_rules) = (false, false, false);
                    }
                    is_own |= value.eq_ignore_ascii_case(AGENT);
                    is_all |= value == "*";
                    if is_own {
                        own.get_or_insert_with(Vec::new);
                    }
                }
                "allow" | "disallow" => {
                    has_rules = true;
                    let rule = (value.to_owned(), key == "allow");
                    match &mut own {
                        // An empty rule has no effect.
                        _ if value.is_empty() => {}
                        Some(own) if is_own => own.push(rule),
                        _ if is_all => all.push(rule),
                        _ => {}
                    }
                }
                _ => {}
            }
        }
        Robots { rules: own.unwrap_or(all) }
    }

    /// Returns rules that allow nothing, for a host that cannot return its rules now.
    pub fn nothing() -> Robots {
        Robots { rules: vec![("/".into(), false)] }
    }

    /// Returns whether this path, with its query, may be fetched.
    pub fn allows(&self, path: &str) -> bool {
        let matching = self.rules.iter().filter(|(pattern, _)| matches(pattern, path));
        matching.max_by_key(|(pattern, allows)| (pattern.len(), *allows)).is_none_or(|rule| rule.1)
    }
}

/// Returns whether a path begins with a pattern, where `*` is any text and a final `$` is the end
/// of the path.
fn matches(pattern: &str, path: &str) -> bool {
    let (pattern, is_whole) = match pattern.strip_suffix('$') {
        Some(pattern) => (pattern, true),
        None => (pattern, false),
    };
    let mut pieces = pattern.split('*');
    let Some(mut rest) = path.strip_prefix(pieces.next().unwrap_or_default()) else { return false };
    let mut pieces = pieces.peekable();
    if pieces.peek().is_none() {
        return !is_whole || rest.is_empty();
    }
    while let Some(piece) = pieces.next() {
        if is_whole && pieces.peek().is_none() {
            return rest.ends_with(piece);
        }
        let Some(at) = rest.find(piece) else { return false };
        rest = &rest[at + piece.len()..];
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_rule_of_the_own_group_decides() {
        let text = "User-agent: *\nDisallow: /\n\nuser-agent: other\nUser-Agent: Cento # us\n\
                    Disallow: /private\nAllow: /private/open\nDisallow: /*.pdf$\nDisallow:\n";
        let robots = Robots::new(text);
        let check =
            |path: &str, expected: bool| assert_eq!(robots.allows(path), expected, "{path}");
        check("/", true);
        check("/private/x", false);
        check("/private/open/x", true);
        check("/a/b.pdf", false);
        check("/a/b.pdf?x", true);
        assert!(!Robots::new("user-agent: *\ndisallow: /a").allows("/ab"));
        assert!(Robots::new("user-agent: cento\n\nuser-agent: *\nallow: /\n").allows("/"));
        assert!(Robots::new("<html>not found</html>").allows("/"));
        assert!(!Robots::nothing().allows("/a"));
        // A robot with its own group ignores the group for all robots.
        assert!(
            Robots::new("user-agent: *\ndisallow: /\nuser-agent: cento\ndisallow: /b").allows("/a")
        );
    }
}
