//! Hints for users of the command about errors.
//!
//! The library's errors describe the problem, and programs read them too. Advice with options and
//! verbs of the command is therefore added here, by the reason of the error.

use std::borrow::Cow;
use std::fmt;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::lock_holder;
use super::missing;
use super::output::counted;
use super::similar_id::{similar_ids, where_ids_are};
use cento::index::Index;
use cento::{ConflictKind, Corruption, Error, Reason};

/// An error with a hint, if known, on one line.
pub struct ErrorWithHint<'a>(pub &'a Error);

impl fmt::Display for ErrorWithHint<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let error = self.0;
        if let Some(said) = of_path(error).or_else(|| not_an_index(error)) {
            return f.write_str(&said);
        }
        write!(f, "{error}")?;
        if let Error::Locked { path } = error
            && let Some(holder) = lock_holder::described(path)
        {
            write!(f, "; {holder}")?;
        }
        if let Error::UnknownId { id } = error
            && let [Some(meant)] = &similar_ids(std::slice::from_ref(id))[..]
        {
            return write!(f, "; did you mean `{meant}`?");
        }
        match hint(error) {
            Some(hint) => write!(f, "; {hint}"),
            None => Ok(()),
        }
    }
}

/// Describes a path that cannot be read or written, if there is more to say than the system does.
fn of_path(error: &Error) -> Option<String> {
    match error {
        Error::Input { place, what, .. } => match (place.as_str(), what.as_str()) {
            ("-", cento_source::EMPTY) => {
                Some("standard input is empty; name a file, or `-` after a pipe".into())
            }
            (place, cento_source::NOT_THERE) => Some(missing::nothing_was_read(Path::new(place))),
            _ => None,
        },
        Error::Io { action, path, source } if source.kind() == ErrorKind::NotFound => match *action
        {
            "read" | "open" => Some(missing::does_not_exist(path)),
            "create" | "write" => missing::without_folder(path),
            _ => None,
        },
        _ => None,
    }
}

/// Describes the files at a path where an index is expected.
fn not_an_index(error: &Error) -> Option<String> {
    let Error::Index { path, reason, .. } = error else { return None };
    let name = path.display();
    if *reason == Reason::NoStore && Index::exists(path) {
        return Some(format!(
            "{name} is an index, not a store; `cento store push {name} URL` publishes the index"
        ));
    }
    if *reason == Reason::AlreadyExists && Index::exists(path) {
        return Some(format!(
            "{name} is an index already; `cento add {name} FILES` adds documents to it"
        ));
    }
    if *reason != Reason::NotFound {
        return None;
    }
    if path.symlink_metadata().is_err() {
        return Some(missing::no_index(path, &std::env::args_os().collect::<Vec<_>>()));
    }
    if path.is_file() {
        return Some(missing::file_for_index(path, &std::env::args_os().collect::<Vec<_>>()));
    }
    let entries: Vec<_> = path.read_dir().ok()?.flatten().map(|entry| entry.path()).collect();
    // A damaged index is no folder of documents.
    let is_of_index = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "sig");
    if entries.is_empty() || entries.iter().any(is_of_index) {
        return None;
    }
    let files = entries.iter().filter(|path| path.is_file()).count() as u64;
    let of_files =
        if files > 0 { format!(" of {}", counted(files, "file")) } else { String::new() };
    Some(format!(
        "{name} is a folder{of_files}, not an index; index it first with `cento add x.idx {name}`, \
         or compare its files with `cento pairs {name}`"
    ))
}

/// The hint for connections that fail because of a certificate.
pub const ON_CERTIFICATES: &str = "certificates are checked by the authorities of the system, or \
                                   those in the PEM file that SSL_CERT_FILE names";

