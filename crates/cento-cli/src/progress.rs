//! Progress of a run, and requests to stop the run.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::fmt;
use std::io::IsTerminal;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use indicatif::style::TemplateError;
use indicatif::{
    HumanDuration, ProgressBar, ProgressDrawTarget, ProgressFinish, ProgressState, ProgressStyle,
};
use serde::Serialize;

use super::advice::with_advice;
use super::hangup::set_handlers;
use super::hints::ErrorWithHint;
use super::messages::Messages;
use super::output;
use super::terminal::{self, Kind, note, tell};
use cento::{Error, Stop};
use cento_source::{AddReport, Event, ReadMeter, SourceOptions, advice, lacks_part};

/// Returns a handle that is set when the user or the system asks the process to stop. A second
/// request ends the process immediately.
pub fn stop_flag() -> Stop {
    stop_flag_and(|| note!("cento: stopping; committed documents are kept"))
}

/// Like [`stop_flag`], and calls `asked` at the first request.
pub fn stop_flag_and(asked: impl Fn() + Send + 'static) -> Stop {
    let stop = Stop::new();
    let flag = stop.clone();
    let handler = move || {
        if flag.is_set() {
            terminal::clear_progress();
            std::process::exit(130);
        }
        flag.set();
        asked();
    };
    if let Err(error) = set_handlers(|| ctrlc::set_handler(handler)) {
        log::warn!("Ctrl-C will end the process immediately: {error}");
    }
    stop
}

/// An input file that was not read.
#[derive(Debug, Clone, Serialize)]
pub struct LeftOut {
    path: String,
    reason: Cow<'static, str>,
    /// How to get the file read, if there is a way.
    #[serde(skip_serializing_if = "Option::is_none")]
    advice: Option<&'static str>,
}

/// Every file that was not read, for a report in JSON.
#[derive(Debug, Default, Serialize)]
pub struct NotRead {
    /// Paths that are not text, are empty, or are not files.
    left_out: Vec<LeftOut>,
    /// Files that could not be read completely.
    unread_files: Vec<LeftOut>,
    #[serde(skip)]
    first: Option<LeftOut>,
}

impl NotRead {
    /// Reports the first skipped path as an error, unless notes have shown it.
    pub fn tell_first(&self) {
        if let (Some(LeftOut { path, reason, advice }), true) = (&self.first, terminal::is_quiet())
        {
            tell!("cento: {path}: skipped: {}", with_advice(reason, *advice));
        }
    }
}

/// Reports skipped files, records that are not documents, and empty texts. The first few omissions
/// of a kind get a line, and the remaining ones are counted.
pub struct Omissions {
    is_listed: bool,
    not_read: RefCell<NotRead>,
    messages: Messages,
}

impl Omissions {
    /// Starts without omissions. Keeps every omission for a list if `is_listed`.
    pub fn new(is_listed: bool) -> Omissions {
        Omissions { is_listed, not_read: RefCell::default(), messages: Messages::default() }
    }

    /// Records a skipped file, and returns the message to show, if any.
    pub fn left_out(&self, path: &str, reason: &'static str) -> Option<String> {
        let advice = advice(reason);
        let left_out = || LeftOut { path: path.into(), reason: reason.into(), advice };
        let mut not_read = self.not_read.borrow_mut();
        if self.is_listed {
            not_read.left_out.push(left_out());
        }
        not_read.first.get_or_insert_with(left_out);
        drop(not_read);
        let path = if path == "-" { "standard input" } else { path };
        let said = format!("skipped: {}", with_advice(reason, advice));
        self.messages.counts(Kind::Note, &said).then(|| format!("cento: {path}: {said}"))
    }

    /// Notes a record that is not a document, or an unreadable file; returns the message to show,
    /// if any.
    pub fn failed(&self, error: &Error) -> Option<String> {
        if let (Error::Io { path, source, .. }, true) = (error, self.is_listed) {
            let (path, reason) = (path.display().to_string(), source.to_string().into());
            let unread = LeftOut { path, reason, advice: None };
            self.not_read.borrow_mut().unread_files.push(unread);
        }
        self.messages.counts_error(error).then(|| format!("cento: {}", ErrorWithHint(error)))
    }

    /// Notes a document without text; returns the message to show, if any.
    pub fn empty(&self, id: &str) -> Option<String> {
        const WHY: &str = "it has no words that count; no search will find it";
        self.messages.counts(Kind::Note, WHY).then(|| format!("cento: {id}: {WHY}"))
    }

