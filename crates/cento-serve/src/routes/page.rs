//! The page for searches in a browser.

use std::sync::Arc;

use axum::Router;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use axum::routing::get;

use crate::app::App;

/// The page may load and request nothing except from this service.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
                      img-src 'self' data:; base-uri 'none'; form-action 'none'; \
                      frame-ancestors 'none'";

const HTML: &str = "text/html; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";

/// The files of the page, which are part of the program: path, type, content.
const FILES: [(&str, &str, &str); 20] = [
    ("/", HTML, include_str!("../page/index.html")),
    ("/page/style.css", STYLE, include_str!("../page/style.css")),
    ("/page/main.js", SCRIPT, include_str!("../page/main.js")),
    ("/page/api.js", SCRIPT, include_str!("../page/api.js")),
    ("/page/difference.js", SCRIPT, include_str!("../page/difference.js")),
    ("/page/dom.js", SCRIPT, include_str!("../page/dom.js")),
    ("/page/files.js", SCRIPT, include_str!("../page/files.js")),
    ("/page/graph.js", SCRIPT, include_str!("../page/graph.js")),
    ("/page/submissions.js", SCRIPT, include_str!("../page/submissions.js")),
    ("/page/layout.js", SCRIPT, include_str!("../page/layout.js")),
    ("/page/pairs.js", SCRIPT, include_str!("../page/pairs.js")),
    ("/page/pairs_panel.js", SCRIPT, include_str!("../page/pairs_panel.js")),
    ("/page/registry.js", SCRIPT, include_str!("../page/registry.js")),
    ("/page/search.js", SCRIPT, include_str!("../page/search.js")),
    ("/page/sides.js", SCRIPT, include_str!("../page/sides.js")),
    ("/page/table.js", SCRIPT, include_str!("../page/table.js")),
    ("/page/task.js", SCRIPT, include_str!("../page/task.js")),
    ("/page/text.js", SCRIPT, include_str!("../page/text.js")),
    ("/page/traced.js", SCRIPT, include_str!("../page/traced.js")),
    ("/page/verify.js", SCRIPT, include_str!("../page/verify.js")),
];

/// The routes of the page.
pub fn routes() -> Router<Arc<App>> {
    FILES.into_iter().fold(Router::new(), |router, (path, kind, text)| {
        router.route(path, get(move || file(kind, text)))
    })
}

async fn file(kind: &'static str, text: &'static str) -> Response {
    let headers = [
        (header::CONTENT_TYPE, kind),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        // Browsers must check again, because a newer program has a newer page.
        (header::CACHE_CONTROL, "no-cache"),
    ];
    (headers, text).into_response()
}
