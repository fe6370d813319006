//! Safe output of untrusted text to a terminal.
//!
//! File names, names in archives, ids and passages come from outside, and a terminal obeys control
//! characters: they move the cursor, change the title, hide earlier text or reverse a name. All
//! text for people therefore goes through this module, where [`printable`] escapes such characters.
//! Nothing else in `cli` prints.

use std::fmt;
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use anstream::AutoStream;
use clap::ColorChoice;
use clap::builder::styling::{AnsiColor, Style};
use indicatif::{ProgressBar, WeakProgressBar};

pub use cento_report::terminal::{is_obeyed, json, printable};

/// Whether notes and progress are left out.
static IS_QUIET: AtomicBool = AtomicBool::new(false);

/// Whether names on standard output are bold.
static OUT_HAS_COLORS: AtomicBool = AtomicBool::new(false);

/// Whether messages on standard error are colored.
static ERR_HAS_COLORS: AtomicBool = AtomicBool::new(false);

/// The progress line of the run, above which messages are written.
static PROGRESS: Mutex<Option<WeakProgressBar>> = Mutex::new(None);

/// Chooses colors; `auto` means a terminal, unless the environment has NO_COLOR.
pub fn set_colors(choice: ColorChoice) {
    match choice {
        ColorChoice::Auto => anstream::ColorChoice::Auto,
        ColorChoice::Always => anstream::ColorChoice::Always,
        ColorChoice::Never => anstream::ColorChoice::Never,
    }
    .write_global();
    let has = |choice| choice != anstream::ColorChoice::Never;
    OUT_HAS_COLORS.store(has(AutoStream::choice(&io::stdout())), Ordering::Relaxed);
    ERR_HAS_COLORS.store(has(AutoStream::choice(&io::stderr())), Ordering::Relaxed);
    // The crate `console` styles side-by-side texts and needs the same decision.
    console::set_colors_enabled(OUT_HAS_COLORS.load(Ordering::Relaxed));
}

/// Returns whether messages on standard error are colored.
pub fn err_has_colors() -> bool {
    ERR_HAS_COLORS.load(Ordering::Relaxed)
}

/// Leaves names uncolored: the lines for people go to a file.
pub fn set_plain_output() {
    OUT_HAS_COLORS.store(false, Ordering::Relaxed);
}

/// Leaves out notes and progress from now on.
pub fn set_quiet(is_quiet: bool) {
    IS_QUIET.store(is_quiet, Ordering::Relaxed);
}

/// Returns whether notes and progress are left out.
pub fn is_quiet() -> bool {
    IS_QUIET.load(Ordering::Relaxed)
}

/// Makes this the progress line of the run.
pub fn show_progress(bar: &ProgressBar) {
    *PROGRESS.lock().unwrap_or_else(PoisonError::into_inner) = Some(bar.downgrade());
}

fn progress() -> Option<ProgressBar> {
    let shown = PROGRESS.lock().unwrap_or_else(PoisonError::into_inner);
    shown.as_ref().and_then(WeakProgressBar::upgrade).filter(|bar| !bar.is_finished())
}

/// Removes the progress line, if shown.
pub fn clear_progress() {
    if let Some(bar) = progress() {
        bar.finish_and_clear();
    }
}

/// The kind of a message on standard error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Something is wrong, missing or incomplete.
    Error,
    /// A summary, or a line of lesser interest: left out by --quiet.
    Note,
}

/// The prefix of messages that are not only about the result.
const NAME: &str = "cento:";

/// Writes a line to standard error, above the progress line.
pub fn say(kind: Kind, message: fmt::Arguments<'_>) {
    if kind == Kind::Note && is_quiet() {
        return;
    }
    let line = message.to_string();
    let line = printable(&line);
    let line = match line.strip_prefix(NAME) {
        Some(rest) if err_has_colors() => {
            let color = match kind {
                Kind::Error => AnsiColor::Red.on_default().bold(),
                Kind::Note => AnsiColor::Yellow.on_default(),
            };
            format!("{color}{NAME}{color:#}{rest}").into()
        }
        _ => line,
    };
    let write = || {
        // With standard error closed, the failure cannot be reported anywhere.
        let _ = writeln!(io::stderr().lock(), "{line}");
    };
    match progress() {
        Some(bar) => bar.suspend(write),
        None => write(),
    }
}

/// Writes a line about an error or an incomplete result to standard error.
macro_rules! tell {
    ($($arg:tt)*) => {
        $crate::terminal::say($crate::terminal::Kind::Error, format_args!($($arg)*))
    };
}
pub(super) use tell;

/// Writes a note to standard error, unless notes are left out.
macro_rules! note {
    ($($arg:tt)*) => {
        $crate::terminal::say($crate::terminal::Kind::Note, format_args!($($arg)*))
    };
}
pub(super) use note;

/// Unicode noncharacters that enclose a name until the line is written. They are reserved for use
/// within a program. In untrusted text, a noncharacter can at worst make a line bold.
const NAME_BEGINS: char = '\u{fdd0}';
const NAME_ENDS: char = '\u{fdd1}';

/// The id of a document in a line for people, which is bold where standard output has colors.
pub struct Id<'a>(pub &'a str);

impl fmt::Display for Id<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match OUT_HAS_COLORS.load(Ordering::Relaxed) {
            true => write!(f, "{NAME_BEGINS}{}{NAME_ENDS}", self.0),
            false => f.write_str(self.0),
        }
    }
}

/// Makes enclosed names bold.
fn colored(line: &str) -> String {
    let bold = Style::new().bold();
    line.replace(NAME_BEGINS, &bold.render().to_string())
        .replace(NAME_ENDS, &bold.render_reset().to_string())
}

/// An output of lines for people.
pub trait Lines: Write {
    /// Writes a complete line.
    fn line(&mut self, line: fmt::Arguments<'_>) -> io::Result<()> {
        let line = line.to_string();
        let line = printable(&line);
        match OUT_HAS_COLORS.load(Ordering::Relaxed) {
            true => writeln!(self, "{}", colored(&line)),
            false => writeln!(self, "{line}"),
        }
    }
}

impl<W: Write> Lines for W {}

/// Writes a line for people.
macro_rules! line {
    ($out:expr) => { line!($out, "") };
    ($out:expr, $($arg:tt)*) => {{
        use $crate::terminal::Lines as _;
        $out.line(format_args!($($arg)*))
    }};
}
pub(super) use line;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_bold_and_still_cannot_command_the_terminal() {
        let line = format!("{NAME_BEGINS}a\u{1b}[2J{NAME_ENDS} 0.5");
        assert_eq!(colored(&printable(&line)), "\u{1b}[1ma\\u{1b}[2J\u{1b}[0m 0.5");
        assert_eq!(Id("a").to_string(), "a", "without a terminal there are no colors");
    }
}