    /// Reports the number of omissions that were not shown.
    pub fn finish(&self) {
        self.messages.finish();
    }

    pub fn into_lists(self) -> NotRead {
        self.not_read.into_inner()
    }
}

/// Reports on standard error how documents are added: a progress line on a terminal, and a line for
/// each bad record and each skipped file.
pub struct AddProgress {
    bar: ProgressBar,
    omissions: Option<Omissions>,
}

impl AddProgress {
    /// Starts the progress line of a run that reads with `source`, the result of [`metered`]. Lists
    /// skipped files if `is_listed`.
    pub fn new(is_listed: bool, source: &SourceOptions) -> AddProgress {
        let bar = spinner(target(), Work::reading(source));
        AddProgress { bar, omissions: Some(Omissions::new(is_listed)) }
    }

    /// Starts the progress line without reporting skipped files, for files that the user did not
    /// choose.
    pub fn quiet(source: &SourceOptions) -> AddProgress {
        AddProgress { bar: spinner(target(), Work::reading(source)), omissions: None }
    }

    /// Reports an event of the reader.
    pub fn tell(&self, event: Event<'_>) {
        let noted = match (&event, &self.omissions) {
            (Event::Skipped(place, why), Some(omissions)) => omissions.left_out(place, why),
            (Event::Empty(id), Some(omissions)) => omissions.empty(id),
            _ => None,
        };
        let failed = match (&event, &self.omissions) {
            (Event::Failed(error), Some(omissions)) => omissions.failed(error),
            (Event::Failed(error), None) => Some(format!("cento: {}", ErrorWithHint(error))),
            _ => None,
        };
        if let Some(noted) = noted {
            note!("{noted}");
        }
        if let Some(failed) = failed {
            let is_partly_read = matches!(event, Event::Failed(error) if lacks_part(error));
            tell!(
                "{failed}; {}",
                if is_partly_read { "the rest of it is added" } else { "not added" }
            );
        }
        match event {
            Event::Skipped(..)
            | Event::Empty(_)
            | Event::Replaced(_)
            | Event::Failed(_)
            | Event::Unseen(..) => {}
            Event::Progress(report) => {
                let documents = report.added + report.replaced + report.unchanged;
                if documents.is_multiple_of(64) {
                    self.bar.set_message(summary(report));
                }
            }
        }
    }

    /// Removes the progress line, and returns the lists of files that were not read.
    pub fn finish(self) -> NotRead {
        self.bar.finish_and_clear();
        let Some(omissions) = self.omissions else { return NotRead::default() };
        omissions.finish();
        omissions.into_lists()
    }
}

/// Returns the options of reading `inputs` with a meter of the bytes read, if a progress line
/// is shown and the sizes of the inputs are known.
pub fn metered(inputs: &[PathBuf], source: SourceOptions) -> SourceOptions {
    let read_meter = is_shown().then(|| ReadMeter::of(inputs, &source)).flatten();
    SourceOptions { read_meter, ..source }
}

/// Work without a number of steps, by how its size is known.
#[derive(Clone)]
enum Work {
    /// Reading files: the meter compares the bytes read with their sizes.
    Metered(Arc<ReadMeter>),
    /// Reading a stream of unknown size, such as standard input.
    Stream,
    /// Work other than reading, such as merging segments.
    Other,
}

impl Work {
    /// Reading with `source`, which [`metered`] returned.
    fn reading(source: &SourceOptions) -> Work {
        source.read_meter.clone().map_or(Work::Stream, Work::Metered)
    }

    /// Writes the finished share, the rate and the remaining time, as far as known.
    fn write(&self, elapsed: Duration, line: &mut dyn fmt::Write) -> fmt::Result {
        let meter = match self {
            Work::Metered(meter) => meter,
            Work::Stream => return write!(line, "input of unknown size: "),
            Work::Other => return Ok(()),
        };
        match meter.read() {
            // The last documents have been read but are still being processed.
            Some((read, of)) if read == of => write!(line, "100 % read: "),
            Some((read @ 1.., of)) => {
                let rate = output::rate(read, elapsed.as_secs_f64());
                let left = HumanDuration(elapsed.mul_f64((of - read) as f64 / read as f64));
                write!(line, "{:>3} %, {rate}, {left:#} left: ", 100 * read / of)
            }
            Some(_) | None => Ok(()),
        }
    }
}

