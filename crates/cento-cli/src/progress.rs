//! How far is it, and does the user want to stop?

use std::cell::{Cell, RefCell};
use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;

use super::output;
use super::terminal::tell;
use cento_source::{AddReport, Event};

/// Set once the user or the system asks the process to stop; a second time ends it at once.
pub fn stop_flag() -> Arc<AtomicBool> {
    stop_flag_saying("stopping; what has been committed stays")
}

/// The same, with another word for who asks.
pub fn stop_flag_saying(word: &'static str) -> Arc<AtomicBool> {
    let stop = Arc::new(AtomicBool::new(false));
    let flag = stop.clone();
    let handler = move || {
        if flag.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
        tell!("cento: {word}");
    };
    if let Err(error) = ctrlc::set_handler(handler) {
        log::warn!("Ctrl-C ends the process at once: {error}");
    }
    stop
}

/// A file that was left out.
#[derive(Debug, Clone, Serialize)]
pub struct LeftOut {
    path: String,
    reason: &'static str,
}

/// Says which files were left out and which texts are empty: the first ones each on a line, of the
/// others how many.
pub struct Omissions {
    is_listed: bool,
    left_out: RefCell<Vec<LeftOut>>,
    told: Cell<u64>,
    untold: Cell<u64>,
}

/// So many are told of.
const TOLD_MAX: u64 = 20;

impl Omissions {
    /// None so far; all of them are kept for a list if `is_listed`.
    pub fn new(is_listed: bool) -> Omissions {
        let (told, untold) = (Cell::new(0), Cell::new(0));
        Omissions { is_listed, left_out: RefCell::default(), told, untold }
    }

    /// A file was left out; what is to be said of it, if anything.
    pub fn left_out(&self, path: &str, reason: &'static str) -> Option<String> {
        if self.is_listed {
            self.left_out.borrow_mut().push(LeftOut { path: path.into(), reason });
        }
        self.say(|| format!("cento: {path}: left out: {reason}"))
    }

    /// The text of a document is empty; what is to be said of it, if anything.
    pub fn empty(&self, id: &str) -> Option<String> {
        self.say(|| format!("cento: {id}: its text is empty: nothing is found of it"))
    }

    fn say(&self, what: impl Fn() -> String) -> Option<String> {
        if self.told.get() == TOLD_MAX {
            self.untold.set(self.untold.get() + 1);
            return None;
        }
        self.told.set(self.told.get() + 1);
        Some(what())
    }

    /// Says how many there are of which nothing was said.
    pub fn finish(&self) {
        if self.untold.get() > 0 {
            let more = output::counted(self.untold.get(), "more file");
            tell!("cento: {more} left out or empty; --format json lists what is left out");
        }
    }

    /// The list.
    pub fn into_list(self) -> Vec<LeftOut> {
        self.left_out.into_inner()
    }
}

/// Tells on standard error how documents are added: a line that moves on a terminal, and one line
/// for each record that is no document and each file that is left out.
pub struct AddProgress {
    bar: ProgressBar,
    omissions: Option<Omissions>,
}

impl AddProgress {
    /// Nothing told so far; files that are left out are listed if `is_listed`.
    pub fn new(is_listed: bool) -> AddProgress {
        AddProgress { bar: spinner(), omissions: Some(Omissions::new(is_listed)) }
    }

    /// The same for files that nobody has named: those that are left out are not told of.
    pub fn quiet() -> AddProgress {
        AddProgress { bar: spinner(), omissions: None }
    }

    /// Tells what has happened.
    pub fn tell(&self, event: Event<'_>) {
        let said = match (&event, &self.omissions) {
            (Event::Skipped(place, why), Some(omissions)) => omissions.left_out(place, why),
            (Event::Empty(id), Some(omissions)) => omissions.empty(id),
            _ => None,
        };
        if let Some(said) = said {
            self.bar.suspend(|| tell!("{said}"));
        }
        match event {
            Event::Skipped(..) | Event::Empty(_) => {}
            Event::Failed(error) => self.bar.suspend(|| tell!("cento: {error}; skipped")),
            Event::Progress(report) => {
                let documents = report.added + report.replaced + report.unchanged;
                if documents.is_multiple_of(64) {
                    self.bar.set_message(summary(report));
                }
            }
        }
    }

    /// Takes the moving line away, and gives the list of what was left out.
    pub fn finish(self) -> Vec<LeftOut> {
        self.bar.finish_and_clear();
        let Some(omissions) = self.omissions else { return Vec::new() };
        omissions.finish();
        omissions.into_list()
    }
}

/// A moving line without an end in sight, on a terminal.
fn spinner() -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{spinner} {elapsed} {msg}");
    let bar = ProgressBar::new_spinner();
    bar.set_style(style.expect("the template is right"));
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

/// Tells now and then what has been done.
pub struct Spinner {
    bar: ProgressBar,
    told: Cell<u64>,
}

impl Spinner {
    /// Nothing told so far.
    pub fn new() -> Spinner {
        Spinner { bar: spinner(), told: Cell::new(0) }
    }

    /// Something more has been done; `message` says what there is by now.
    pub fn tell(&self, message: &dyn Fn() -> String) {
        self.told.set(self.told.get() + 1);
        if self.told.get().is_multiple_of(256) && !self.bar.is_hidden() {
            self.bar.set_message(message());
        }
    }

    /// Takes the moving line away.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

/// How far through a known number of things it is, in a moving line on a terminal.
pub struct Progress {
    bar: ProgressBar,
}

impl Progress {
    /// Of so many things with this name.
    pub fn new(of: u64, name: &str) -> Progress {
        let bar = match std::io::stderr().is_terminal() {
            true => ProgressBar::new(of),
            false => ProgressBar::hidden(),
        };
        let template = format!("{{bar:30}} {{human_pos}} of {{human_len}} {name}, {{eta}} to go");
        let style = ProgressStyle::with_template(&template);
        bar.set_style(style.expect("the template is well formed"));
        Progress { bar }
    }

    /// So many are done.
    pub fn set(&self, done: u64) {
        self.bar.set_position(done);
    }

    /// Takes the moving line away.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

/// One line of what has been added.
pub fn summary(report: &AddReport) -> String {
    let AddReport { added, replaced, unchanged, skipped, failed, empty, bytes, .. } = report;
    let mut parts = vec![format!("{} added", output::count(*added))];
    for (number, what) in [
        (*replaced, "replaced"),
        (*unchanged, "unchanged"),
        (*skipped, "left out"),
        (*failed, "failed"),
        (*empty, "empty"),
    ] {
        if number > 0 {
            parts.push(format!("{} {what}", output::count(number)));
        }
    }
    format!("{}; {} of text", parts.join(", "), output::bytes(*bytes))
}
