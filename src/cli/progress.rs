//! How far is it, and does the user want to stop?

use std::cell::Cell;
use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use super::output;
use super::terminal::tell;
use crate::index::{AddReport, Event};

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

/// Tells on standard error how documents are added: a line that moves on a terminal, and one line
/// for each record that is no document.
pub struct AddProgress {
    bar: ProgressBar,
}

impl AddProgress {
    /// Nothing told so far.
    pub fn new() -> AddProgress {
        AddProgress { bar: spinner() }
    }

    /// Tells what has happened.
    pub fn tell(&self, event: Event<'_>) {
        match event {
            Event::Skipped(place, why) => log::info!("{place}: left out, {why}"),
            Event::Failed(error) => self.bar.suspend(|| tell!("cento: {error}; skipped")),
            Event::Progress(report) => {
                let documents = report.added + report.replaced + report.unchanged;
                if documents.is_multiple_of(64) {
                    self.bar.set_message(summary(report));
                }
            }
        }
    }

    /// Takes the moving line away.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
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
    let AddReport { added, replaced, unchanged, skipped, failed, bytes, .. } = report;
    let mut parts = vec![format!("{} added", output::count(*added))];
    for (number, what) in [
        (*replaced, "replaced"),
        (*unchanged, "unchanged"),
        (*skipped, "left out"),
        (*failed, "failed"),
    ] {
        if number > 0 {
            parts.push(format!("{} {what}", output::count(number)));
        }
    }
    format!("{}; {} of text", parts.join(", "), output::bytes(*bytes))
}
