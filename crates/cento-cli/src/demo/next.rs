//! The commands to try after the demonstration.

use std::borrow::Cow;
use std::io::{self, Write};
use std::path::Path;

use super::PackagePair;
use crate::terminal::line;

/// Commands with the paths of this machine.
pub struct Next {
    program: String,
    root: String,
    a: String,
    b: String,
}

impl Next {
    /// Fills in the paths of a pair.
    pub fn new(pair: &PackagePair, root: &Path) -> Next {
        let program = std::env::args_os().next().unwrap_or_default();
        let program = program.to_string_lossy();
        // A bare name is looked up by the shell; a path is repeated as it was typed.
        let program = if program.is_empty() { "cento" } else { &program };
        let [program, root, a, b] = [program, &root.to_string_lossy(), &pair.a, &pair.b]
            .map(|argument| quoted(argument).into_owned());
        Next { program, root, a, b }
    }

    /// Writes the suggested commands.
    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let Next { program, root, a, b } = self;
        line!(out)?;
        line!(out, "To try next:")?;
        line!(out)?;
        line!(out, "  # All that the first pair shares, side by side")?;
        line!(out, "  {program} compare {a} {b}")?;
        line!(out, "  # An index that stays, of all files in the directory")?;
        line!(out, "  {program} create demo.idx && {program} add demo.idx {root}")?;
        line!(out, "  # Where else is the text of one file? With a report of its sources")?;
        line!(out, "  {program} search demo.idx {a} --report sources.html")
    }
}

/// Quotes an argument for the shell of this system.
#[cfg(unix)]
fn quoted(argument: &str) -> Cow<'_, str> {
    // Quoting only fails for a zero byte, which no argument or path contains.
    shlex::try_quote(argument).unwrap_or(Cow::Borrowed(argument))
}

/// Quotes an argument for the shell of this system. Paths contain no quotation marks there.
#[cfg(not(unix))]
fn quoted(argument: &str) -> Cow<'_, str> {
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '\\' | '/' | ':' | '.' | '-' | '_');
    match argument.chars().all(is_plain) {
        true => argument.into(),
        false => format!("\"{argument}\"").into(),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn commands_can_be_pasted_into_a_shell() {
        let pair = PackagePair {
            a: "/x/it's $HOME/a b.txt".into(),
            b: "/x/-b".into(),
            overlap: 1,
            resemblance: 0.5,
        };
        let mut out = Vec::new();
        Next::new(&pair, Path::new("/x")).write(&mut out).unwrap();
        let out = String::from_utf8(out).unwrap();
        let commands: Vec<_> = out.lines().filter(|line| line.contains(" compare ")).collect();
        let words = shlex::split(commands[0]).unwrap();
        assert_eq!(words[1..], ["compare", "/x/it's $HOME/a b.txt", "/x/-b"]);
    }
}
