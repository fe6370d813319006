//! The pipeline of AVTOR.NET: `pipeline` processes words, and the other modules are its steps.

mod detect;
mod homoglyphs;
mod language;
mod markup;
mod pipeline;
mod vocabulary;

use super::edit;
use super::family::Family;
use crate::spec::Parameter;
use std::sync::Arc;

/// The names in specifications: "detect the language", "no language", and the languages.
const LANGUAGES: [&str; 20] = [
    "auto", "none", "ar", "da", "de", "el", "en", "es", "fi", "fr", "hu", "it", "nl", "no", "pt",
    "ro", "ru", "sv", "ta", "tr",
];

pub(super) const FAMILY: Family = Family {
    name: "avtor",
    parameters: &[
        Parameter::choice(
            "language",
            &LANGUAGES,
            "on which stop words and stems depend; `auto` finds it out, which short texts do not \
             allow",
        ),
        Parameter::switch("markup", 1, "1 takes HTML away"),
        Parameter::switch("homoglyphs", 1, "1 replaces letters of a wrong script"),
        Parameter::number(
            "stop",
            1,
            0,
            2,
            "1 leaves out stop words; 2 does too, but keeps all that is left out, marked for the \
             scheme `pairs`, in a text of at most 100 words",
        ),
        Parameter::switch("filter", 1, "1 leaves out numbers, codes and single letters"),
        Parameter::switch(
            "stem",
            1,
            "1 takes stems of words; if `auto` finds another language, their first six letters",
        ),
    ],
    summary: "stems of words, without markup, homoglyphs, stop words and codes",
    source: "Sharapova and Sharapova 2018, section 3.3: AVTOR.NET",
    example: "avtor(language=en)",
    build: |spec| Arc::new(pipeline::Avtor::new(spec)),
};
