//! Routes of the service.
//!
//! Routes of a kind share a file. Tests derive the document of the API from the same functions and
//! compare it with the file that the service sends.

mod compare;
mod documents;
#[cfg(test)]
mod errors;
mod families;
mod grouping;
mod maintenance;
#[cfg(test)]
pub mod openapi;
mod page;
mod pairs;
mod report;
mod search;
mod shards;
mod status;
mod texts;
mod watches;
mod withdrawals;

use std::sync::Arc;

use axum::Router;
use axum::extract::Request;
use axum::handler::Handler;
use axum::http::{self, Method};
use axum::middleware::{Next, from_fn, from_fn_with_state, map_response};
use axum::response::{IntoResponse, Response};
use axum::routing::{self, MethodRouter};
use tower_http::catch_panic::CatchPanicLayer;

use super::app::App;
use super::caller::request_id;
use super::failure::Failure;
use super::guard;

/// A route of the API.
struct Route {
    #[cfg_attr(
        not(test),
        expect(dead_code, reason = "`handler` knows it; the test of the document asks for it")
    )]
    method: Method,
    path: &'static str,
    handler: MethodRouter<Arc<App>>,
    /// Whether the handler reads the parameters after `?`, and refuses unknown parameters.
    has_parameters: bool,
}

impl Route {
    fn with_parameters(self) -> Route {
        Route { has_parameters: true, ..self }
    }
}

/// Refuses parameters after `?` for a route without parameters. Otherwise the service would carry
/// out a request with a useless `?dry_run=true`.
async fn without_parameters(request: Request, next: Next) -> Result<Response, Failure> {
    let query = request.uri().query().unwrap_or_default();
    let Some(parameter) = query.split('&').find(|parameter| !parameter.is_empty()) else {
        return Ok(next.run(request).await);
    };
    let name = parameter.split('=').next().unwrap_or(parameter);
    let what = format!(
        "`{name}`: this route has no parameters in its address; see /openapi.json for the fields \
         of its body"
    );
    Err(Failure::argument(name.to_owned(), what))
}

fn get<H: Handler<T, Arc<App>>, T: 'static>(path: &'static str, handler: H) -> Route {
    Route { method: Method::GET, path, handler: routing::get(handler), has_parameters: false }
}

fn post<H: Handler<T, Arc<App>>, T: 'static>(path: &'static str, handler: H) -> Route {
    Route { method: Method::POST, path, handler: routing::post(handler), has_parameters: false }
}

fn patch<H: Handler<T, Arc<App>>, T: 'static>(path: &'static str, handler: H) -> Route {
    Route { method: Method::PATCH, path, handler: routing::patch(handler), has_parameters: false }
}

fn delete<H: Handler<T, Arc<App>>, T: 'static>(path: &'static str, handler: H) -> Route {
    Route { method: Method::DELETE, path, handler: routing::delete(handler), has_parameters: false }
}

/// The routes for clients with permission to read.
fn readers() -> Vec<Route> {
    vec![
        post("/v1/search", search::search),
        post("/v1/shard/frequencies", shards::shard_frequencies),
        post("/v1/shard/candidates", shards::shard_candidates),
        post("/v1/shard/spans", shards::shard_spans),
        post("/v1/compare", compare::compare),
        post("/v1/passages", compare::passages),
        post("/v1/pairs", pairs::pairs),
        post("/v1/pairs/report", pairs::report),
        post("/v1/families", families::of_passages),
        post("/v1/lineage", families::of_documents),
        post("/v1/report", report::report),
        post("/v1/texts", texts::texts),
        post("/v1/grouping", grouping::grouping),
        get("/v1/documents", documents::list).with_parameters(),
        get("/v1/documents/{id}", documents::stored),
        get("/v1/watches", watches::list_watches).with_parameters(),
        get("/v1/watches/{name}", watches::watch),
        get("/v1/watches/{name}/events", watches::watch_events).with_parameters(),
        get("/v1/events", watches::events).with_parameters(),
        get("/v1/withdrawals", withdrawals::list),
        get("/v1/stats", status::stats),
    ]
}

/// The routes for monitoring systems.
fn monitors() -> Vec<Route> {
    // Monitoring systems may add parameters.
    vec![get("/metrics", status::metrics).with_parameters()]
}

/// The routes for clients with permission to write.
fn writers() -> Vec<Route> {
    vec![
        post("/v1/documents", documents::add).with_parameters(),
        patch("/v1/documents/{id}", documents::patch).with_parameters(),
        delete("/v1/documents/{id}", documents::remove_one).with_parameters(),
        post("/v1/remove", documents::remove).with_parameters(),
        post("/v1/watches", watches::add_watch),
        delete("/v1/watches/{name}", watches::remove_watch),
        post("/v1/commit", maintenance::commit),
        post("/v1/compact", maintenance::compact),
        post("/v1/merge", maintenance::merge),
        post("/v1/withdrawals", withdrawals::withdraw),
        post("/v1/withdrawals/forget", withdrawals::forget),
    ]
}

/// The routes for every client.
fn everybody() -> Vec<Route> {
    vec![
        get("/healthz", status::healthz).with_parameters(),
        get("/readyz", status::readyz).with_parameters(),
        get("/openapi.json", status::openapi).with_parameters(),
    ]
}

fn routed(routes: Vec<Route>) -> Router<Arc<App>> {
    routes.into_iter().fold(Router::new(), |router, route| {
        let handler = match route.has_parameters {
            true => route.handler,
            false => route.handler.route_layer(from_fn(without_parameters)),
        };
        router.route(route.path, handler)
    })
}

/// Returns the router of the service, with its guards.
pub fn router(app: Arc<App>) -> Router {
    let readers = routed(readers()).route_layer(from_fn_with_state(app.clone(), guard::readers));
    let writers = routed(writers()).route_layer(from_fn_with_state(app.clone(), guard::writers));
    let monitors = routed(monitors()).route_layer(from_fn_with_state(app.clone(), guard::monitors));
    routed(everybody())
        .merge(monitors)
        .merge(readers)
        .merge(writers)
        .merge(page::routes())
        .fallback(|| async {
            Failure::new(
                http::StatusCode::NOT_FOUND,
                "no_such_route",
                "no such route; see /openapi.json",
            )
        })
        .method_not_allowed_fallback(|| async {
            let message = "the route does not allow this method; see /openapi.json";
            Failure::new(http::StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", message)
        })
        .layer(map_response(explain))
        .layer(CatchPanicLayer::custom(|_| {
            tracing::error!(
                request_id = request_id(),
                "a request triggered a defect; please report it"
            );
            Failure::internal().into_response()
        }))
        .layer(from_fn_with_state(app.clone(), guard::guard))
        .with_state(app)
}

/// Converts plain refusals of axum, such as of an invalid parameter, to JSON.
async fn explain(response: Response) -> Response {
    let is_plain = response
        .headers()
        .get(http::header::CONTENT_TYPE)
        .is_some_and(|kind| kind.as_bytes().starts_with(b"text/plain"));
    if !response.status().is_client_error() || !is_plain {
        return response;
    }
    let status = response.status();
    let body = axum::body::to_bytes(response.into_body(), 4096).await.unwrap_or_default();
    Failure::new(status, "bad_request", String::from_utf8_lossy(&body)).into_response()
}
