//! Limit on the bytes of answers that slow clients have not taken yet.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes, HttpBody, to_bytes};
use axum::response::{IntoResponse, Response};
use hyper::body::{Frame, SizeHint};

use super::body::Gate;
use cento::runtime::Permit;

/// The number of bytes that a connection is given at a time; a shorter answer is given whole.
const PART_BYTES: usize = 64 << 10;

/// An answer that takes room until it has been given to the connection.
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

/// Returns the answer, with room from `gate` until it is sent, if there is room.
pub async fn hold(response: Response, gate: &Gate) -> Response {
    if response.body().size_hint().lower() <= PART_BYTES as u64 {
        return response;
    }
    let (head, body) = response.into_parts();
    // It is in memory already.
    let Ok(rest) = to_bytes(body, usize::MAX).await else {
        return super::failure::Failure::internal().into_response();
    };
    match gate.enter(rest.len()) {
        Ok(room) => Response::from_parts(head, Body::new(ReservedAnswer { rest, _room: room })),
        Err(failure) => failure.into_response(),
    }
}
