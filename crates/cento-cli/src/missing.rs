//! Suggests a path in place of a path that does not exist.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use cento::index::Index;
use cento_api::suggest::nearest;

/// Says that a path does not exist, and suggests a similar path. Names the option with the path.
pub fn does_not_exist(path: &Path) -> String {
    let given: Vec<OsString> = std::env::args_os().collect();
    let name = match option_before(path, &given) {
        Some(option) => format!("{}, which {option} names,", path.display()),
        None => path.display().to_string(),
    };
    let folder = folder_of(path);
    if let Some(meant) = similar(path) {
        return format!("{name} does not exist; did you mean {}?", meant.display());
    }
    let is_text = |given: &OsString| given == path && given.as_encoded_bytes().contains(&b' ');
    if given.iter().any(is_text) && verb_of(&given).is_some_and(|verb| TAKE_TEXT.contains(&verb)) {
        return format!("{name} does not exist; to search for these words, give them with --text");
    }
    match folder.is_dir() {
        true => format!("{name} does not exist"),
        false => format!("{name} does not exist, because there is no folder {}", folder.display()),
    }
}

/// Says that a path does not exist, for verbs that then refuse all inputs.
pub fn nothing_was_read(path: &Path) -> String {
    let said = does_not_exist(path);
    match similar(path) {
        Some(_) => format!("{said} Nothing was read"),
        None => format!("{said}; nothing was read"),
    }
}

/// Explains that a file cannot be written because the folder does not exist.
pub fn without_folder(path: &Path) -> Option<String> {
    let folder = folder_of(path);
    (!folder.exists()).then(|| {
        let (name, folder) = (path.display(), folder.display());
        format!("cannot write {name}, because there is no folder {folder}; create the folder first")
    })
}

/// Describes a missing path in the place of an index. `given` is the command line.
pub fn no_index(path: &Path, given: &[OsString]) -> String {
    let name = path.display();
    if let Some(index) = index_after(path, given) {
        let index = index.display();
        return format!("{name} is not an index, but {index} is; the index comes first");
    }
    if path.to_string_lossy().contains("://") {
        return format!(
            "{name} is not an index on this machine; `cento store pull {name} x.idx` copies an \
             index from a store, and --url takes the address of a service"
        );
    }
    if let Some(meant) = similar(path) {
        return format!("{name} does not exist; did you mean {}?", meant.display());
    }
    let verb = verb_of(given);
    if let Some(option) = option_before(path, given)
        && verb.is_some_and(|verb| TAKE_FILES_OR_INDEX.contains(&verb))
    {
        return format!(
            "{name} does not exist; {option} takes a folder, a file, an archive or an index"
        );
    }
    format!(
        "{name} does not exist; `cento add {name} FILES` makes an index of files, and `cento \
         create {name}` makes an empty one"
    )
}

/// Verbs with the option --text.
const TAKE_TEXT: [&str; 2] = ["search", "trace"];

/// Verbs with an option --against that takes files or an index.
const TAKE_FILES_OR_INDEX: [&str; 2] = ["demo", "pairs"];

/// Verbs with files after the index.
const TAKE_FILES: [&str; 3] = ["add", "search", "trace"];

/// Returns the first word after the program.
fn verb_of(given: &[OsString]) -> Option<&str> {
    given.get(1)?.to_str().filter(|verb| !verb.starts_with('-'))
}

