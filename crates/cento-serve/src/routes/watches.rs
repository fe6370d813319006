//! `/v1/watches` and `/v1/events`

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::body::Body;
use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures_util::stream;
use tokio::time::{Instant, timeout};

use crate::answer::WrittenAnswer;
use crate::app::App;
use crate::command::Command;
use crate::failure::Failure;
use crate::matching::Matching;
use crate::readable::Parameters;
use crate::tokens::Role;
use crate::turns::{Job, client_of};
use crate::webhooks::origin_of;
use cento::runtime::Permit;
use cento_api::http::{EventsRequest, ListWatchesRequest, ListWatchesResponse, WatchRequest};
use cento_api::{Watch, WatchEvents};
use cento_collections::watch::{READ_BYTES_MAX, WatchReader, unknown};

/// The default number of watches, or of events, in an answer.
const PAGE_DEFAULT: usize = 100;

/// The maximum number of watches, or of events, in an answer.
const PAGE_MAX: usize = 1000;

/// The time between two lines that keep a stream of events open.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// How often a waiting request checks whether the service stops.
const LOOK: Duration = Duration::from_millis(500);

/// Returns the watches, if the service writes the index.
fn matching(app: &App) -> Result<&Arc<Matching>, Failure> {
    app.matching.as_ref().ok_or_else(|| {
        let message = "this service writes no index, and matches no watches; ask the service that \
                       writes it";
        Failure::new(StatusCode::FORBIDDEN, "read_only", message)
    })
}

/// Returns the reader of watches, unless there has never been a watch.
fn reader(app: &App) -> Result<Option<WatchReader>, Failure> {
    Ok(matching(app)?.reader())
}

fn limit_of(limit: Option<usize>) -> Result<usize, Failure> {
    let limit = limit.unwrap_or(PAGE_DEFAULT);
    if !(1..=PAGE_MAX).contains(&limit) {
        return Err(Failure::argument("limit", format!("`limit` must be 1 to {PAGE_MAX}")));
    }
    Ok(limit)
}

/// Returns a watch in the form for the sender of a request. The address of a webhook often suffices
/// to post to the receiver, so clients without permission to write see only the host.
fn shown(app: &App, headers: &HeaderMap, watch: Watch) -> Watch {
    if app.settings.tokens.role(headers) == Some(Role::Write) {
        return watch;
    }
    Watch { webhook: watch.webhook.as_deref().map(origin_of), ..watch }
}

/// Watch for documents that are added later and share text with a given one.
///
/// A document matches if a search with these conditions would find it. The events are read with
/// `/v1/watches/{name}/events` or `/v1/events`, and posted to the webhook, if there is one.
#[cfg_attr(test, utoipa::path(
    post,
    path = "/v1/watches",
    tag = "watches",
    security(("token" = [])),
    request_body = WatchRequest,
    responses(
        super::errors::Errors,
        (status = 200, description = "The watch: durable, and there for the next commit", body = Watch),
        (status = 409, description = "A watch has this name and another content", body = cento_api::http::ErrorBody),
    )
))]
pub async fn add_watch(
    State(app): State<Arc<App>>,
    request: Request,
) -> Result<Json<Watch>, Failure> {
    let request: WatchRequest = app.write_body(request).await?.json()?;
    if let Some(webhook) = &request.webhook {
        webhook.check()?;
        let Some(poster) = &app.settings.poster else {
            let message = "this service posts no events";
            return Err(Failure::new(StatusCode::FORBIDDEN, "not_allowed", message));
        };
        poster.check(&webhook.url).map_err(|refusal| {
            let place = format!("the webhook {}", webhook.url);
            match refusal.reason {
                Some(_) => cento::Error::input(place, refusal).into(),
                None => Failure::argument("webhook", format!("{place}: {refusal}")),
            }
        })?;
    }
    let matching = matching(&app)?.clone();
    if matching.reader().is_none() {
        app.command(Command::LogChanges).await?;
    }
    let watch = changed(&app, move || {
        matching.open()?;
        matching.add(request)
    });
    Ok(Json(watch.await?))
}

/// List the watches, page by page, in the order of their names.
#[cfg_attr(test, utoipa::path(
    get,
    path = "/v1/watches",
    tag = "watches",
    security(("token" = [])),
    params(ListWatchesRequest),
    responses(super::errors::Errors, (status = 200, description = "A page", body = ListWatchesResponse))
))]
pub async fn list_watches(
    State(app): State<Arc<App>>,
    Parameters(request): Parameters<ListWatchesRequest>,
    headers: HeaderMap,
) -> Result<Json<ListWatchesResponse>, Failure> {
    let limit = limit_of(request.limit)?;
    let Some(reader) = reader(&app)? else { return Ok(Json(ListWatchesResponse::default())) };
    let mut watches = reader.list(request.cursor.as_deref(), limit + 1);
    let has_more = watches.len() > limit;
    watches.truncate(limit);
    let cursor = watches.last().filter(|_| has_more).map(|last| last.name.clone());
    let watches = watches.into_iter().map(|watch| shown(&app, &headers, watch)).collect();
    Ok(Json(ListWatchesResponse { watches, cursor }))
}

