//! Programs, read as what they do: `tree` has the grammars.

#[cfg(feature = "code")]
mod tree;

use super::family::Family;
use crate::spec::Parameter;
#[cfg(feature = "code")]
use std::sync::Arc;

/// The names of the languages in specifications.
const LANGUAGES: [&str; 5] = ["c", "cpp", "java", "python", "rust"];

/// `code(language,names)`.
pub(super) const FAMILY: Family = Family {
    name: "code",
    parameters: &[
        Parameter::choice("language", &LANGUAGES, "the language of the programs"),
        Parameter::switch("names", 0, "1 leaves names, numbers and strings as they are"),
    ],
    summary: "the tokens of programs, whatever their names, numbers, strings and layout are",
    source: "Finkel, Zaslavsky, Monostori and Schmidt 2002, section 2.1",
    example: "code(language=java)",
    feature: Some("code"),
    #[cfg(feature = "code")]
    build: Some(|spec| Arc::new(tree::Program::new(spec))),
    #[cfg(not(feature = "code"))]
    build: None,
};
