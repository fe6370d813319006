//! Bodies of files, as `multipart/form-data`.

use crate::api::FileBody;

/// A body of `multipart/form-data` (RFC 7578).
pub struct Multipart {
    content_type: String,
    body: Vec<u8>,
}

impl Multipart {
    /// Returns a body of these files, preceded by the JSON of a request if given.
    pub fn new(files: &[FileBody<'_>], request: Option<&[u8]>) -> Multipart {
        let boundary = boundary(files, request);
        let mut body = Vec::new();
        let mut part = |head: &str, bytes: &[u8]| {
            let head = format!("--{boundary}\r\nContent-Disposition: form-data; {head}\r\n\r\n");
            body.extend_from_slice(head.as_bytes());
            body.extend_from_slice(bytes);
            body.extend_from_slice(b"\r\n");
        };
        if let Some(request) = request {
            part("name=\"request\"\r\nContent-Type: application/json", request);
        }
        for FileBody { part: name, name: file, bytes } in files {
            let head = format!("name=\"{}\"; filename=\"{}\"", quoted(name), quoted(file));
            part(&format!("{head}\r\nContent-Type: application/octet-stream"), bytes);
        }
        body.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
        let content_type = format!("multipart/form-data; boundary={boundary}");
        Multipart { content_type, body }
    }

    /// Returns the value of the header `Content-Type`.
    pub fn content_type(&self) -> &str {
        &self.content_type
    }

    /// Returns the bytes of the body.
    pub fn body(&self) -> &[u8] {
        &self.body
    }
}

/// Returns a boundary between the parts, which occurs in no part.
fn boundary(files: &[FileBody<'_>], request: Option<&[u8]>) -> String {
    let is_free = |boundary: &String| {
        let all = files.iter().map(|file| file.bytes).chain(request);
        let is_in =
            |bytes: &[u8]| bytes.windows(boundary.len()).any(|at| at == boundary.as_bytes());
        !all.into_iter().any(is_in)
    };
    let mut candidates = (0u64..).map(|number| format!("cento-{number:016x}"));
    candidates.find(is_free).expect("no bytes hold all numbers")
}

/// Returns a name for quotation marks, escaped as browsers do.
fn quoted(name: &str) -> String {
    name.replace('"', "%22").replace('\r', "%0D").replace('\n', "%0A")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_boundary_occurs_in_no_file() {
        let file = |bytes| FileBody { part: "file", name: "a \"b\".txt", bytes };
        let files = [file(b"--cento-0000000000000000"), file(b"x")];
        let sent = Multipart::new(&files, Some(b"{}"));
        assert_eq!(sent.content_type(), "multipart/form-data; boundary=cento-0000000000000001");
        let body = String::from_utf8(sent.body().to_vec()).unwrap();
        assert_eq!(body.matches("--cento-0000000000000001\r\n").count(), 3);
        assert!(body.contains("name=\"file\"; filename=\"a %22b%22.txt\"\r\n"), "{body}");
        assert!(body.ends_with("\r\nx\r\n--cento-0000000000000001--\r\n"));
    }
}
