//! The web page.

use std::sync::Arc;

use axum::Router;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use axum::routing::get;

use crate::serve::app::App;

/// The page may load and ask nothing but this service.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
                      img-src 'self' data:; base-uri 'none'; form-action 'none'; \
                      frame-ancestors 'none'";

/// The files of the page, which are part of the program.
pub fn routes() -> Router<Arc<App>> {
    let html = "text/html; charset=utf-8";
    let script = "text/javascript; charset=utf-8";
    let style = "text/css; charset=utf-8";
    Router::new()
        .route("/", get(|| file(html, include_str!("../page/index.html"))))
        .route("/page/style.css", get(|| file(style, include_str!("../page/style.css"))))
        .route("/page/main.js", get(|| file(script, include_str!("../page/main.js"))))
}

async fn file(kind: &'static str, text: &'static str) -> Response {
    let headers = [
        (header::CONTENT_TYPE, kind),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        // A newer program has a newer page.
        (header::CACHE_CONTROL, "no-cache"),
    ];
    (headers, text).into_response()
}