/// Read a watch.
#[cfg_attr(test, utoipa::path(
    get,
    path = "/v1/watches/{name}",
    tag = "watches",
    security(("token" = [])),
    params(("name" = String, Path, description = "The name, percent-encoded")),
    responses(super::errors::Errors, (status = 200, description = "The watch", body = Watch))
))]
pub async fn watch(
    State(app): State<Arc<App>>,
    Path(name): Path<String>,
    headers: HeaderMap,
) -> Result<Json<Watch>, Failure> {
    let watch = reader(&app)?.and_then(|reader| reader.get(&name));
    Ok(Json(shown(&app, &headers, watch.ok_or_else(|| unknown(&name))?)))
}

/// Remove a watch; its events stay.
#[cfg_attr(test, utoipa::path(
    delete,
    path = "/v1/watches/{name}",
    tag = "watches",
    security(("token" = [])),
    params(("name" = String, Path, description = "The name, percent-encoded")),
    responses(super::errors::Errors, (status = 200, description = "The watch that was removed", body = Watch))
))]
pub async fn remove_watch(
    State(app): State<Arc<App>>,
    Path(name): Path<String>,
) -> Result<Json<Watch>, Failure> {
    let watch = reader(&app)?.and_then(|reader| reader.get(&name));
    let watch = watch.ok_or_else(|| unknown(&name))?;
    let matching = matching(&app)?.clone();
    match changed(&app, move || matching.remove(&name)).await? {
        true => Ok(Json(watch)),
        false => Err(unknown(&watch.name).into()),
    }
}

/// Read the events of a watch.
///
/// With `wait` the request waits for an event. With `Accept: text/event-stream` the answer is a
/// stream of server-sent events, which goes on until the client ends it: `id` is the cursor, and a
/// client that comes back sends the last one as `Last-Event-ID`.
#[cfg_attr(test, utoipa::path(
    get,
    path = "/v1/watches/{name}/events",
    tag = "watches",
    security(("token" = [])),
    params(("name" = String, Path, description = "The name, percent-encoded"), EventsRequest),
    responses(
        super::errors::Errors,
        (status = 200, description = "The events", content((WatchEvents = "application/json"), (String = "text/event-stream"))),
    )
))]
pub async fn watch_events(
    State(app): State<Arc<App>>,
    Path(name): Path<String>,
    Parameters(request): Parameters<EventsRequest>,
    sent: Request,
) -> Result<Response, Failure> {
    if reader(&app)?.and_then(|reader| reader.get(&name)).is_none() {
        return Err(unknown(&name).into());
    }
    read(app, Some(name), request, sent).await
}

/// Read the events of all watches.
///
/// `wait` and `Accept: text/event-stream` as for one watch.
#[cfg_attr(test, utoipa::path(
    get,
    path = "/v1/events",
    tag = "watches",
    security(("token" = [])),
    params(EventsRequest),
    responses(
        super::errors::Errors,
        (status = 200, description = "The events", content((WatchEvents = "application/json"), (String = "text/event-stream"))),
    )
))]
pub async fn events(
    State(app): State<Arc<App>>,
    Parameters(request): Parameters<EventsRequest>,
    sent: Request,
) -> Result<Response, Failure> {
    read(app, None, request, sent).await
}

async fn read(
    app: Arc<App>,
    watch: Option<String>,
    request: EventsRequest,
    sent: Request,
) -> Result<Response, Failure> {
    let (client, headers) = (client_of(&sent), sent.into_parts().0.headers);
    let accept = headers.get(header::ACCEPT).and_then(|accept| accept.to_str().ok());
    let is_stream = accept.is_some_and(|accept| accept.split(',').any(is_event_stream));
    let last = match headers.get("last-event-id").filter(|_| is_stream) {
        Some(last) => {
            Some(last.to_str().ok().and_then(|last| last.parse().ok()).ok_or_else(|| {
                let what = "the header `Last-Event-ID` is no cursor, a whole number";
                Failure::bad_request(what)
            })?)
        }
        None => None,
    };
    let limit = limit_of(request.limit)?;
    let mut reading = LogReader {
        subscriber: matching(&app)?.subscribe(),
        after: last.or(request.after).unwrap_or(0),
        turn: Some(app.event_reading.enter(client)?),
        room: None,
        app,
        watch,
        limit,
    };
    if is_stream {
        return Ok(stream(reading));
    }
    let wait = Duration::from_secs(request.wait.unwrap_or(0).into());
    let until = Instant::now() + wait.min(reading.app.settings.timeout / 2);
    loop {
        let found = reading.next(WrittenAnswer::of).await?;
        let is_over = Instant::now() >= until || reading.is_stopping();
        // A waiting client learns at once of missed events, because later reads begin elsewhere.
        if !found.is_empty || found.missed || is_over {
            return Ok(found.written.into_response());
        }
        reading.changed(until.saturating_duration_since(Instant::now())).await;
    }
}