/// Makes a progress line for work without a number of steps.
fn spinner(target: ProgressDrawTarget, work: Work) -> ProgressBar {
    let share = move |state: &ProgressState, line: &mut dyn fmt::Write| {
        let _ = work.write(state.elapsed(), line);
    };
    let style = ProgressStyle::with_template("{spinner} {elapsed} {share}{msg}");
    let style = style.map(|style| style.with_key("share", share));
    let bar = shown(ProgressBar::with_draw_target(None, target), style);
    bar.enable_steady_tick(Duration::from_millis(200));
    terminal::show_progress(&bar);
    bar
}

/// Returns where to show progress: on a terminal, unless the user turned progress off.
fn target() -> ProgressDrawTarget {
    match is_shown() {
        true => ProgressDrawTarget::stderr(),
        false => ProgressDrawTarget::hidden(),
    }
}

fn is_shown() -> bool {
    std::io::stderr().is_terminal() && !terminal::is_quiet()
}

/// Makes a progress line that disappears at the end of the run, even after an error.
fn shown(bar: ProgressBar, style: Result<ProgressStyle, TemplateError>) -> ProgressBar {
    let bar = bar.with_finish(ProgressFinish::AndClear);
    bar.set_style(style.expect("the template is well formed"));
    bar
}

/// Reports progress now and then.
pub struct Spinner {
    bar: ProgressBar,
    told: Cell<u64>,
}

impl Spinner {
    /// Starts the progress line.
    pub fn new() -> Spinner {
        Spinner { bar: spinner(target(), Work::Other), told: Cell::new(0) }
    }

    /// Starts the progress line of a run that reads with `source`, the result of [`metered`].
    pub fn reading(source: &SourceOptions) -> Spinner {
        Spinner { bar: spinner(target(), Work::reading(source)), told: Cell::new(0) }
    }

    /// Notes progress. Only every 256th call formats `message`, which describes the state.
    pub fn tell(&self, message: &dyn Fn() -> String) {
        self.told.set(self.told.get() + 1);
        if self.told.get().is_multiple_of(256) && !self.bar.is_hidden() {
            self.bar.set_message(message());
        }
    }

    /// Shows a message in place of the figures.
    pub fn show(&self, message: &str) {
        self.bar.set_message(message.to_owned());
    }

    /// Removes the progress line.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

/// A progress line for a known amount of work, on a terminal.
pub struct Progress {
    bar: ProgressBar,
}

impl Progress {
    /// Starts a progress line for `of` things of this name.
    pub fn new(of: u64, name: &str) -> Progress {
        let progress = Progress::on(target(), of, name);
        terminal::show_progress(&progress.bar);
        progress
    }

    fn on(target: ProgressDrawTarget, of: u64, name: &str) -> Progress {
        let template =
            format!("{{bar:30}} {{percent:>3}} %, {{human_pos}} of {{human_len}} {name}{{rest}}");
        let rest = |state: &ProgressState, line: &mut dyn fmt::Write| {
            // Nothing is known of the time before the first step.
            if state.pos() > 0 {
                let rate = output::count(state.per_sec().round() as u64);
                let left = HumanDuration(state.eta());
                let _ = write!(line, ", {rate}/s, {left:#} left");
            }
        };
        let style = ProgressStyle::with_template(&template);
        let style = style.map(|style| style.with_key("rest", rest));
        Progress { bar: shown(ProgressBar::with_draw_target(Some(of), target), style) }
    }

    /// Notes how many things are done.
    pub fn set(&self, done: u64) {
        self.bar.set_position(done);
    }

    /// Returns a function that sets the number of finished items from any thread.
    pub fn setter(&self) -> impl Fn(u64) + Send + Sync + 'static {
        let bar = self.bar.clone();
        move |done| bar.set_position(done)
    }

