//! What can the user of the command do about an error?
//!
//! The library's errors say what is wrong, for programs as well; options and verbs of the command
//! are named here.

use std::fmt;

use cento::Error;
use cento::index::Index;

/// An error with the advice for it, if there is any, as one line.
pub struct Explained<'a>(pub &'a Error);

impl fmt::Display for Explained<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)?;
        match advice(self.0) {
            Some(advice) => write!(f, "; {advice}"),
            None => Ok(()),
        }
    }
}

/// Words of the error of a record, or a whole file, that is too long.
const RECORD_LIMIT: &str = "limit for a record";
const RECORD_ADVICE: &str =
    "--max-record-bytes sets the limit, of add and dedup up to an eighth of --memory";

/// Returns what to do about an error with an option or a verb, as a clause.
///
/// Errors of one kind are distinguished by words of their messages; the tests provoke each of them.
pub fn advice(error: &Error) -> Option<&'static str> {
    match error {
        Error::Corrupt(found) if found.section == "object" => Some(
            "pull an older manifest, which `cento history` lists, or push the index to another URL",
        ),
        Error::Corrupt(found) if found.section == "manifest" => Some(
            "`cento history` lists the others, `cento pull --manifest` fetches one, and `cento restore` makes one \
             current; a push of the index that was pushed last puts a new one",
        ),
        Error::Conflict { what } if what.contains("what it held would be lost") => Some(
            "push the index that it was made of, or make an older manifest current with `cento restore`, \
             pull it into another directory and add or merge there what is new",
        ),
        Error::Corrupt(_) => Some("run `cento check` on the index"),
        Error::Locked { .. } => Some("if a service runs on the index, use --url"),
        Error::Memory { is_for_now: false, .. } => Some("raise --memory"),
        Error::Index { path, what } if what.contains("no index") && !Index::exists(path) => {
            Some("`cento create` or `cento add` creates one")
        }
        Error::Index { what, .. } if what.contains("let the later one win") => {
            Some("--on-conflict later does")
        }
        Error::Index { what, .. } if what.contains("changes that were not pushed") => {
            Some("--force overwrites them")
        }
        Error::Conflict { what } if what.contains("since this index was pulled") => {
            Some("pull it into another directory and add or merge there what is new")
        }
        Error::Conflict { what } if what.contains("was not made from") => Some(
            "push to another URL, or pull that index into another directory and add or merge there what is new",
        ),
        Error::Spec { what, .. } if what.contains("frequency table of single") => {
            Some("`cento train -q 1` makes one")
        }
        Error::Spec { what, .. } if what.contains("needs a frequency table") => {
            Some("`cento train` makes one, and --frequencies names it")
        }
        Error::Input { what, .. } if what.contains("not a frequency table") => {
            Some("`cento train` makes one")
        }
        Error::Input { what, .. } if what.contains(RECORD_LIMIT) => Some(RECORD_ADVICE),
        Error::Io { source, .. } if source.to_string().contains(RECORD_LIMIT) => {
            Some(RECORD_ADVICE)
        }
        Error::Input { what, .. } if what.contains("ask for the replacement") => {
            Some("--replace does")
        }
        Error::Input { what, .. } if what.contains("times the memory") => Some("--memory sets it"),
        Error::Io { source, .. } if source.to_string().contains("rules for ignored files") => {
            Some("or omit --ignore-files, which obeys it")
        }
        Error::Io { source, .. } => {
            let what = source.to_string();
            on_ids(&what).or_else(|| on_windows(&what)).or_else(|| on_certificates(&what))
        }
        _ => None,
    }
}

/// Returns what to do about a column of which no ids can be made.
fn on_ids(failure: &str) -> Option<&'static str> {
    failure
        .contains("only single values can be ids")
        .then_some("name another column with --id-field, or number the rows with --id-field NONE")
}

/// Returns what to do with a compressed file whose reader would need too much memory.
fn on_windows(failure: &str) -> Option<&'static str> {
    if !failure.contains("refers back to more than") {
        return None;
    }
    Some(match failure.starts_with("the xz") {
        true => {
            "unpack it on the way: xz -dc FILE | cento add INDEX -; or give more --memory, of which \
             half may be used so"
        }
        false => {
            "unpack it on the way: zstd -dc --long=31 FILE | cento add INDEX -; or give more \
             --memory, of which half may be used so"
        }
    })
}

