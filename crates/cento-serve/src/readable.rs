//! Explains in plain words why a value of a request cannot be read.

use std::collections::BTreeSet;

use axum::extract::{FromRequestParts, Query};
use axum::http::request::Parts;
use cento_api::json::wrong_value;
use serde::de::DeserializeOwned;

use crate::failure::Failure;
use crate::known_fields::with_known;

/// Turns serde's message about an unreadable value into plain words.
pub fn plain(message: &str) -> String {
    let (message, place) = split_place(message);
    let said = match (wrong_value(message), message) {
        (Some((given, needed)), _) => format!("expected {needed}, not {given}"),
        (None, "invalid digit found in string" | "cannot parse integer from empty string") => {
            "expected a whole number".to_owned()
        }
        (None, "number too large to fit in target type") => "the number is too large".to_owned(),
        (None, "invalid float literal" | "cannot parse float from empty string") => {
            "expected a number".to_owned()
        }
        (None, "provided string was not `true` or `false`") => "expected true or false".to_owned(),
        (None, message) => message.replacen("unknown variant", "unknown value", 1),
    };
    said + place
}

/// Splits off the place, which serde_json writes at the end of a message.
pub fn split_place(message: &str) -> (&str, &str) {
    message.split_at(message.rfind(" at line ").unwrap_or(message.len()))
}

/// The parameters of a request, after `?` in the URL.
pub struct Parameters<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Parameters<T> {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Parameters<T>, Failure> {
        match Query::<T>::try_from_uri(&parts.uri) {
            Ok(Query(parameters)) => Ok(Parameters(parameters)),
            Err(rejection) => Err(unread(&rejection.body_text())),
        }
    }
}

/// Returns the failure for a query string that axum cannot read.
fn unread(message: &str) -> Failure {
    let message = message.strip_prefix("Failed to deserialize query string: ").unwrap_or(message);
    // A known parameter comes first in the message.
    match message.split_once(": ") {
        Some((name, why)) if name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_') => {
            let said = with_known(plain(why), BTreeSet::new);
            Failure::argument(name.to_owned(), format!("`{name}`: {said}"))
        }
        _ => Failure::bad_request(format!("the parameters: {}", plain(message))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cento_api::Webhook;
    use cento_api::http::{EventsRequest, WatchRequest};
    use serde_json::json;

    #[test]
    fn types_of_rust_are_called_what_they_are_in_json() {
        let check = |body: serde_json::Value, said: &str| {
            let error = serde_json::from_value::<WatchRequest>(body).unwrap_err().to_string();
            assert_eq!(plain(&error), said, "{error}");
        };
        check(json!({"webhook": "http://a"}), "expected an object, not the string \"http://a\"");
        check(json!({"text": 5}), "expected a string, not the number 5");
        check(json!({"text": ["a"]}), "expected a string, not a list");
        check(json!({"parts": {"a": 1}}), "expected a list, not an object");
        check(json!({"parts": [true]}), "expected an object, not true");
        let error = serde_json::from_str::<Webhook>("{\"url\": 1}").unwrap_err().to_string();
        assert_eq!(plain(&error), "expected a string, not the number 1 at line 1 column 9");
        let error = serde_json::from_str::<Webhook>("{\"url\"").unwrap_err().to_string();
        assert_eq!(plain(&error), error);
    }

    #[test]
    fn a_parameter_that_cannot_be_read_is_named() {
        let check = |query: &str, code: &str, said: &[&str]| {
            let address = format!("http://a/?{query}").parse().unwrap();
            let rejection = Query::<EventsRequest>::try_from_uri(&address).err().unwrap();
            let failure = unread(&rejection.body_text());
            assert_eq!(failure.code, code, "{}", failure.message);
            for said in said {
                assert!(failure.message.contains(said), "{}", failure.message);
            }
            for word in ["deserialize", "digit found", "variant", "struct"] {
                assert!(!failure.message.contains(word), "{}", failure.message);
            }
        };
        check("after=abc", "invalid_argument", &["`after`: expected a whole number"]);
        check("after=", "invalid_argument", &["`after`: expected a whole number"]);
        check("wait=99999999999", "invalid_argument", &["`wait`: the number is too large"]);
        check(
            "wat=1",
            "invalid_argument",
            &["unknown field `wat` (did you mean `wait`?), expected"],
        );
    }
}
