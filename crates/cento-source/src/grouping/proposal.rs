//! Proposes how files form documents, from their names.

use cento::{Result, Stop};
use cento_api::NamePattern;

use super::{By, GroupedFiles, Grouping};

/// The file names that learning platforms make: a pattern, and a check of the numbers in a match,
/// which a name of a different origin would fail.
const PLATFORMS: [(&str, IsPlatform); 3] = [
    // Moodle, with and without a directory for each submission.
    ("{document}_assignsubmission_{*}/{part}", |document, _| ends_in_number(document)),
    ("{document}_assignsubmission_file_{part}", |document, _| ends_in_number(document)),
    // Canvas: name, number of the user, number of the file, file.
    ("{name}{_LATE?}_{document}_{*}_{part}", |document, before_part| {
        ends_in_number(document) && ends_in_number(before_part)
    }),
];

/// Judges a match by the id of the document and the path before the part.
type IsPlatform = fn(&str, &str) -> bool;

/// What Blackboard puts between the user and the time of an attempt.
const ATTEMPT: &str = "_attempt_";

impl By {
    /// Returns the unit that file names suggest: the pattern of a learning platform, a directory if
    /// most files are in documents of several files, or else a file. The first components of paths
    /// are inputs.
    ///
    /// # Errors
    /// [`Error::Cancelled`](cento::Error::Cancelled) soon after `stop`.
    pub fn proposed(names: &[String], stop: &Stop) -> Result<By> {
        let is_all_but_few = |number: usize, of: usize| number > 0 && number * 3 >= of * 2;
        let of_attempts = pattern_of_attempts(names).map(|pattern| (pattern, ANY));
        let patterns = PLATFORMS.map(|(pattern, is)| (pattern.to_owned(), is));
        for (pattern, is_platform) in patterns.into_iter().chain(of_attempts) {
            let Ok(pattern) = NamePattern::new(&pattern) else { continue };
            let by = By::Pattern(pattern);
            let found = Grouping::of_names(&by, names, stop)?;
            let fits = |document: &GroupedFiles, (part, at): &(String, usize)| {
                let before = names[*at].strip_suffix(part).and_then(|path| path.strip_suffix('_'));
                is_platform(&document.id, before.unwrap_or_default())
            };
            let fitting = found.documents.iter();
            let fitting: usize = fitting
                .map(|document| document.parts.iter().filter(|part| fits(document, part)).count())
                .sum();
            if is_all_but_few(fitting, read_of(names, &found.left_out)) {
                return Ok(by);
            }
        }
        let found = Grouping::of_names(&By::Directory, names, stop)?;
        let is_directory = |document: &&GroupedFiles| {
            document.parts.iter().all(|(_, at)| document.id != names[*at])
        };
        let directories: Vec<_> = found.documents.iter().filter(is_directory).collect();
        let files: usize = directories.iter().map(|document| document.parts.len()).sum();
        let is_class = directories.len() > 1;
        Ok(match is_class && is_all_but_few(files, read_of(names, &found.left_out)) {
            true => By::Directory,
            false => By::File,
        })
    }
}

/// Accepts any match, because the name of an attempt is specific enough.
const ANY: IsPlatform = |_, _| true;