/// Returns what to do about an error with an option or a verb, as a clause.
pub fn hint(error: &Error) -> Option<Cow<'static, str>> {
    let hint = match error {
        Error::Corrupt(found) => return Some(on_damage(found)),
        // Options of the command do not apply to a service.
        Error::Service { url, code, .. } if code == "no_such_route" => {
            let after = url.find("://").map_or(0, |at| at + 3);
            let end = url[after..].find('/').map_or(url.len(), |at| after + at);
            return (end < url.len()).then(|| {
                format!("--url takes the address without a path: {}", &url[..end]).into()
            });
        }
        Error::Service { .. } => return on_service(error.reason()).map(Cow::Borrowed),
        Error::Io { action, source, .. } if error.reason() == Reason::Io => {
            on_system(action, source.kind())?
        }
        error => match error.reason() {
            // The list of skipped documents already has the advice, so a hint would repeat it.
            Reason::Unsupported { feature: "office" | "pdf" } => return None,
            Reason::Unsupported { feature } => {
                let line = "cargo install --locked --path crates/cento-cli --features";
                return Some(format!("`{line} {feature}` builds a cento that has it").into());
            }
            Reason::UnknownId => return where_ids_are().map(Cow::Owned),
            Reason::OtherScheme => {
                let Error::Index { path, .. } = error else { return None };
                return Some(
                    format!(
                        "if {0} stores texts, `cento export {0} | cento add new.idx -` makes a \
                         copy with the --scheme and --analyzer that you give",
                        path.display()
                    )
                    .into(),
                );
            }
            reason => on_reason(reason)?,
        },
    };
    Some(hint.into())
}

/// Returns the hint for an action that the system refused.
fn on_system(action: &str, kind: ErrorKind) -> Option<&'static str> {
    Some(match (action, kind) {
        ("connect to", _) => "is `cento serve` running there?",
        ("ask", _) => "check the address, which --url gives",
        ("listen on", ErrorKind::AddrInUse) => {
            "another program listens there, perhaps another `cento serve`; --listen names another \
             port, and with :0 a free one is taken"
        }
        ("listen on", ErrorKind::PermissionDenied) => {
            "ports below 1024 are for administrators; --listen names another"
        }
        (_, ErrorKind::PermissionDenied) => {
            "you have no permission for that; `ls -l` shows the permissions"
        }
        ("read", ErrorKind::IsADirectory) => {
            "a file is expected here; `cento pairs` compares the files of folders"
        }
        _ => return None,
    })
}

