//! Who is listened to?
//!
//! Connections up to a number; what comes beyond is turned away at once. A client that does not send
//! its request, or does not take its answer, is cut off.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::Router;
use axum::http::Request;
use axum::response::Response;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_io_timeout::TimeoutStream;

use super::app::App;
use super::turns::Client;

/// The head of a request arrives within this time, counted from the end of the last one, or within the
/// time that a request may take if that is less; so is it with answers.
const HEAD_TIMEOUT: Duration = Duration::from_secs(20);

/// A client takes some of its answer within this time.
const WRITE_TIMEOUT: Duration = Duration::from_secs(20);

/// The head of a request and what is read ahead of it.
const BUFFER_BYTES_MAX: usize = 64 << 10;

/// So often it is seen that the service is to stop.
const STOP_INTERVAL: Duration = Duration::from_millis(20);

/// What a client hears that is one too many.
const TURNED_AWAY: &[u8] =
    b"HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\n\
    Content-Length: 74\r\nRetry-After: 1\r\nConnection: close\r\n\r\n\
    {\"error\":{\"code\":\"unavailable\",\"message\":\"too many connections are open\"}}";

/// Answers connections until `stop`, then finishes what has been begun, within `grace`.
pub async fn serve(
    listener: TcpListener,
    router: Router,
    app: Arc<App>,
    stop: Arc<AtomicBool>,
    grace: Duration,
) {
    let graceful = GracefulShutdown::new();
    let places = Arc::new(Semaphore::new(app.settings.connections_max));
    loop {
        let (stream, address) = tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok(accepted) => accepted,
                Err(error) => {
                    // Such as too many open files: that passes.
                    tracing::warn!(%error, "a connection could not be accepted");
                    tokio::time::sleep(STOP_INTERVAL).await;
                    continue;
                }
            },
            () = stopped(&stop) => break,
        };
        let Ok(place) = places.clone().try_acquire_owned() else {
            app.metrics.turned_away.inc();
            turn_away(&stream);
            continue;
        };
        // Answers are written whole: waiting for more to send would only delay them.
        let _ = stream.set_nodelay(true);
        let mut stream = TimeoutStream::new(stream);
        stream.set_write_timeout(Some(WRITE_TIMEOUT.min(app.settings.timeout)));
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEAD_TIMEOUT.min(app.settings.timeout))
            .max_buf_size(BUFFER_BYTES_MAX)
            .serve_connection(TokioIo::new(Box::pin(stream)), answering(&router, address));
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
    if tokio::time::timeout(grace, graceful.shutdown()).await.is_err() {
        tracing::warn!("some requests were not finished within the grace period");
    }
}

/// Answers the requests of a connection; they know whose it is.
fn answering(
    router: &Router,
    address: SocketAddr,
) -> impl Service<Request<Incoming>, Response = Response, Error = Infallible, Future: Send + 'static>
+ use<> {
    let service = TowerToHyperService::new(router.clone());
    let client = Client::Address(address.ip());
    service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(client);
        service.call(request)
    })
}

async fn stopped(stop: &AtomicBool) {
    while !stop.load(Ordering::Relaxed) {
        tokio::time::sleep(STOP_INTERVAL).await;
    }
}

/// Says so, if the client's buffer takes it at once.
fn turn_away(stream: &TcpStream) {
    let _ = stream.try_write(TURNED_AWAY);
}
