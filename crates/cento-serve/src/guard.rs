//! Access, time limits and logging of requests.
//!
//! Every request passes through `guard` before any other code, and every answer afterwards.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Version, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::answer;
use super::app::{App, Source};
use super::caller::{self, Peer, X_REQUEST_ID};
use super::cors;
use super::failure::Failure;
use super::tokens::Role;
use super::turns::Client;

/// Routes without a time limit.
const PATIENT: [&str; 2] = ["/v1/compact", "/v1/merge"];

/// How long to delay a refusal for lack of places.
const REFUSAL_DELAY: Duration = Duration::from_millis(300);

/// Numbers, admits, answers within the time limit, counts and logs a request.
pub async fn guard(
    state: State<Arc<App>>,
    route: Option<MatchedPath>,
    request: Request,
    next: Next,
) -> Response {
    let id = caller::id_of(request.headers());
    let mut response = caller::numbered(id.clone(), guarded(state, route, request, next)).await;
    response.headers_mut().insert(X_REQUEST_ID, id);
    response
}

async fn guarded(
    State(app): State<Arc<App>>,
    route: Option<MatchedPath>,
    mut request: Request,
    next: Next,
) -> Response {
    let started = Instant::now();
    let method = request.method().clone();
    let route = route.as_ref().map_or("none", MatchedPath::as_str).to_owned();
    app.metrics.in_flight.inc();
    let in_flight = OnDrop(|| {
        app.metrics.in_flight.dec();
    });
    let headers = request.headers();
    let origin = app.settings.cors_origins.listed(headers);
    let peer = request.extensions().get::<Peer>();
    let proxies = &app.settings.trusted_proxies;
    let client = peer.map(|peer| caller::address(*peer, headers, proxies));
    let asks = origin.as_ref().and_then(|_| cors::preflight(&method, headers));
    if let Some(address) = client {
        request.extensions_mut().insert(Client::Address(address));
    }
    let token = app.settings.tokens.known(request.headers());
    if let Some(token) = &token {
        request.extensions_mut().insert(Client::Token(token.number));
        app.metrics.known_token(&token.name);
    }
    let mut response = match (admit(&app, &request, origin.is_some()), asks) {
        (Err(failure), _) => failure.into_response(),
        (Ok(()), Some(allowed)) => allowed,
        (Ok(()), None) if PATIENT.contains(&route.as_str()) => next.run(request).await,
        (Ok(()), None) => match tokio::time::timeout(app.settings.timeout, next.run(request)).await
        {
            Ok(response) => response,
            Err(_) => Failure::timed_out().into_response(),
        },
    };
    drop(in_flight);
    if response.status() == StatusCode::TOO_MANY_REQUESTS {
        // Immediate retries would take time from requests in progress.
        tokio::time::sleep(app.settings.timeout.min(REFUSAL_DELAY)).await;
    }
    response = answer::hold(response, &app.answers).await;
    let took = started.elapsed();
    let status = response.status();
    // A client can invent methods, which must not create counters.
    let known =
        [Method::GET, Method::POST, Method::PATCH, Method::DELETE, Method::HEAD, Method::OPTIONS];
    let counted = if known.contains(&method) { method.as_str() } else { "other" };
    app.metrics.answered(&route, counted, status.as_u16(), took);
    let took_us = took.as_micros() as u64;
    let client = client.map(tracing::field::display);
    let token = token.as_ref().map(|token| &*token.name);
    let number = || caller::request_id();
    if status.is_server_error() {
        let status = status.as_u16();
        tracing::warn!(
            %method, route, status, took_us, request_id = number(), client, token, "request"
        );
    } else if app.settings.log_requests {
        let status = status.as_u16();
        tracing::info!(
            %method, route, status, took_us, request_id = number(), client, token, "request"
        );
    }
    let headers = response.headers_mut();
    app.settings.cors_origins.mark(origin, headers);
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    if app.is_draining.load(Ordering::Relaxed) {
        // A client that keeps its connection would send the next request to a closed one.
        headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    response
}

struct OnDrop<F: FnMut()>(F);

impl<F: FnMut()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// Refuses requests while the service stops, and from pages of other sites with unlisted origins.
fn admit(app: &App, request: &Request, is_listed: bool) -> Result<(), Failure> {
    let headers = request.headers();
    check_head(request)?;
    if app.stopping.is_set() {
        return Err(Failure::stopping());
    }
    let refused = |message: &str| Failure::new(StatusCode::FORBIDDEN, "foreign_site", message);
    let site = headers.get("sec-fetch-site").map(HeaderValue::as_bytes);
    let is_foreign = site.is_some_and(|site| site != b"same-origin" && site != b"none");
    // A visitor who follows a link sees this service's page, but the page with the link does not.
    let mode = headers.get("sec-fetch-mode").map(HeaderValue::as_bytes);
    let is_link = request.method() == Method::GET && mode == Some(b"navigate");
    // Behind a proxy the host name may differ, but the browser knows the site of the page.
    let is_own = site == Some(b"same-origin");
    let is_foreign = (is_foreign && !is_link) || (!is_own && has_foreign_origin(headers));
    if is_foreign && !is_listed {
        return Err(refused("requests from web pages of other sites are refused"));
    }
    // If a foreign server gives its own name to the loopback address, browsers treat its pages as
    // pages of this site. But foreign pages have no token.
    let is_open = app.is_loopback && app.settings.tokens.is_empty();
    if is_open && !headers.get(header::HOST).is_none_or(is_loopback_name) {
        return Err(refused(
            "without tokens this service accepts only the host names localhost and 127.0.0.1",
        ));
    }
    Ok(())
}

/// Headers that identify the client and the request. If a header had two values, one reader might
/// believe the first value, and another reader the last value.
const DECISIVE: [HeaderName; 7] = [
    header::HOST,
    header::AUTHORIZATION,
    header::CONTENT_TYPE,
    header::CONTENT_ENCODING,
    header::ORIGIN,
    HeaderName::from_static("sec-fetch-site"),
    HeaderName::from_static("sec-fetch-mode"),
];

/// Refuses a request with contradictory headers.
fn check_head(request: &Request) -> Result<(), Failure> {
    let headers = request.headers();
    if let Some(twice) = DECISIVE.iter().find(|name| headers.get_all(*name).iter().count() > 1) {
        return Err(Failure::bad_request(format!("the header `{twice}` occurs twice")));
    }
    let Some(host) = headers.get(header::HOST) else {
        // HTTP/1.1 requires the header, earlier versions do not.
        return match request.version() {
            Version::HTTP_11 => Err(Failure::bad_request("the header `host` is missing")),
            _ => Ok(()),
        };
    };
    let host =
        host.to_str().map_err(|_| Failure::bad_request("the header `host` is not a host name"))?;
    let uri = request.uri();
    match uri.authority() {
        Some(authority) if !is_same_host(authority.as_str(), host, uri.scheme_str()) => {
            Err(Failure::bad_request("the URL and the header `host` name different hosts"))
        }
        _ => Ok(()),
    }
}

/// Tells whether `a` and `b` are the same host and port.
fn is_same_host(a: &str, b: &str, scheme: Option<&str>) -> bool {
    let default = if scheme == Some("https") { ":443" } else { ":80" };
    let without = |host| str::strip_suffix(host, default).unwrap_or(host).to_ascii_lowercase();
    without(a) == without(b)
}

/// Tells whether the request comes from a foreign page, by a header that older browsers also send.
fn has_foreign_origin(headers: &HeaderMap) -> bool {
    let Some(origin) = headers.get(header::ORIGIN) else { return false };
    let authority = origin.to_str().ok().and_then(|origin| origin.split_once("://"));
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    authority.map(|(_, authority)| authority) != host
}

/// Tells whether the host is `localhost` or a loopback address, with or without a port.
fn is_loopback_name(host: &HeaderValue) -> bool {
    let Ok(host) = host.to_str() else { return false };
    let Ok(authority) = host.parse::<axum::http::uri::Authority>() else { return false };
    let name = authority.host();
    let address = name.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    name.eq_ignore_ascii_case("localhost") || address.is_ok_and(|address| address.is_loopback())
}

/// Admits clients with permission to read the metrics.
pub async fn monitors(state: State<Arc<App>>, request: Request, next: Next) -> Response {
    only(Role::Metrics, state, request, next).await
}

/// Admits clients with permission to search and read documents.
pub async fn readers(state: State<Arc<App>>, request: Request, next: Next) -> Response {
    only(Role::Read, state, request, next).await
}

/// Admits clients with permission to write, if the service accepts writes.
pub async fn writers(state: State<Arc<App>>, request: Request, next: Next) -> Response {
    let message = match state.source {
        Source::Own => None,
        Source::Followed(_) => Some(
            "this service follows an index that is written elsewhere; send changes to its writer, \
             whose next push brings them here",
        ),
        Source::ReadOnly => Some(
            "this service only reads its index; change it with commands, or through a service that \
             writes to it",
        ),
        Source::Others => Some(
            "this service searches several indexes as one, and writes to none of them; change them \
             with commands, or through a service of one of them",
        ),
    };
    if let Some(message) = message {
        return Failure::new(StatusCode::FORBIDDEN, "read_only", message).into_response();
    }
    only(Role::Write, state, request, next).await
}

/// Admits clients whose token has at least this role.
async fn only(wanted: Role, State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let refused =
        |message: &str| Failure::new(StatusCode::FORBIDDEN, "forbidden", message).into_response();
    match app.settings.tokens.role(request.headers()) {
        None => {
            let message = "send an `Authorization: Bearer` header with a token of this service";
            Failure::new(StatusCode::UNAUTHORIZED, "unauthorized", message).into_response()
        }
        Some(Role::Metrics) if wanted > Role::Metrics => {
            refused("this token permits reading `/metrics` only")
        }
        Some(role) if role < wanted => refused("this token permits reading only"),
        Some(_) => next.run(request).await,
    }
}
