//! Bodies of requests, and limits on their size.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::future::ready;
use std::sync::Arc;

use axum::body::{Body as Stream, Bytes};
use axum::extract::Request;
use axum::http::{HeaderMap, header};
use bytes::BytesMut;
use futures_util::stream;
use http_body_util::BodyExt;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use super::encoding::{Encoding, Unpacker};
use super::failure::Failure;
use super::known_fields::{known_fields, with_known};
use super::readable::plain;
use super::turns::{Client, client_of};
use super::wrong_field::wrong_field;
use cento::runtime::{ByteBudget, Permit};
use cento_api::json::value_bytes_max;

/// Limits the total size of bodies in memory. Room is taken as bytes arrive, so a client cannot
/// reserve room by announcing a length. A request that finds no room does not wait.
pub struct Gate(Arc<ByteBudget>);

impl Gate {
    /// Returns a gate for this number of bytes.
    pub fn new(bytes: usize) -> Gate {
        Gate(ByteBudget::new(bytes))
    }

    /// Takes room for this number of bytes.
    ///
    /// # Errors
    /// `busy`, if there is no room.
    pub fn enter(&self, bytes: usize) -> Result<Permit, Failure> {
        self.0.try_enter(bytes).ok_or_else(no_room)
    }
}

fn no_room() -> Failure {
    Failure::busy("too many bytes of requests and answers are in flight; try again later")
}

/// Beyond this many unpacked bytes, other requests are served between steps.
const YIELD_BYTES: usize = 256 << 10;

/// The form of a body.
#[derive(Debug, Clone, PartialEq, Eq)]
enum BodyForm {
    /// A single JSON value.
    Json,
    /// One JSON value per line.
    Lines,
    /// Parts with names, as forms with files are sent.
    Files,
}

/// A body that has arrived completely.
pub struct Body {
    bytes: Bytes,
    form: BodyForm,
    /// The boundary between parts, if the body has parts.
    boundary: Option<String>,
    permit: Permit,
    /// The client that sent the body.
    client: Client,
}

/// A part of a body in parts.
pub struct Part {
    /// The name of the part.
    pub name: String,
    /// The name of the file, if the part is a file.
    pub file: Option<String>,
    /// The content of the part.
    pub bytes: Bytes,
}

impl Body {
    /// Reads the body of a request, at most `bytes_max` bytes after unpacking, if `gate` has room.
    ///
    /// # Errors
    /// When the body is too large, its declared type is not supported, or it does not arrive.
    pub async fn read(request: Request, gate: &Gate, bytes_max: usize) -> Result<Body, Failure> {
        let form = form(request.headers())?;
        let is_untyped = !request.headers().contains_key(header::CONTENT_TYPE);
        let encoding = Encoding::of(request.headers())?;
        let boundary = match form {
            BodyForm::Files => Some(boundary(request.headers())?),
            _ => None,
        };
        let declared = declared_length(request.headers())?;
        if declared.is_some_and(|length| length > bytes_max as u64) {
            return Err(too_large(bytes_max));
        }
        let client = client_of(&request);
        let body = request.into_body();
        let (bytes, permit) = match encoding {
            None => collect(body, gate, bytes_max).await?,
            Some(encoding) => unpack(body, encoding, gate, bytes_max).await?,
        };
        if is_untyped && !bytes.is_empty() {
            return Err(no_type());
        }
        Ok(Body { bytes, form, boundary, permit, client })
    }

    pub fn client(&self) -> Client {
        self.client
    }

    /// Tells whether the body is JSON lines.
    pub fn is_lines(&self) -> bool {
        self.form == BodyForm::Lines
    }

    /// Tells whether the body is in parts.
    pub fn is_files(&self) -> bool {
        self.form == BodyForm::Files
    }

    /// Returns a body of JSON lines made by the service, with room for the lines.
    pub fn of_lines(lines: Vec<u8>, permit: Permit) -> Body {
        let (form, client) = (BodyForm::Lines, Client::default());
        Body { bytes: lines.into(), form, boundary: None, permit, client }
    }