/// Returns what to do if a connection failed because of a certificate.
pub fn on_certificates(failure: &str) -> Option<&'static str> {
    let is_one = ["peer certificate", "CA certificates"].iter().any(|part| failure.contains(part));
    is_one.then_some(
        "certificates are checked by the authorities of the system, or those in the PEM file that \
         SSL_CERT_FILE names",
    )
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::ops::ControlFlow;
    use std::path::Path;
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;

    use cento::Corruption;
    use cento::Measure;
    use cento::index::{Config, Training};
    use cento::scheme::frequency::FrequencyTable;
    use cento_source::{AddOptions, Event, Item, SourceOptions};

    use super::*;

    #[track_caller]
    fn check(error: Error, expected: &str) {
        let shown = Explained(&error).to_string();
        assert!(!error.to_string().contains(expected), "the library says it: {error}");
        assert!(shown.contains(expected), "{shown}");
    }

    /// Returns the first failure to read what is at `path`.
    fn failure(path: &Path, record_bytes_max: usize) -> Error {
        let obeys_ignore_files = true;
        let options =
            SourceOptions { record_bytes_max, obeys_ignore_files, ..SourceOptions::default() };
        let mut failed = None;
        cento_source::read(&[path.to_owned()], &options, &mut |item| {
            if let Item::Failed(error) = item {
                failed = Some(error);
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        });
        failed.expect("it cannot be read")
    }

    #[test]
    fn an_error_names_the_option_that_helps() {
        let path = || Path::new("idx").to_owned();
        check(Corruption::new("a.sig", "terms", 0, "cut short").into(), "cento check");
        check(Error::Locked { path: path() }, "--url");
        check(Error::memory("a text", 2 << 20, 1 << 20), "--memory");
        let dir = tempfile::tempdir().unwrap();
        check(Index::open(dir.path().join("none")).err().unwrap(), "cento create");
        check(Config::new("fbw(q=4)", "chars", true).unwrap_err(), "cento train");
        check(FrequencyTable::new("t", b"text".to_vec()).unwrap_err(), "cento train");
    }

    #[cfg(feature = "remote")]
    #[test]
    fn what_a_store_refuses_names_a_way_out() {
        use cento::index::{Document, WriterOptions};
        use cento_remote::{PullOptions, PushOptions, Remote, Watch};
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        let watch = Watch { progress: &|_| {}, stop: &AtomicBool::new(false) };
        let change = |name: &str, id: &str| {
            let index = Index::open(path(name)).unwrap();
            let mut writer = index.writer(WriterOptions::default()).unwrap();
            writer.add(Document::new(id, "a text of a few words")).unwrap();
            writer.finish().unwrap();
            index
        };
        let create = |name: &str| {
            Index::create(path(name), Config::new("winnow", "words", true).unwrap()).unwrap();
            change(name, "first")
        };
        let remote = Remote::open(path("store").to_str().unwrap(), []).unwrap();
        let push = |index: &Index| remote.push(index, &PushOptions::default(), watch);
        let pull = |name: &str| remote.pull(&path(name), &PullOptions::default(), watch);
        push(&create("one")).unwrap();
        check(push(&create("other")).unwrap_err(), "push to another URL");
        pull("copy").unwrap();
        let copy = change("copy", "second");
        check(pull("copy").unwrap_err(), "--force");
        push(&copy).unwrap();
        check(push(&change("one", "third")).unwrap_err(), "pull it into another directory");
        for entry in fs::read_dir(path("store").join("data")).unwrap() {
            fs::write(entry.unwrap().path(), "x").unwrap();
        }
        check(pull("third").unwrap_err(), "cento history");
    }

    #[test]
    fn an_index_that_is_there_needs_no_other() {
        let dir = tempfile::tempdir().unwrap();
        let config = || Config::new("winnow", "words", true).unwrap();
        Index::create(dir.path().join("idx"), config()).unwrap();
        let error = Index::create(dir.path().join("idx"), config()).err().unwrap();
        assert_eq!(advice(&error), None, "{error}");
    }

    #[test]
    fn an_input_that_is_too_large_names_the_option() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("a.txt");
        fs::write(&file, ".".repeat(3 << 20)).unwrap();
        check(failure(&file, 100), "--max-record-bytes");
        let lines = dir.path().join("a.jsonl");
        fs::write(&lines, "{\"text\": \"a line of some length\"}").unwrap();
        check(failure(&lines, 10), "--max-record-bytes");
        let index =
            Index::create(dir.path().join("idx"), Config::new("kgram", "words", true).unwrap());
        let options = AddOptions { memory_bytes: 1 << 20, ..AddOptions::default() };
        let mut shown = Vec::new();
        let stop = AtomicBool::new(false);
        cento_source::add(&index.unwrap(), &[file], &options, &stop, &mut |event| {
            if let Event::Failed(error) = event {
                shown.push(Explained(error).to_string());
            }
        })
        .unwrap();
        assert!(shown.len() == 1 && shown[0].contains("--memory"), "{shown:?}");
        fs::write(dir.path().join(".gitignore"), "{".repeat(1000)).unwrap();
        check(failure(dir.path(), 1 << 20), "omit --ignore-files");
    }

    #[test]
    fn a_table_of_longer_runs_names_the_option_of_shorter_ones() {
        let dir = tempfile::tempdir().unwrap();
        let (file, out) = (dir.path().join("a.txt"), dir.path().join("table"));
        fs::write(&file, "one two three four").unwrap();
        let analyzer = Config::new("winnow", "words", true).unwrap().analyzer;
        let training = Training { analyzer: "words".parse().unwrap(), q: 2, spex: false };
        let options = SourceOptions::default();
        let table = cento_source::train(&[file], &options, &training, &out, &mut |_| {}).unwrap();
        let measures = ["cosine".to_owned()];
        let error = Measure::parse_all(&measures, Some(&Arc::new(table)), &analyzer).unwrap_err();
        check(error, "cento train -q 1");
    }
}