    /// Removes the progress line.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

/// Summarizes an addition of documents in a line.
pub fn summary(report: &AddReport) -> String {
    let AddReport { added, replaced, unchanged, skipped, failed, empty, bytes, .. } = report;
    let mut parts = vec![format!("{} added", output::count(*added))];
    for (number, what) in [
        (*replaced, "replaced"),
        (*unchanged, "unchanged"),
        (*skipped, "skipped"),
        (*failed, "failed"),
        (*empty, "empty"),
    ] {
        if number > 0 {
            parts.push(format!("{} {what}", output::count(number)));
        }
    }
    format!("{}; {} of text", parts.join(", "), output::bytes(*bytes))
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::{Arc, Mutex};

    use indicatif::TermLike;

    use super::*;

    /// A terminal of one line that records the lines shown.
    #[derive(Debug, Default, Clone)]
    struct Screen(Arc<Mutex<Vec<String>>>);

    impl Screen {
        fn lines(&self) -> Vec<String> {
            self.0.lock().unwrap().clone()
        }

        fn add(&self, text: &str) -> io::Result<()> {
            self.0.lock().unwrap().push(text.trim().to_owned());
            Ok(())
        }
    }

    impl TermLike for Screen {
        fn width(&self) -> u16 {
            100
        }

        fn move_cursor_up(&self, _: usize) -> io::Result<()> {
            Ok(())
        }

        fn move_cursor_down(&self, _: usize) -> io::Result<()> {
            Ok(())
        }

        fn move_cursor_right(&self, _: usize) -> io::Result<()> {
            Ok(())
        }

        fn move_cursor_left(&self, _: usize) -> io::Result<()> {
            Ok(())
        }

        fn write_line(&self, text: &str) -> io::Result<()> {
            self.add(text)
        }

        fn write_str(&self, text: &str) -> io::Result<()> {
            self.add(text)
        }

        fn clear_line(&self) -> io::Result<()> {
            self.add("cleared")
        }

        fn flush(&self) -> io::Result<()> {
            Ok(())
        }
    }

    fn started() -> (Screen, Progress) {
        let screen = Screen::default();
        let target = ProgressDrawTarget::term_like(Box::new(screen.clone()));
        let progress = Progress::on(target, 4_000, "documents");
        progress.set(1_000);
        progress.bar.force_draw();
        (screen, progress)
    }

    #[test]
    fn a_progress_line_shows_the_share_and_the_time_left() {
        let (screen, progress) = started();
        let lines = screen.lines();
        let shown = lines.iter().find(|line| line.contains("1,000")).expect("it is shown");
        assert!(shown.contains("25 %, 1,000 of 4,000 documents, "), "{lines:?}");
        assert!(shown.contains("/s, "), "{lines:?}");
        assert!(shown.ends_with(" left"), "{lines:?}");
        progress.finish();
    }

    #[test]
    fn the_progress_of_reading_shows_the_share_and_the_time_left() {
        let dir = tempfile::tempdir().unwrap();
        let inputs = [dir.path().join("a.jsonl"), dir.path().join("b.txt")];
        std::fs::write(&inputs[0], "{\"text\":\"some words of a line\"}\n".repeat(100_000))
            .unwrap();
        std::fs::write(&inputs[1], "other words").unwrap();
        let options = SourceOptions::default();
        let meter = ReadMeter::of(&inputs, &options);
        let source = SourceOptions { read_meter: meter.clone(), ..options };
        let screen = Screen::default();
        let target = ProgressDrawTarget::term_like(Box::new(screen.clone()));
        let bar = spinner(target, Work::reading(&source));
        let mut documents = cento_source::documents(&inputs, &source);
        assert!(documents.next().is_some());
        // Another thread adds up the sizes, so the total is not known immediately.
        let (read, of) = std::iter::from_fn(|| Some(meter.as_ref().unwrap().read()))
            .find_map(|known| {
                known.or_else(|| {
                    std::thread::yield_now();
                    None
                })
            })
            .unwrap();
        assert!(read < of / 2, "{read} of {of}");
        bar.set_message("1 added");
        bar.force_draw();
        let lines = screen.lines();
        let is_whole = |line: &&String| {
            let has = |part| line.contains(part);
            has(" %, ") && has("B/s, ") && has(" left: ") && line.ends_with("1 added")
        };
        assert!(lines.iter().any(|line| is_whole(&line)), "{lines:?}");
    }

    #[test]
    fn the_progress_of_a_stream_says_that_its_size_is_unknown() {
        let shown = |work: &Work| {
            let mut line = String::new();
            work.write(Duration::from_secs(1), &mut line).unwrap();
            line
        };
        let source = metered(&["-".into()], SourceOptions::default());
        assert_eq!(shown(&Work::reading(&source)), "input of unknown size: ");
        assert_eq!(shown(&Work::Other), "");
    }

    #[test]
    fn no_progress_line_stays_whatever_ends_the_run() {
        let is_cleared = |screen: &Screen| {
            let lines = screen.lines();
            let shown = lines.iter().rposition(|line| line.contains("documents"));
            let cleared = lines.iter().rposition(|line| line == "cleared");
            shown.is_some() && cleared > shown
        };
        let (screen, progress) = started();
        assert!(!is_cleared(&screen));
        progress.finish();
        assert!(is_cleared(&screen), "{:?}", screen.lines());
        // An error returns before the end.
        let (screen, progress) = started();
        drop(progress);
        assert!(is_cleared(&screen), "{:?}", screen.lines());
    }
}
