//! Judges the state after a crash or a fault: the index is sound, no acknowledged change is
//! missing, and repeating the run completes the work.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use cento::Stop;
use cento::index::Index;
use cento_collections::watch::WatchReader;
use cento_testing::raw::files_with;

use super::scenario::{Contents, INDEX, ONE, Scenario, event, watch, withdrawal};

/// A result whose error describes the fault.
pub type Judged<T = ()> = Result<T, String>;

/// The maximum duration of a run in seconds. A longer run counts as hanging.
const SECONDS_MAX: &str = "120";

/// The program under test.
pub struct Program {
    pub path: PathBuf,
}

pub struct Ended {
    /// The exit status, or `None` after a signal or a timeout.
    pub code: Option<i32>,
    /// Whether the run ended before the timeout.
    pub by_itself: bool,
    pub stderr: String,
}

impl Program {
    /// Runs cento in the directory `dir`, under strace if `strace` has options.
    pub fn run(&self, dir: &Path, strace: &[&str], args: &[&str]) -> Judged<Ended> {
        let mut command = Command::new("timeout");
        command.args(["-k", "1", SECONDS_MAX]);
        if !strace.is_empty() {
            command.args(["strace", "-f", "-qq"]).args(strace);
        }
        command.arg(&self.path).args(args).current_dir(dir);
        command.stdin(Stdio::null()).stdout(Stdio::null());
        let output = command.output().map_err(|e| format!("cannot run cento: {e}"))?;
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        // `timeout` exits with this status after the time is over.
        let by_itself = output.status.code() != Some(124);
        Ok(Ended { code: output.status.code().filter(|_| by_itself), by_itself, stderr })
    }

    pub fn must(&self, dir: &Path, strace: &[&str], args: &[&str]) -> Judged {
        let ended = self.run(dir, strace, args)?;
        if !ended.by_itself {
            return Err(without_end(args));
        }
        // Status 1 is accepted because removing an already removed document finds nothing.
        let is_well = match ended.code {
            Some(0) => true,
            Some(1) => args.first() == Some(&"remove"),
            _ => false,
        };
        let stderr = ended.stderr.trim();
        match is_well && !stderr.contains("panicked") {
            true => Ok(()),
            false => {
                Err(format!("`cento {}` ended with {:?}: {stderr}", args.join(" "), ended.code))
            }
        }
    }
}

pub fn without_end(args: &[&str]) -> String {
    format!("`cento {}` does not end", args.join(" "))
}

/// Returns the documents, withdrawals, watches and events of an index, and the number of segments.
/// Returns `None` without an index.
///
/// # Errors
/// When the index is damaged.
pub fn look(dir: &Path) -> Judged<Option<(Contents, usize)>> {
    let path = dir.join(INDEX);
    if !Index::exists(&path) {
        return Ok(None);
    }
    let read = || -> cento::Result<(Contents, usize, Vec<String>)> {
        let index = Index::open(&path)?;
        let problems = index.check()?.problems.iter().map(ToString::to_string).collect();
        let snapshot = index.snapshot()?;
        let mut contents = Contents::new();
        for address in snapshot.live() {
            let stored = snapshot.document(address)?;
            contents.insert(stored.id, stored.text.unwrap_or_default());
        }
        let withdrawals = index.withdrawals()?;
        contents.extend(withdrawals.iter().map(|one| withdrawal(&one.id)));
        let watches = path.join(".watches/index");
        if Index::exists(&watches) {
            let snapshot = Index::open(&watches)?.snapshot()?;
            for address in snapshot.live() {
                contents.extend([watch(&snapshot.id(address)?)]);
            }
        }
        let found = WatchReader::open_events(&index)?.read(0, None, usize::MAX, Stop::NEVER)?;
        if !found.events.is_sorted_by(|one, next| one.cursor < next.cursor) {
            let place = path.display().to_string();
            return Err(cento::Error::internal(place, "the cursors of events do not ascend"));
        }
        let events = (1..).zip(&found.events);
        contents.extend(events.map(|(n, found)| event(n, &found.watch, &found.hit.id)));
        Ok((contents, snapshot.segments().len(), problems))
    };
    let (contents, segments, problems) = read().map_err(|e| format!("cannot be read: {e}"))?;
    match problems.is_empty() {
        true => Ok(Some((contents, segments))),
        false => Err(format!("check finds: {}", problems.join("; "))),
    }
}

/// Judges disturbed runs by comparison with an undisturbed run.
pub struct Judge<'a> {
    pub program: &'a Program,
    pub scenario: &'a Scenario,
    /// The files that the undisturbed run wrote beside the index.
    pub outputs: BTreeMap<&'static str, Vec<u8>>,
}