/// Describes a file in the place of an index. `given` is the command line.
pub fn file_for_index(path: &Path, given: &[OsString]) -> String {
    let name = path.display();
    if let Some(option) = option_before(path, given) {
        return format!(
            "{name} is a file, not an index, which {option} takes; `cento add x.idx {name}` makes \
             one"
        );
    }
    match (index_after(path, given), verb_of(given)) {
        (Some(index), Some(verb)) => {
            let index = index.display();
            format!(
                "{name} is a file, not an index; the index comes first: `cento {verb} {index} \
                 {name}`"
            )
        }
        (None, Some("add")) => format!(
            "{name} is a file, not an index; the index comes first, as in `cento add x.idx {name}`"
        ),
        (None, Some(verb)) if TAKE_FILES.contains(&verb) => format!(
            "{name} is a file, not an index; the index comes first, as in `cento {verb} x.idx \
             {name}`, and `cento add x.idx FILES` makes one"
        ),
        _ => {
            format!("{name} is a file, not an index; `cento add x.idx {name}` makes an index of it")
        }
    }
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Returns an existing path that differs by a typing error in the name or the folder.
fn similar(path: &Path) -> Option<PathBuf> {
    let folder = folder_of(path);
    let name = path.file_name()?;
    if !folder.is_dir() {
        let meant = similar(folder)?.join(name);
        return if meant.exists() { Some(meant) } else { similar(&meant) };
    }
    let entries = folder.read_dir().ok()?.flatten();
    let mut names: Vec<String> =
        entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    // The order of directory entries differs by system, and sorting makes suggestions equal.
    names.sort_unstable();
    let meant = nearest(name.to_str()?, names.iter().map(String::as_str))?;
    Some(path.with_file_name(meant))
}

/// Returns an index that follows the path on the command line, as if the user had swapped the two.
fn index_after(path: &Path, given: &[OsString]) -> Option<PathBuf> {
    // The program may have the name of the path, but is not an argument.
    let given = given.get(1..)?;
    let at = given.iter().position(|given| Path::new(given) == path)?;
    // The value of an option is in no order with the arguments.
    if at > 0 && given[at - 1].to_string_lossy().starts_with('-') {
        return None;
    }
    given[at + 1..].iter().map(PathBuf::from).find(|path| Index::exists(path))
}

/// Returns the option of the verb whose value is this path.
fn option_before(path: &Path, given: &[OsString]) -> Option<String> {
    let command = crate::command();
    let mut verb = &command;
    for name in given.iter().skip(1).map_while(|given| given.to_str()) {
        let Some(found) = verb.find_subcommand(name) else { break };
        verb = found;
    }
    let takes = |option: &str| {
        let is_named = |arg: &clap::Arg| match option.strip_prefix("--") {
            Some(long) => arg.get_long() == Some(long),
            None => arg.get_short().is_some_and(|short| option == format!("-{short}")),
        };
        verb.get_arguments().any(|arg| is_named(arg) && arg.get_action().takes_values())
    };
    let mut before = "";
    for argument in given.iter().skip(1).map_while(|given| given.to_str()) {
        let (option, value) = argument.split_once('=').unwrap_or((before, argument));
        if Path::new(value) == path && takes(option) {
            return Some(option.to_owned());
        }
        before = argument;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use cento::index::Config;

    #[test]
    fn a_path_is_told_with_its_option() {
        // Regression: advice about the order of arguments, or about indexes alone.
        let given = |line: &str| line.split(' ').map(OsString::from).collect::<Vec<_>>();
        let option = |line: &str| option_before(Path::new("old"), &given(line));
        assert_eq!(option("cento pairs class --against old").as_deref(), Some("--against"));
        assert_eq!(option("cento pairs class --against=old").as_deref(), Some("--against"));
        assert_eq!(option("cento pairs class -b old").as_deref(), Some("-b"));
        assert_eq!(option("cento serve x.idx --config old").as_deref(), Some("--config"));
        assert_eq!(option("cento search x.idx --passages old"), None);
        assert_eq!(option("cento add old a.txt"), None);
        let said = |line: &str| file_for_index(Path::new("old"), &given(line));
        assert!(said("cento add old a.txt").ends_with("as in `cento add x.idx old`"));
        assert!(said("cento trace old a.txt").contains("as in `cento trace x.idx old`"));
        let said = ["cento stats old", "cento dedup a.jsonl --against old"].map(said);
        assert!(said.iter().all(|said| !said.contains("comes first")), "{said:?}");
    }

    #[test]
    fn a_slip_in_a_name_or_in_a_folder_is_corrected() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        std::fs::create_dir(path("class")).unwrap();
        std::fs::write(path("class/anna.txt"), "a text").unwrap();
        let meant = |name: &str| similar(&path(name));
        assert_eq!(meant("class/ana.txt"), Some(path("class/anna.txt")));
        assert_eq!(meant("clas/anna.txt"), Some(path("class/anna.txt")));
        assert_eq!(meant("clas/ana.txt"), Some(path("class/anna.txt")));
        assert_eq!(meant("zebra"), None);
        let said = does_not_exist(&path("zebra/x.txt"));
        assert!(said.contains("because there is no folder"), "{said}");
        assert!(without_folder(&path("x.txt")).is_none());
        assert!(without_folder(&path("zebra/x.txt")).is_some());
    }

    #[test]
    fn an_index_in_the_wrong_place_is_found() {
        let dir = tempfile::tempdir().unwrap();
        let index = dir.path().join("a.idx");
        Index::create(&index, Config::new("winnow", "words", true).unwrap()).unwrap();
        let said = |line: &[&str]| {
            let given: Vec<OsString> = line.iter().map(OsString::from).collect();
            no_index(Path::new("tides"), &given)
        };
        let index = index.to_str().unwrap();
        assert!(said(&["cento", "show", "tides", index]).ends_with("the index comes first"));
        assert!(said(&["tides", "tides", index]).ends_with("the index comes first"));
        assert!(said(&["tides"]).contains("`cento create tides`"));
        let said = said(&["cento", "pairs", "--against", "tides", index]);
        assert!(said.contains("--against takes a folder, a file, an archive or an"), "{said}");
    }
}
