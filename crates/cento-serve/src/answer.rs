//! Writes answers, and limits the memory for answers to slow clients.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes, HttpBody, to_bytes};
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use hyper::body::{Frame, SizeHint};
use serde::Serialize;

use super::body::Gate;
use cento::runtime::Permit;

/// The bytes passed to a connection at a time. Shorter answers need no reservation.
const PART_BYTES: usize = 64 << 10;

/// An answer with its reserved room, which is returned after the last byte is sent.
struct ReservedAnswer {
    rest: Bytes,
    _room: Permit,
}

impl HttpBody for ReservedAnswer {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if self.rest.is_empty() {
            return Poll::Ready(None);
        }
        let len = self.rest.len().min(PART_BYTES);
        Poll::Ready(Some(Ok(Frame::data(self.rest.split_to(len)))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.rest.len() as u64)
    }
}

/// An answer as JSON.
///
/// The thread that computes an answer writes it, too: its values may take a hundred times the bytes
/// of the JSON, and only this thread has reserved memory for them. Writing a long answer would also
/// make quick searches wait.
pub struct WrittenAnswer {
    json: Vec<u8>,
    kind: &'static str,
}

impl WrittenAnswer {
    /// Writes an answer as JSON.
    pub fn of(answer: &impl Serialize) -> WrittenAnswer {
        WrittenAnswer::with_kind(answer, "application/json")
    }

    /// Writes an answer as JSON with its own media type.
    pub fn with_kind(answer: &impl Serialize, kind: &'static str) -> WrittenAnswer {
        let json = serde_json::to_vec(answer).expect("memory takes every byte");
        WrittenAnswer { json, kind }
    }

    pub fn into_json(self) -> Vec<u8> {
        self.json
    }
}

impl IntoResponse for WrittenAnswer {
    fn into_response(self) -> Response {
        let kind = HeaderValue::from_static(self.kind);
        ([(header::CONTENT_TYPE, kind)], self.json).into_response()
    }
}

/// Reserves room for a long answer until it is sent, or returns a failure if `gate` has no room.
pub async fn hold(response: Response, gate: &Gate) -> Response {
    if response.body().size_hint().lower() <= PART_BYTES as u64 {
        return response;
    }
    let (head, body) = response.into_parts();
    // The body is in memory already, so `to_bytes` takes no more.
    let Ok(rest) = to_bytes(body, usize::MAX).await else {
        return super::failure::Failure::internal().into_response();
    };
    match gate.enter(rest.len()) {
        Ok(room) => Response::from_parts(head, Body::new(ReservedAnswer { rest, _room: room })),
        Err(failure) => failure.into_response(),
    }
}