    /// Returns the parts of a body, and the room for the parts.
    ///
    /// # Errors
    /// When the body is not in parts, has more than `parts_max` parts, or a copy finds no room.
    pub async fn into_files(self, parts_max: usize) -> Result<(Vec<Part>, Permit), Failure> {
        let Body { bytes, boundary, mut permit, .. } = self;
        // The parts are cut out of a copy, so twice the room is needed.
        if !permit.try_grow(bytes.len()) {
            return Err(no_room());
        }
        let damaged = |error: multer::Error| {
            Failure::bad_request(format!("the body is no multipart/form-data: {error}"))
        };
        let stream = stream::once(ready(Ok::<_, Infallible>(bytes)));
        let mut parts = multer::Multipart::new(stream, boundary.unwrap_or_default());
        let mut found = Vec::new();
        while let Some(part) = parts.next_field().await.map_err(damaged)? {
            if found.len() == parts_max {
                return Err(Failure::too_large(format!(
                    "at most {parts_max} files can be sent at once; send fewer, or an archive"
                )));
            }
            let name = part.name().unwrap_or_default().to_owned();
            let file = part.file_name().map(str::to_owned);
            let bytes = part.bytes().await.map_err(damaged)?;
            found.push(Part { name, file, bytes });
        }
        Ok((found, permit))
    }

    /// Returns the lines without empty lines.
    pub fn lines(&self) -> impl Iterator<Item = &[u8]> {
        let lines = self.bytes.split(|&byte| byte == b'\n');
        lines.filter(|line| line.iter().any(|byte| !byte.is_ascii_whitespace()))
    }

    /// Parses the body as a JSON object.
    ///
    /// # Errors
    /// When the body has another form, or is not JSON of this type.
    pub fn json<T: DeserializeOwned>(&self) -> Result<T, Failure> {
        if self.form != BodyForm::Json {
            return Err(Failure::unsupported(
                "this route does not accept this type; see /openapi.json",
            ));
        }
        parse(&self.bytes)
    }

    /// Parses the body as a JSON object with any values, whose memory may be a hundred times the
    /// bytes of the body. Takes the room of the values before that.
    ///
    /// # Errors
    /// The errors of [`json`](Self::json). When the values find no room.
    pub fn json_of_values<T: DeserializeOwned>(&mut self, gate: &Gate) -> Result<T, Failure> {
        let bytes = value_bytes_max(&self.bytes);
        let (needed, max) = (bytes.saturating_add(self.bytes.len()), gate.0.bytes_max());
        if needed > max {
            return Err(Failure::too_large(format!(
                "the lists and objects of the body need {} MiB of memory, but at most {} MiB are \
                 allowed; send fewer",
                needed.div_ceil(1 << 20),
                max >> 20
            )));
        }
        if !self.permit.try_grow(bytes) {
            return Err(no_room());
        }
        self.json()
    }

    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the bytes with their room.
    pub fn into_parts(self) -> (Bytes, Permit) {
        (self.bytes, self.permit)
    }
}

/// The size in bytes of a body whose fields are not checked before it is parsed.
const UNCHECKED_BYTES_MAX: usize = 256 << 10;

/// Refuses unknown fields without parsing their values. serde keeps the values of unknown fields
/// until it has seen all fields, and values may take forty times the bytes of the JSON.
fn check_fields<T>(json: &[u8], place: &str) -> Result<(), Failure> {
    // The parser reports JSON that is no object, with line and column.
    let Ok(fields) = serde_json::from_slice::<BTreeMap<Cow<'_, str>, &RawValue>>(json) else {
        return Ok(());
    };
    for (name, value) in fields {
        let path = format!("{place}{name}");
        let known = known_fields::<T>(&path);
        if known.is_empty() {
            return Ok(());
        }
        if !known.contains(&*name) {
            let said = with_known(format!("unknown field `{name}`"), || known);
            return Err(Failure::argument(name.into_owned(), format!("`{path}`: {said}")));
        }
        if value.get().starts_with('{') {
            check_fields::<T>(value.get().as_bytes(), &format!("{path}."))?;
        }
    }
    Ok(())
}

/// Parses a JSON object.
///
/// # Errors
/// When it is not JSON of this type, with the wrong field, or line and column.
pub fn parse<T: DeserializeOwned>(json: &[u8]) -> Result<T, Failure> {
    let json = json.strip_prefix(b"\xef\xbb\xbf").unwrap_or(json);
    // An empty body is an empty request, as `curl -X POST` sends it.
    let json = if json.trim_ascii().is_empty() { b"{}" } else { json };
    // serde would take the values of an array for the values of the fields, in order.
    if json.trim_ascii_start().first() == Some(&b'[') {
        return Err(Failure::bad_request("expected a JSON object"));
    }
    if json.len() > UNCHECKED_BYTES_MAX {
        check_fields::<T>(json, "")?;
    }
    serde_json::from_slice(json).map_err(|error| {
        wrong_field::<T>(json, &error)
            .unwrap_or_else(|| Failure::bad_request(plain(&error.to_string())))
    })
}

