//! Watches in the format of `cento watch list --format json`.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use serde_json::{Map, Value};

use cento::{Error, Result};
use cento_api::Webhook;
use cento_client::api::WatchRequest;

/// Fields that a listed watch has and a request lacks.
const SHOWN: [&str; 6] = ["kind", "tokens", "fingerprints", "commit", "created", "problem"];

/// Maximum number of bytes to look at to recognize a list of watches: a name, and what follows.
const HEAD_BYTES: u64 = 4096;

/// Returns requests for the watches listed in a file; `-` is standard input. `None` if the file is
/// not a list of watches. `secret` signs the posts of watches with a webhook.
///
/// # Errors
/// When the file cannot be read, or a line is not a watch.
pub fn requests_in(path: &Path, secret: Option<&str>) -> Result<Option<Vec<WatchRequest>>> {
    let failed = |e| Error::io("read", path, e);
    if path.as_os_str() == "-" {
        // Peeking leaves the bytes in the buffer that every reader of standard input shares.
        let mut input = io::stdin().lock();
        return match is_list(input.fill_buf().map_err(failed)?) {
            true => parsed(input, "-", secret).map(Some),
            false => Ok(None),
        };
    }
    if !path.is_file() {
        return Ok(None);
    }
    let mut head = Vec::new();
    File::open(path)
        .and_then(|file| file.take(HEAD_BYTES).read_to_end(&mut head))
        .map_err(failed)?;
    if !is_list(&head) {
        return Ok(None);
    }
    let file = File::open(path).map_err(failed)?;
    parsed(BufReader::new(file), &path.display().to_string(), secret).map(Some)
}

/// Returns whether a file with this beginning is a list of watches.
fn is_list(head: &[u8]) -> bool {
    let head: Vec<u8> = head.iter().copied().filter(|byte| *byte != b' ').collect();
    let line = head.split(|byte| *byte == b'\n').next().unwrap_or_default();
    line.starts_with(b"{\"name\":\"")
        && ["text", "document", "signature"].iter().any(|kind| {
            let kind = format!("\",\"kind\":\"{kind}\"");
            line.windows(kind.len()).any(|part| part == kind.as_bytes())
        })
}

fn parsed(lines: impl BufRead, place: &str, secret: Option<&str>) -> Result<Vec<WatchRequest>> {
    let mut requests = Vec::new();
    for (number, line) in (1u64..).zip(lines.lines()) {
        let place = format!("{place}:{number}");
        let line = line.map_err(|e| Error::io("read", &place, e))?;
        if !line.trim().is_empty() {
            let request = request(&line, secret);
            requests.push(request.map_err(|what| Error::input(place, what))?);
        }
    }
    Ok(requests)
}

/// Returns the request for the watch in a line, or the defect as a clause.
fn request(line: &str, secret: Option<&str>) -> std::result::Result<WatchRequest, String> {
    let no_watch = |e: serde_json::Error| format!("it is no watch: {e}");
    let mut fields: Map<String, Value> = serde_json::from_str(line).map_err(no_watch)?;
    let is_of_text = fields.get("kind").is_some_and(|kind| kind != "document");
    SHOWN.iter().for_each(|shown| drop(fields.remove(*shown)));
    let url = match fields.remove("webhook") {
        Some(Value::String(url)) => Some(url),
        _ => None,
    };
    if is_of_text && !["text", "parts", "signature"].iter().any(|name| fields.contains_key(*name)) {
        return Err("it lacks the text of the watch, which a service does not list; list the \
                    watches of the index in its directory"
            .into());
    }
    let mut request: WatchRequest =
        serde_json::from_value(Value::Object(fields)).map_err(no_watch)?;
    request.webhook = match (url, secret) {
        (Some(url), Some(secret)) => Some(Webhook { url, secret: secret.to_owned() }),
        (Some(url), None) => {
            return Err(format!(
                "events of the watch are posted to {url}, and a list has no key for the \
                 signatures; give it with --secret-file"
            ));
        }
        (None, _) => None,
    };
    Ok(request)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_known_by_its_first_line() {
        let check = |head: &str, expected| assert_eq!(is_list(head.as_bytes()), expected, "{head}");
        check(r#"{"name":"a","kind":"text","tokens":3}"#, true);
        check(r#"{ "name": "a \"b\"", "kind": "document" }"#, true);
        check(r#"{"id":"a","text":"x"}"#, false);
        check(r#"{"name":"a","text":"x"}"#, false);
        check("{\"name\":\"a\"}\n{\"name\":\"a\",\"kind\":\"text\"}", false);
        check("", false);
    }

    #[test]
    fn a_line_is_a_request_without_what_a_list_shows() {
        let line = r#"{"name":"a","kind":"text","tokens":3,"fingerprints":2,"min_containment":0.5,
            "commit":1,"created":2,"webhook":"https://a.example/","text":"x"}"#;
        let found = request(line, Some("0123456789abcdef")).unwrap();
        assert_eq!((found.name.as_deref(), found.text.as_deref()), (Some("a"), Some("x")));
        assert_eq!(found.thresholds.min_containment, Some(0.5));
        assert_eq!(found.webhook.unwrap().url, "https://a.example/");
        assert!(request(line, None).unwrap_err().contains("--secret-file"));
        let line = r#"{"name":"a","kind":"text","tokens":3}"#;
        assert!(request(line, None).unwrap_err().contains("lacks the text"));
        let line = r#"{"name":"a","kind":"document","id":"x","other":1}"#;
        assert!(request(line, None).unwrap_err().contains("other"));
    }
}