/// Returns the number of files that are not skipped by their names.
fn read_of(names: &[String], left_out: &[(String, &'static str)]) -> usize {
    let by_name = left_out.iter().filter(|(_, why)| *why != super::NO_MATCH);
    names.len().saturating_sub(by_name.count())
}

fn ends_in_number(text: &str) -> bool {
    let last = text.rsplit('_').next().unwrap_or_default();
    !last.is_empty() && last.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns the pattern of file names from Blackboard, which all begin with the name of the
/// assignment, as in `Sheet 4_ann_attempt_2026-01-31-12-00-00_Main.java`.
fn pattern_of_attempts(names: &[String]) -> Option<String> {
    let file_name = |name: &'_ String| name.rsplit('/').next().unwrap_or_default().to_owned();
    let files: Vec<String> = names.iter().map(file_name).collect();
    let heads: Vec<&str> = files
        .iter()
        .filter_map(|name| name.split_once(ATTEMPT))
        .filter(|(_, rest)| rest.starts_with(|c: char| c.is_ascii_digit()))
        .map(|(head, _)| head)
        .collect();
    let first = *heads.first()?;
    let common = heads.iter().fold(first, |common, head| {
        let pairs = common.char_indices().zip(head.chars());
        let end = pairs.take_while(|((_, a), b)| a == b).map(|((at, a), _)| at + a.len_utf8());
        &common[..end.last().unwrap_or(0)]
    });
    let assignment = &common[..common.rfind('_').map_or(0, |at| at + 1)];
    let is_plain = !assignment.contains(['{', '}']);
    is_plain.then(|| format!("{assignment}{{student}}{ATTEMPT}{{document}}_{{part}}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares the proposed unit, and the documents with their parts.
    #[track_caller]
    fn check(names: &[&str], unit: &str, expected: &[&str]) {
        let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        let by = By::proposed(&names, Stop::NEVER).unwrap();
        let documents = Grouping::of_names(&by, &names, Stop::NEVER).unwrap().documents.into_iter();
        let shown = |GroupedFiles { id, parts, .. }: GroupedFiles| {
            let parts: Vec<String> = parts.into_iter().map(|part| part.0).collect();
            format!("{id}: {}", parts.join(" "))
        };
        let documents: Vec<String> = documents.map(shown).collect();
        let documents: Vec<&str> = documents.iter().map(String::as_str).collect();
        assert_eq!((by.to_string().as_str(), documents), (unit, expected.to_vec()));
    }

    #[test]
    fn essays_beside_each_other_are_documents() {
        check(&["a.txt", "b.txt"], "file", &["a.txt: a.txt", "b.txt: b.txt"]);
        check(
            &["in/a_1_2.txt", "in/b.txt"],
            "file",
            &["in/a_1_2.txt: in/a_1_2.txt", "in/b.txt: in/b.txt"],
        );
    }

    #[test]
    fn directories_and_archives_of_students_are_documents() {
        let expected = ["in.zip/ann: Main.java src/A.java", "in.zip/bob: Main.java"];
        let names = ["in.zip/ann/Main.java", "in.zip/ann/src/A.java", "in.zip/bob/Main.java"];
        check(&names, "directory", &expected);
        // Programs that make zip files add a directory around everything, and data of their own.
        let names = ["in.zip/in/ann/a.c", "in.zip/in/bob/b.c", "in.zip/__MACOSX/in/ann/._a.c"];
        check(&names, "directory", &["in.zip/in/ann: a.c", "in.zip/in/bob: b.c"]);
        check(
            &["ann.zip/a.c", "bob.zip/src/b.c"],
            "directory",
            &["ann.zip: a.c", "bob.zip: src/b.c"],
        );
        let names = ["in.zip/ann.zip/a.c", "in.zip/ann.zip/b.c", "in.zip/bob.zip/bob/b.c"];
        check(&names, "directory", &["in.zip/ann.zip: a.c b.c", "in.zip/bob.zip: bob/b.c"]);
        // The directory of a single student is not a class.
        check(
            &["ann/a.c", "ann/src/b.c"],
            "file",
            &["ann/a.c: ann/a.c", "ann/src/b.c: ann/src/b.c"],
        );
    }

    #[test]
    fn the_names_of_learning_platforms_are_recognized() {
        check(
            &[
                "okafor_LATE_91231_5550003_Main.java",
                "okafor_91231_5550004_A.java",
                "lind_91230_5_A.java",
            ],
            "{name}{_LATE?}_{document}_{*}_{part}",
            &["okafor_91231: A.java Main.java", "lind_91230: A.java"],
        );
        check(
            &[
                "m.zip/Ada Lind_12_assignsubmission_file_/src/Main.java",
                "m.zip/Ada Lind_12_assignsubmission_onlinetext_/onlinetext.html",
                "m.zip/Ada Lind_13_assignsubmission_file_/Main.java",
            ],
            "{document}_assignsubmission_{*}/{part}",
            &["m.zip/Ada Lind_12: onlinetext.html src/Main.java", "m.zip/Ada Lind_13: Main.java"],
        );
        check(
            &[
                "m.zip/Ada Lind_12_assignsubmission_file_a.c",
                "m.zip/Bo_13_assignsubmission_file_b.c",
            ],
            "{document}_assignsubmission_file_{part}",
            &["m.zip/Ada Lind_12: a.c", "m.zip/Bo_13: b.c"],
        );
        check(
            &[
                "gb.zip/Sheet_4_ann_attempt_2026-01-31-12-00-00.txt",
                "gb.zip/Sheet_4_ann_attempt_2026-01-31-12-00-00_a.c",
                "gb.zip/Sheet_4_bob_attempt_2026-01-30-12-00-00_a.c",
                "gb.zip/Sheet_4_bob_attempt_2026-01-30-12-00-00_b.c",
            ],
            "Sheet_4_{student}_attempt_{document}_{part}",
            &["gb.zip/ann_2026-01-31-12-00-00: a.c", "gb.zip/bob_2026-01-30-12-00-00: a.c b.c"],
        );
        // Words and underscores are no numbers.
        check(
            &["my_last_essay_x.txt", "my_own_big_y.txt"],
            "file",
            &["my_last_essay_x.txt: my_last_essay_x.txt", "my_own_big_y.txt: my_own_big_y.txt"],
        );
    }

    #[test]
    fn files_that_an_export_adds_are_no_submissions() {
        let names = [
            "x.zip/export/submission_metadata.yml",
            "x.zip/export/submission_1/a.py",
            "x.zip/export/submission_2/a.py",
        ];
        let expected = ["x.zip/export/submission_1: a.py", "x.zip/export/submission_2: a.py"];
        check(&names, "directory", &expected);
        // A note beside three or more directories does not turn them into a single submission.
        let names =
            ["in.zip/in/README.txt", "in.zip/in/ann/a", "in.zip/in/bob/a", "in.zip/in/cas/a"];
        let expected = [
            "in.zip/in/README.txt: README.txt",
            "in.zip/in/ann: a",
            "in.zip/in/bob: a",
            "in.zip/in/cas: a",
        ];
        check(&names, "directory", &expected);
        // The project of a single student also has a note.
        let by = By::Directory;
        let names = ["in.zip/p/README", "in.zip/p/model/a", "in.zip/p/view/a"].map(str::to_owned);
        let found = Grouping::of_names(&by, &names, Stop::NEVER).unwrap();
        assert_eq!((found.documents.len(), found.documents[0].parts.len()), (1, 3));
    }

    #[test]
    fn a_pattern_that_names_a_file_twice_gives_each_part_a_name_of_its_own() {
        let by: By = "{document}_{*}_{part}".parse().unwrap();
        let names = ["a_1_x", "a_2_x", "a_3_x#2"].map(str::to_owned);
        let found = Grouping::of_names(&by, &names, Stop::NEVER).unwrap();
        let parts: Vec<&str> =
            found.documents[0].parts.iter().map(|part| part.0.as_str()).collect();
        assert_eq!(parts, ["x", "x#3", "x#2"]);
    }
}
