//! Accepts and limits connections.
//!
//! Connections beyond the maximum number are turned away immediately. A client is cut off if it
//! does not send its request, or does not take its answer.

mod pace;

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use cento::Stop;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::TokioIo;
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_io_timeout::TimeoutStream;

use super::app::App;
use super::caller::Peer;
use pace::{Pace, PacedStream};

/// How long the head of a request may take to arrive. If the time limit of a request is shorter,
/// that limit applies. The same holds for answers.
const HEAD_TIMEOUT: Duration = Duration::from_secs(20);

/// How long a client may go without accepting a part of the answer.
const WRITE_TIMEOUT: Duration = Duration::from_secs(20);

/// The maximum size of the head of a request, and of the bytes read ahead.
const BUFFER_BYTES_MAX: usize = 64 << 10;

/// How often to check whether the service should stop.
const STOP_INTERVAL: Duration = Duration::from_millis(20);

/// The answer to a client beyond the maximum number of connections.
const TURNED_AWAY: &[u8] =
    b"HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\n\
    Content-Length: 74\r\nRetry-After: 1\r\nConnection: close\r\n\r\n\
    {\"error\":{\"code\":\"unavailable\",\"message\":\"too many connections are open\"}}";

/// Answers connections until the service stops. Then finishes requests in progress within
/// `shutdown_timeout`.
pub async fn serve(
    listener: TcpListener,
    router: Router,
    app: Arc<App>,
    shutdown_timeout: Duration,
) {
    let graceful = GracefulShutdown::new();
    let places = Arc::new(Semaphore::new(app.settings.connections_max));
    loop {
        let (stream, address) = tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok(accepted) => accepted,
                Err(error) => {
                    // The error may be temporary, such as too many open files.
                    tracing::warn!(%error, "a connection could not be accepted");
                    tokio::time::sleep(STOP_INTERVAL).await;
                    continue;
                }
            },
            () = stopped(&app.stopping) => break,
        };
        let Ok(place) = places.clone().try_acquire_owned() else {
            app.metrics.turned_away.inc();
            turn_away(&stream);
            continue;
        };
        // Waiting for more bytes would only delay answers, because an answer is written whole.
        let _ = stream.set_nodelay(true);
        let mut stream = TimeoutStream::new(stream);
        stream.set_write_timeout(Some(WRITE_TIMEOUT.min(app.settings.timeout)));
        let head_max = HEAD_TIMEOUT.min(app.settings.timeout);
        let pace = Pace::new(head_max, app.settings.idle_timeout);
        let stream = PacedStream::new(Box::pin(stream), pace.clone());
        let answers = TowerToHyperService::new(router.clone());
        let service = service_fn(move |mut request: hyper::Request<Incoming>| {
            pace.begin();
            request.extensions_mut().insert(Peer(address));
            let (pace, answer) = (pace.clone(), answers.call(request));
            async move {
                let answer = answer.await?;
                Ok::<_, Infallible>(answer.map(|body| pace.until_the_end_of(body)))
            }
        });
        let connection = http1::Builder::new()
            .max_buf_size(BUFFER_BYTES_MAX)
            .serve_connection(TokioIo::new(stream), service);
        let connection = graceful.watch(connection);
        let metrics = app.metrics.clone();
        metrics.connections.inc();
        tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!(%error, "a connection ended early");
            }
            metrics.connections.dec();
            drop(place);
        });
    }
    drop(listener);
    if tokio::time::timeout(shutdown_timeout, graceful.shutdown()).await.is_err() {
        tracing::warn!("some requests were not finished before the shutdown timeout");
    }
}

async fn stopped(stop: &Stop) {
    while !stop.is_set() {
        tokio::time::sleep(STOP_INTERVAL).await;
    }
}

/// Sends the refusal, unless the client's buffer is full. Waiting would block other clients.
fn turn_away(stream: &TcpStream) {
    let _ = stream.try_write(TURNED_AWAY);
}