fn on_reason(reason: Reason<'_>) -> Option<&'static str> {
    Some(match reason {
        Reason::NotFound => "`cento create` or `cento add` creates one",
        Reason::NotEmpty => {
            "the index comes first and the files after it, as in `cento add x.idx FILES`"
        }
        Reason::NoStore => {
            "`cento store push` puts one there; in other verbs the store comes before the directory"
        }
        Reason::NoManifest => "`cento store history` lists the manifests that there are",
        Reason::Locked => {
            "--wait 1m waits for another command; if a service runs on the index, use --url"
        }
        Reason::MemoryLimit => "raise --memory",
        Reason::DocumentTooLarge => "--memory sets it",
        Reason::RecordTooLong => {
            "--max-record-bytes sets the limit, of add and dedup up to an eighth of --memory"
        }
        Reason::MissingField { field: "id" } => "--id-field names the field",
        Reason::MissingField { .. } => "--text-field names the field",
        Reason::UnusableIds => {
            "name another with --id-field, or number the records with --id-field NONE"
        }
        Reason::UnusableMeta => {
            "name another with --meta-field, or read none with --meta-field NONE"
        }
        Reason::UnusableIgnoreFile => "or omit --ignore-files, which obeys it",
        Reason::WindowTooLarge { format: "xz" } => {
            "unpack it on the way: xz -dc FILE | cento add INDEX -; or give more --memory, of \
             which half may be used so"
        }
        Reason::WindowTooLarge { .. } => {
            "unpack it on the way: zstd -dc --long=31 FILE | cento add INDEX -; or give more \
             --memory, of which half may be used so"
        }
        Reason::IdTaken => "--replace does",
        Reason::SharedId => "--on-conflict later does",
        Reason::UnpushedChanges => "--force overwrites them",
        Reason::NeedsFrequencyTable => "`cento method train` makes one, and --frequencies names it",
        Reason::OtherFrequencyTable => {
            "`cento method train` makes one: --run-length sets that of the runs, 1 for single \
             tokens"
        }
        Reason::NotAFrequencyTable => "`cento method train` makes one",
        Reason::NeedsKey => "--key-file names the file with the key",
        Reason::Certificate => ON_CERTIFICATES,
        Reason::Damaged => "run `cento check` on the index",
        Reason::Conflict(ConflictKind::Outrun) => {
            "pull it into another directory, and add or merge the new documents there"
        }
        Reason::Conflict(ConflictKind::OtherIndex) => {
            "push to another URL, or pull that index into another directory, and add or merge the \
             new documents there"
        }
        Reason::Conflict(ConflictKind::UnreadableManifest) => {
            "push the index that it was made of, or make an older manifest current with `cento \
             store restore`, pull it into another directory, and add or merge the new documents \
             there"
        }
        _ => return None,
    })
}

/// Returns the hint about an answer of a service.
fn on_service(reason: Reason<'_>) -> Option<&'static str> {
    match reason {
        Reason::IdTaken => Some("--replace does"),
        Reason::SharedId => Some("--on-conflict later does"),
        _ => None,
    }
}

/// Returns the hint about a damaged file, of an index or in a store. An index is the directory of
/// its file.
fn on_damage(found: &Corruption) -> Cow<'static, str> {
    let dir = Path::new(&found.file).parent().filter(|dir| !dir.as_os_str().is_empty());
    let dir = dir.map(Path::display);
    match (found.section, dir) {
        ("object", _) => {
            "pull an older manifest, which `cento store history` lists, or push the index to \
             another URL"
        }
        ("manifest", _) => {
            "`cento store history` lists the others, `cento store pull --manifest` fetches one, \
             and `cento store restore` makes one current; a push of the index that was pushed last \
             puts a new one"
        }
        ("list of segments", Some(dir)) => {
            return format!(
                "if a pull was cut off, repeat it; otherwise `cento recover {dir}` lists the \
                 segments that are whole, and with --to NEW makes an index of them"
            )
            .into();
        }
        ("list of segments", None) => {
            "if a pull was cut off, repeat it; otherwise `cento recover` makes an index of the \
             segments that are whole"
        }
        (_, Some(dir)) => {
            return format!("`cento check {dir}` lists all damage, and what to do about it").into();
        }
        (_, None) => "run `cento check` on the index",
    }
    .into()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;
    use std::sync::Arc;

    use cento::index::Index;
    use cento::index::{Config, Training};
    use cento::scheme::frequency::FrequencyTable;
    use cento::{Measure, Stop};
    use cento_source::{AddOptions, Event, ReadError, SourceOptions};

    use super::*;

    #[track_caller]
    fn check(error: Error, expected: &str) {
        let shown = ErrorWithHint(&error).to_string();
        assert!(!error.to_string().contains(expected), "the library says it: {error}");
        assert!(shown.contains(expected), "{shown}");
    }

    /// Returns the first failure to read the files at `path`.
    fn failure(path: &Path, record_bytes_max: usize) -> Error {
        let obeys_ignore_files = true;
        let options =
            SourceOptions { record_bytes_max, obeys_ignore_files, ..SourceOptions::default() };
        let failed =
            cento_source::read(&[path.to_owned()], &options).find_map(|chunk| match chunk {
                Err(ReadError::Refused(error) | ReadError::Unread(error)) => Some(error),
                Ok(_) | Err(ReadError::LeftOut { .. }) => None,
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
        check(Config::new("fbw(q=4)", "chars", true).unwrap_err(), "cento method train");
        check(FrequencyTable::new("t", b"text".to_vec()).unwrap_err(), "cento method train");
    }

    #[test]
    fn the_refusal_of_a_store_has_a_hint() {
        use cento::index::{Document, WriterOptions};
        use cento_remote::{PullOptions, PushOptions, Remote, Watch};
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        let watch = Watch { progress: &|_| {}, stop: Stop::NEVER };
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
        check(pull("third").unwrap_err(), "cento store history");
    }

    #[test]
    fn an_address_with_a_path_is_corrected() {
        let asked = |url: &str| Error::Service {
            url: url.into(),
            code: "no_such_route".into(),
            detail: None,
            message: "no such route".into(),
        };
        check(asked("http://127.0.0.1:7227/v1"), "without a path: http://127.0.0.1:7227");
        assert_eq!(hint(&asked("http://127.0.0.1:7227")), None);
    }

    #[test]
    fn an_index_that_is_there_needs_no_other() {
        let dir = tempfile::tempdir().unwrap();
        let config = || Config::new("winnow", "words", true).unwrap();
        Index::create(dir.path().join("idx"), config()).unwrap();
        let error = Index::create(dir.path().join("idx"), config()).err().unwrap();
        assert_eq!(error.reason(), Reason::AlreadyExists);
        assert_eq!(hint(&error), None, "{error}");
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
        let stop = Stop::new();
        cento_source::add(&index.unwrap(), &[file], &options, &stop, &mut |event| {
            if let Event::Failed(error) = event {
                shown.push(ErrorWithHint(error).to_string());
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
        check(error, "cento method train");
    }
}
