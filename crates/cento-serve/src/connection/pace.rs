//! Time limits for idle connections.
//!
//! The head of a request must arrive within [`Pace::head_max`], counted from its first byte or, for
//! the first request, from the beginning of the connection. So a client that connects and sends
//! nothing is cut off soon. After an answer the connection may be idle for longer. Otherwise a load
//! balancer could pick an idle connection that has just been closed. The time for answering is
//! limited elsewhere.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::HttpBody;
use hyper::body::{Frame, SizeHint};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep_until};

/// What the client should send next.
#[derive(Debug, Clone, Copy)]
enum ClientEvent {
    /// The remaining head of a request, until this time.
    Head(Instant),
    /// The first byte of a request, until this time.
    Request(Instant),
    /// Nothing, because a request is being answered.
    Nothing,
}

/// The time limits of a connection, and the next expected event.
#[derive(Debug)]
pub struct Pace {
    head_max: Duration,
    idle_max: Duration,
    awaited: Mutex<ClientEvent>,
}

impl Pace {
    /// Returns the pace of a new connection.
    pub fn new(head_max: Duration, idle_max: Duration) -> Arc<Pace> {
        let awaited = Mutex::new(ClientEvent::Head(after(head_max)));
        Arc::new(Pace { head_max, idle_max, awaited })
    }

    fn awaited(&self) -> ClientEvent {
        *self.awaited.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set(&self, awaited: ClientEvent) {
        *self.awaited.lock().unwrap_or_else(PoisonError::into_inner) = awaited;
    }

    /// Records the arrival of a request's head.
    pub fn begin(&self) {
        self.set(ClientEvent::Nothing);
    }

    /// Wraps the body of an answer. The wait for the next request starts after the body.
    pub fn until_the_end_of<B>(self: &Arc<Self>, body: B) -> AnswerBody<B> {
        AnswerBody { body, pace: self.clone() }
    }
}

/// Returns the instant after `time`, or a year from now if the sum is out of range.
fn after(time: Duration) -> Instant {
    let now = Instant::now();
    now.checked_add(time).unwrap_or_else(|| now + Duration::from_secs(365 * 86_400))
}

/// The body of an answer. Dropping it starts the wait for the next request.
pub struct AnswerBody<B> {
    body: B,
    pace: Arc<Pace>,
}

impl<B> Drop for AnswerBody<B> {
    fn drop(&mut self) {
        self.pace.set(ClientEvent::Request(after(self.pace.idle_max)));
    }
}

impl<B: HttpBody + Unpin> HttpBody for AnswerBody<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<B::Data>, B::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// A stream with an error when the client is too slow.
pub struct PacedStream<S> {
    stream: S,
    pace: Arc<Pace>,
    alarm: Pin<Box<Sleep>>,
}

impl<S> PacedStream<S> {
    /// Returns the stream with the limits of this pace.
    pub fn new(stream: S, pace: Arc<Pace>) -> PacedStream<S> {
        PacedStream { stream, pace, alarm: Box::pin(sleep_until(Instant::now())) }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for PacedStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        let before = buffer.filled().len();
        let read = Pin::new(&mut this.stream).poll_read(context, buffer);
        let until = match this.pace.awaited() {
            ClientEvent::Nothing => return read,
            ClientEvent::Head(until) | ClientEvent::Request(until) => until,
        };
        if read.is_pending() {
            if this.alarm.deadline() != until {
                this.alarm.as_mut().reset(until);
            }
            return this.alarm.as_mut().poll(context).map(|()| Err(io::ErrorKind::TimedOut.into()));
        }
        // Sending a byte now and then does not extend the time.
        if Instant::now() >= until {
            return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
        }
        if buffer.filled().len() > before && matches!(this.pace.awaited(), ClientEvent::Request(_))
        {
            this.pace.set(ClientEvent::Head(after(this.pace.head_max)));
        }
        read
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for PacedStream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, parts)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};

    use super::*;

    const HEAD: Duration = Duration::from_secs(20);
    const IDLE: Duration = Duration::from_secs(75);

    /// Returns the two ends of a connection with a clock that tokio advances.
    fn connected() -> (DuplexStream, PacedStream<DuplexStream>, Arc<Pace>) {
        let (client, server) = duplex(64);
        let pace = Pace::new(HEAD, IDLE);
        (client, PacedStream::new(server, pace.clone()), pace)
    }

    fn run(test: impl Future<Output = ()>) {
        let runtime = tokio::runtime::Builder::new_current_thread();
        let mut runtime = runtime;
        runtime.enable_time().start_paused(true).build().unwrap().block_on(test);
    }

    /// Returns the time until the stream ends with an error, while arriving bytes are read.
    async fn cut_after(stream: &mut PacedStream<DuplexStream>) -> Duration {
        let begun = Instant::now();
        while stream.read_u8().await.is_ok() {}
        begun.elapsed()
    }

    #[track_caller]
    fn assert_about(found: Duration, expected: Duration) {
        // Timers count in milliseconds.
        assert!(found.abs_diff(expected) <= Duration::from_millis(5), "{found:?}, {expected:?}");
    }

    #[test]
    fn a_client_that_says_nothing_is_cut_off_sooner_than_one_that_has_asked() {
        run(async {
            let (_client, mut stream, pace) = connected();
            assert_about(cut_after(&mut stream).await, HEAD);
            pace.begin();
            drop(pace.until_the_end_of(axum::body::Body::empty()));
            assert_about(cut_after(&mut stream).await, IDLE);
        });
    }

    #[test]
    fn a_head_that_trickles_is_cut_off_however_often_a_byte_comes() {
        run(async {
            for has_asked in [false, true] {
                let (mut client, mut stream, pace) = connected();
                if has_asked {
                    pace.begin();
                    drop(pace.until_the_end_of(axum::body::Body::empty()));
                }
                let trickle = tokio::spawn(async move {
                    while client.write_all(b"x").await.is_ok() {
                        tokio::time::sleep(Duration::from_secs(1)).await;
                    }
                });
                assert_about(cut_after(&mut stream).await, HEAD);
                drop(stream);
                trickle.await.unwrap();
            }
        });
    }

    #[test]
    fn a_request_that_is_being_answered_has_no_limit_here() {
        run(async {
            let (mut client, mut stream, pace) = connected();
            pace.begin();
            let long = HEAD + IDLE;
            assert!(tokio::time::timeout(long, stream.read_u8()).await.is_err());
            client.write_all(b"x").await.unwrap();
            assert_eq!(stream.read_u8().await.unwrap(), b'x');
            assert!(tokio::time::timeout(long, stream.read_u8()).await.is_err());
        });
    }
}