impl<'a> Judge<'a> {
    /// Reads the outputs of the undisturbed run in the directory `done`.
    ///
    /// # Errors
    /// When an output is missing or empty.
    pub fn new(program: &'a Program, scenario: &'a Scenario, done: &Path) -> Judged<Judge<'a>> {
        let mut outputs = BTreeMap::new();
        for &name in &scenario.outputs {
            let bytes = std::fs::read(done.join(name)).map_err(|e| format!("{name}: {e}"))?;
            if bytes.is_empty() {
                return Err(format!("{name} is empty: nothing is shown by it"));
            }
            outputs.insert(name, bytes);
        }
        Ok(Judge { program, scenario, outputs })
    }

    /// Returns the last position in `allowed` that equals the contents of the index in `dir`.
    ///
    /// # Errors
    /// When the index is damaged or has contents that are not allowed.
    pub fn place(&self, dir: &Path, allowed: &[Option<Contents>]) -> Judged<usize> {
        let found = look(dir)?.map(|(contents, _)| contents);
        if let Some(place) = allowed.iter().rposition(|allowed| *allowed == found) {
            return Ok(place);
        }
        let count = |contents: &Option<Contents>| match contents {
            Some(contents) => format!("{} documents", contents.len()),
            None => "no index".to_owned(),
        };
        let allowed = allowed.iter().map(count).collect::<Vec<_>>().join(" or ");
        Err(format!("lost or mixed: there should be {allowed}, and there is {}", count(&found)))
    }

    /// Checks that the files which the run writes beside the index are complete.
    ///
    /// # Errors
    /// When a file is missing or differs.
    pub fn outputs_are_whole(&self, dir: &Path) -> Judged {
        for (name, expected) in &self.outputs {
            match std::fs::read(dir.join(name)) {
                Ok(found) if found == *expected => {}
                Ok(found) => {
                    let (found, expected) = (found.len(), expected.len());
                    return Err(format!("{name} differs: {found} bytes, should be {expected}"));
                }
                Err(error) => return Err(format!("{name}: {error}")),
            }
        }
        Ok(())
    }

    /// Checks what a run that ended well promises beside the contents of the index, before anything
    /// else is done. After a kill there is no sync that a power cut may have prevented.
    ///
    /// # Errors
    /// When a file or an object is missing or differs.
    pub fn keeps_what_it_told(&self, dir: &Path, is_killed: bool) -> Judged {
        self.outputs_are_whole(dir)?;
        for command in &self.scenario.shown_by {
            self.program.must(dir, &[], command).map_err(|what| format!("at once {what}"))?;
            self.place(dir, &[Some(self.scenario.end.clone())])?;
        }
        if is_killed { self.has_no_withdrawn_text(dir) } else { Ok(()) }
    }

    /// Returns whether the withdrawal of the run is acknowledged if nothing else is allowed.
    pub fn is_withdrawn(&self, allowed: &[Option<Contents>]) -> bool {
        let end = Some(&self.scenario.end);
        self.scenario.withdrawn.is_some() && allowed.iter().all(|one| one.as_ref() == end)
    }

    /// Lets a second writer work after a withdrawal, and checks that the text is in no file. A
    /// power cut may have brought back files whose removal was not durable. A withdrawal that was
    /// interrupted after its commit has not reported that the text is gone, so the withdrawal is
    /// repeated.
    ///
    /// # Errors
    /// When the text is there.
    pub fn forget(&self, dir: &Path, writer: u64, has_ended: bool) -> Judged {
        let writers = [&["add", INDEX, ONE][..], &["remove", INDEX, "base1"], &["compact", INDEX]];
        let writer = writers[(writer % 3) as usize];
        self.program.must(dir, &[], writer)?;
        if !has_ended {
            self.program.must(dir, &[], &self.scenario.run)?;
        }
        self.has_no_withdrawn_text(dir).map_err(|what| format!("after `{}` {what}", writer[0]))
    }

    /// Checks that no byte of the directory of the index is of the withdrawn text.
    ///
    /// # Errors
    /// When the text is there.
    fn has_no_withdrawn_text(&self, dir: &Path) -> Judged {
        let Some(text) = &self.scenario.withdrawn else { return Ok(()) };
        let words: Vec<&str> = text.split(' ').collect();
        let with = files_with(&dir.join(INDEX), &words[3..7].join(" "));
        match with.first() {
            Some(file) => Err(format!("the withdrawn text is in {}", file.display())),
            None => Ok(()),
        }
    }

    /// Repeats the run and checks that the result equals an undisturbed run.
    ///
    /// # Errors
    /// When the result differs.
    pub fn repeat(&self, dir: &Path) -> Judged {
        let holds_index = Index::exists(dir.join(INDEX));
        if holds_index {
            let checked = self.program.run(dir, &[], &["check", INDEX, "--format", "json"])?;
            // Status 3 reports files that belong to no commit. Repeating the run removes the files.
            if !matches!(checked.code, Some(0 | 3)) {
                return Err(format!(
                    "`cento check` ended with {:?}: {}",
                    checked.code, checked.stderr
                ));
            }
        }
        for command in self.scenario.repeat(dir, holds_index) {
            self.program.must(dir, &[], &command).map_err(|what| format!("repeated: {what}"))?;
        }
        self.is_done(dir).map_err(|what| format!("after it was repeated: {what}"))
    }

    /// Checks that the state equals the state after an undisturbed run.
    ///
    /// # Errors
    /// When the state differs.
    pub fn is_done(&self, dir: &Path) -> Judged {
        self.place(dir, &[Some(self.scenario.end.clone())])?;
        self.program.must(dir, &[], &["check", INDEX, "--format", "json"])?;
        self.outputs_are_whole(dir)?;
        self.has_no_withdrawn_text(dir)?;
        let left = [".index.cento.retrain", "out.jsonl.checkpoint"];
        match left.iter().find(|name| dir.join(name).exists()) {
            Some(name) => Err(format!("{name} is left over")),
            None => Ok(()),
        }
    }
}