/// Reads the remaining body, up to `bytes_max` bytes, without keeping it.
pub async fn forget(mut body: Stream, bytes_max: usize) {
    let mut bytes = 0;
    while let Some(Ok(frame)) = body.frame().await {
        bytes += frame.data_ref().map_or(0, Bytes::len);
        if bytes > bytes_max {
            break;
        }
    }
}

async fn collect(
    mut body: Stream,
    gate: &Gate,
    bytes_max: usize,
) -> Result<(Bytes, Permit), Failure> {
    let (mut bytes, mut room) = (BytesMut::new(), gate.enter(0)?);
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| Failure::bad_request("the body is incomplete"))?;
        let Ok(data) = frame.into_data() else { continue };
        if bytes.len() + data.len() > bytes_max {
            return Err(too_large(bytes_max));
        }
        if !room.try_grow(data.len()) {
            return Err(no_room());
        }
        bytes.extend_from_slice(&data);
    }
    Ok((bytes.freeze(), room))
}

/// Reads a compressed body. Neither the compressed nor the unpacked body may exceed `bytes_max`
/// bytes, because a series of empty members could be endless.
async fn unpack(
    mut body: Stream,
    encoding: Encoding,
    gate: &Gate,
    bytes_max: usize,
) -> Result<(Bytes, Permit), Failure> {
    let mut unpacker = Unpacker::new(encoding)?;
    // The memory of the decoder is returned at the end, and the memory of its output is kept.
    let mut decoding = gate.enter(unpacker.bytes())?;
    let (mut bytes, mut room, mut packed_bytes) = (Vec::new(), gate.enter(0)?, 0);
    let mut counted = 0;
    let mut count = |unpacker: &Unpacker, bytes: &Vec<u8>| {
        let more = bytes.len() - counted;
        if bytes.len() > bytes_max {
            let message = format!(
                "the body exceeds {bytes_max} bytes when it is unpacked; send less at a time"
            );
            return Err(Failure::too_large(message));
        }
        if !room.try_grow(more) || !decoding.try_grow(unpacker.window_bytes(counted, more)) {
            return Err(no_room());
        }
        counted = bytes.len();
        Ok(more > 0)
    };
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| Failure::bad_request("the body is incomplete"))?;
        let Ok(data) = frame.into_data() else { continue };
        packed_bytes += data.len();
        if packed_bytes > bytes_max {
            return Err(too_large(bytes_max));
        }
        let mut packed = &data[..];
        loop {
            unpacker.step(&mut packed, &mut bytes)?;
            let is_more = count(&unpacker, &bytes)?;
            if packed.is_empty() && !is_more {
                break;
            }
            // Serve other requests in between, because a long compressed body may unpack to little.
            if bytes.len() > YIELD_BYTES {
                tokio::task::yield_now().await;
            }
        }
    }
    unpacker.finish(&mut bytes)?;
    count(&unpacker, &bytes)?;
    bytes.shrink_to_fit();
    Ok((bytes.into(), room))
}

fn form(headers: &HeaderMap) -> Result<BodyForm, Failure> {
    let has_body = headers.get(header::CONTENT_LENGTH).is_some_and(|length| length != "0")
        || headers.contains_key(header::TRANSFER_ENCODING);
    if !has_body && !headers.contains_key(header::CONTENT_TYPE) {
        return Ok(BodyForm::Json);
    }
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let kind = kind.and_then(|kind| kind.split(';').next()).map(|kind| kind.trim());
    match kind.map(str::to_ascii_lowercase).as_deref() {
        Some("application/json") => Ok(BodyForm::Json),
        Some("application/x-ndjson" | "application/ndjson" | "application/jsonl") => {
            Ok(BodyForm::Lines)
        }
        Some("multipart/form-data") => Ok(BodyForm::Files),
        _ => Err(no_type()),
    }
}

fn no_type() -> Failure {
    Failure::unsupported(
        "set Content-Type to application/json, application/x-ndjson or multipart/form-data",
    )
}

fn boundary(headers: &HeaderMap) -> Result<String, Failure> {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    multer::parse_boundary(kind.unwrap_or_default())
        .map_err(|error| Failure::bad_request(format!("Content-Type: {error}")))
}

/// Returns the declared length of a body, if the request declares a length.
///
/// # Errors
/// When the declared length is no number.
pub fn declared_length(headers: &HeaderMap) -> Result<Option<u64>, Failure> {
    let Some(length) = headers.get(header::CONTENT_LENGTH) else { return Ok(None) };
    let length = length.to_str().ok().and_then(|length| length.parse().ok());
    length.map(Some).ok_or_else(|| Failure::bad_request("Content-Length is not a number"))
}

fn too_large(bytes_max: usize) -> Failure {
    Failure::too_large(format!("the body exceeds {bytes_max} bytes; send less at a time"))
}
