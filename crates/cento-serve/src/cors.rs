//! Admits requests from web pages of other sites.
//!
//! Pages of listed origins may send requests with tokens. A browser asks first, and shows a page
//! the answer only if the answer contains the page's origin (the Fetch standard, "CORS protocol").
//! Cookies and other credentials from browsers have no effect here.

use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};

use super::caller::X_REQUEST_ID;

/// The methods and headers of permitted requests.
const METHODS: &str = "GET, POST, PATCH, DELETE";
const HEADERS: &str = "authorization, content-type, content-encoding, x-request-id";

/// The headers of an answer for pages, besides the headers that every page may read.
const EXPOSED: &str = "retry-after, x-request-id";

/// How long a browser may cache the permission, in seconds. Chromium accepts no more.
const AGE_MAX: &str = "7200";

/// The origins of permitted pages.
#[derive(Debug, Clone, Default)]
pub struct Origins(Vec<HeaderValue>);

impl Origins {
    /// Returns a list of origins such as `https://example.org` or `http://localhost:5173`.
    ///
    /// # Errors
    /// When an origin is not written as browsers write origins.
    pub fn new<'a>(origins: impl IntoIterator<Item = &'a str>) -> Result<Origins, String> {
        origins.into_iter().map(parse).collect::<Result<_, _>>().map(Origins)
    }

    /// Tells whether no origin is listed, so that foreign pages are refused.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the origin of the page behind the request, if the origin is listed.
    pub fn listed(&self, headers: &HeaderMap) -> Option<HeaderValue> {
        let origin = headers.get(header::ORIGIN)?;
        self.0.iter().find(|listed| *listed == origin).cloned()
    }

    /// Puts the origin of the page into the answer, and tells caches that answers differ by origin.
    pub fn mark(&self, origin: Option<HeaderValue>, headers: &mut HeaderMap) {
        if self.is_empty() {
            return;
        }
        headers.append(header::VARY, HeaderValue::from_static("origin"));
        if let Some(origin) = origin {
            headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
            let exposed = HeaderValue::from_static(EXPOSED);
            headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, exposed);
        }
    }
}

/// Checks an origin: a scheme, a host in lower case, and a port unless it is the default.
fn parse(text: &str) -> Result<HeaderValue, String> {
    let refused = || {
        format!(
            "`{text}` is no origin; give scheme, host and port as a browser writes them, such as \
             https://example.org, without a path and without `*`"
        )
    };
    let (scheme, authority) = text.split_once("://").ok_or_else(refused)?;
    let default = match scheme {
        "http" => ":80",
        "https" => ":443",
        _ => return Err(refused()),
    };
    let parsed: axum::http::uri::Authority = authority.parse().map_err(|_| refused())?;
    let port = &authority[parsed.host().len().min(authority.len())..];
    let is_port =
        port.is_empty() || port.strip_prefix(':').is_some_and(|port| port.parse::<u16>().is_ok());
    let is_written_so = is_port
        && port != default
        && !parsed.host().is_empty()
        && !authority.contains(['@', '*'])
        && authority == authority.to_ascii_lowercase();
    match is_written_so {
        true => HeaderValue::from_str(text).map_err(|_| refused()),
        false => Err(refused()),
    }
}

/// Returns the answer to a browser's preflight request. `None` for any other request.
pub fn preflight(method: &Method, headers: &HeaderMap) -> Option<Response> {
    let asks =
        method == Method::OPTIONS && headers.contains_key(header::ACCESS_CONTROL_REQUEST_METHOD);
    let allowed: [(HeaderName, &str); 3] = [
        (header::ACCESS_CONTROL_ALLOW_METHODS, METHODS),
        (header::ACCESS_CONTROL_ALLOW_HEADERS, HEADERS),
        (header::ACCESS_CONTROL_MAX_AGE, AGE_MAX),
    ];
    debug_assert!(
        EXPOSED.contains(X_REQUEST_ID.as_str()) && HEADERS.contains(X_REQUEST_ID.as_str())
    );
    asks.then(|| (StatusCode::NO_CONTENT, allowed).into_response())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_is_one_as_browsers_write_it() {
        for origin in [
            "https://example.org",
            "http://localhost:5173",
            "https://a.example:8443",
            "http://[::1]:8",
        ] {
            assert!(Origins::new([origin]).is_ok(), "{origin}");
        }
        for other in [
            "*",
            "null",
            "",
            "example.org",
            "https://",
            "https://*",
            "https://*.example.org",
            "https://example.org/",
            "https://example.org/app",
            "https://example.org:443",
            "http://example.org:80",
            "http://example.org:",
            "https://Example.org",
            "https://user@example.org",
            "ftp://example.org",
            "https://example.org:8443a",
            "https://:8443",
            "https://example.org\n",
        ] {
            let error = Origins::new(["https://example.org", other]).unwrap_err();
            assert!(error.contains("no origin"), "{error}");
        }
    }
}