/// Changes the watches on a separate thread. The change may wait for the matching of a commit,
/// which searches need not wait for.
async fn changed<T: Send + 'static>(
    app: &Arc<App>,
    change: impl FnOnce() -> cento::Result<T> + Send + 'static,
) -> Result<T, Failure> {
    let _place = app.write_place()?;
    let changed = tokio::task::spawn_blocking(change);
    // The panic has been logged already.
    changed.await.map_err(|_| Failure::internal())?.map_err(Failure::from)
}

fn is_event_stream(accepted: &str) -> bool {
    accepted.split(';').next().is_some_and(|kind| kind.trim() == "text/event-stream")
}

/// A reader of events with its place in the log.
struct LogReader {
    app: Arc<App>,
    watch: Option<String>,
    after: u64,
    limit: usize,
    subscriber: tokio::sync::watch::Receiver<u64>,
    /// The place in the queue of readers. `None` after a failure.
    turn: Option<Job>,
    /// The room of the part of a stream that the client has not taken yet.
    room: Option<Permit>,
}

/// Events that were read and written.
struct WrittenEvents<T> {
    written: T,
    is_empty: bool,
    missed: bool,
}

impl LogReader {
    /// Reads and writes the next events on a separate thread, in turn with other clients.
    async fn next<T: Send + 'static>(
        &mut self,
        write: impl FnOnce(&WatchEvents) -> T + Send + 'static,
    ) -> Result<WrittenEvents<T>, Failure> {
        self.subscriber.borrow_and_update();
        // A removed watch is unknown, which ends its stream.
        let reader = reader(&self.app)?;
        let (after, watch, limit) = (self.after, self.watch.clone(), self.limit);
        let turn = self.turn.take().ok_or_else(Failure::internal)?;
        let found = self.app.with_turn(turn, move |stop, mut turn| {
            let found = match reader {
                Some(reader) => {
                    turn.wait(&stop)?;
                    reader.events(after, watch.as_deref(), limit, &stop)?
                }
                None => WatchEvents::default(),
            };
            let WatchEvents { next, missed, .. } = found;
            let is_empty = found.events.is_empty();
            let written = WrittenEvents { written: write(&found), is_empty, missed };
            turn.give_away();
            Ok((written, next, turn))
        });
        let (written, next, turn) = found.await?;
        (self.after, self.turn) = (next, Some(turn));
        Ok(written)
    }

    fn is_stopping(&self) -> bool {
        self.app.stopping.is_set()
    }

    /// Waits for new events or the end of the service, at most `time`.
    async fn changed(&mut self, time: Duration) {
        let until = Instant::now() + time;
        while Instant::now() < until && !self.is_stopping() {
            let step = LOOK.min(until.saturating_duration_since(Instant::now()));
            if timeout(step, self.subscriber.changed()).await.is_ok() {
                return;
            }
        }
    }

    /// Returns the next part of a stream, or `None` at the end.
    async fn part(&mut self) -> Option<Bytes> {
        self.room = None;
        // Many clients may take their parts slowly, so the room of a part comes before the part.
        while self.room.is_none() && !self.is_stopping() {
            match self.app.answers.enter(READ_BYTES_MAX) {
                Ok(room) => self.room = Some(room),
                Err(_) => tokio::time::sleep(LOOK).await,
            }
        }
        if self.is_stopping() {
            return None;
        }
        let found = self.next(lines_of).await.ok()?;
        let mut text = found.written;
        if let Some(room) = &mut self.room {
            room.shrink_to(text.len());
        }
        if text.is_empty() {
            self.changed(KEEP_ALIVE).await;
            text += ":\n\n";
        }
        Some(text.into())
    }
}

/// Writes events as server-sent events.
fn lines_of(found: &WatchEvents) -> String {
    let mut text = String::new();
    if found.missed {
        text += "event: missed\ndata: {}\n\n";
    }
    for event in &found.events {
        let json = serde_json::to_string(event).expect("an event is JSON");
        text += &format!("id: {}\ndata: {json}\n\n", event.cursor);
    }
    text
}

/// Streams events as they occur.
fn stream(reading: LogReader) -> Response {
    let parts = stream::unfold(reading, |mut reading| async move {
        let part = reading.part().await?;
        Some((Ok::<Bytes, Infallible>(part), reading))
    });
    let headers =
        [(header::CONTENT_TYPE, "text/event-stream"), (header::CACHE_CONTROL, "no-store")];
    (headers, Body::from_stream(parts)).into_response()
}
