//! Documents in three parts, whose indexes are searched as one.

use serde_json::{Value, json};

use crate::text::{line, words};

/// The number of documents of all parts.
pub const DOCUMENTS: u64 = 30;

/// The text of a document. Some words occur in every fifth document, and some in every document.
pub fn text(number: u64) -> String {
    format!("{} {} {}", words(number % 5, 40), words(1000 + number, 30), words(77, 30))
}

/// The documents of one of the three parts, as lines of JSON.
pub fn third(part: u64) -> String {
    let numbers = (0..DOCUMENTS).filter(|number| number % 3 == part);
    numbers.map(|number| line(&format!("d{number:02}"), &text(number), json!({}))).collect()
}

/// Removes the time from an answer, and the names of indexes, which are returned.
pub fn without_names(answer: &mut Value) -> Vec<String> {
    answer.as_object_mut().unwrap().remove("took_us");
    let hits = answer["hits"].as_array_mut().unwrap();
    let names = hits.iter_mut().map(|hit| hit.as_object_mut().unwrap().remove("index"));
    names.flatten().map(|name| name.as_str().unwrap().to_owned()).collect()
}
