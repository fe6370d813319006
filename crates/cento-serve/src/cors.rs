//! Requests from web pages of other sites.
//!
//! Pages of the origins that the operator lists may send requests, with tokens: a browser checks
//! first, and shows a page the answer only if that names its origin (the Fetch standard, "CORS
//! protocol"). Credentials that a browser sends by itself, such as cookies, have no effect here.

use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};

use super::caller::X_REQUEST_ID;

/// The methods, and the headers, that a page may use.
const METHODS: &str = "GET, POST, PATCH, DELETE";
const HEADERS: &str = "authorization, content-type, content-encoding, x-request-id";

/// The headers of an answer that a page may see beside those that every page may see.
const EXPOSED: &str = "retry-after, x-request-id";

/// The lifetime of the permission in a browser's cache, in seconds: the maximum that Chromium
/// accepts.
const AGE_MAX: &str = "7200";

/// The origins of pages that may send requests.
#[derive(Debug, Clone, Default)]
pub struct Origins(Vec<HeaderValue>);

impl Origins {
    /// Returns these origins, each such as `https://example.org` or `http://localhost:5173`.
    ///
    /// # Errors
    /// The first that is not an origin as browsers write it.
    pub fn new<'a>(origins: impl IntoIterator<Item = &'a str>) -> Result<Origins, String> {
        origins.into_iter().map(parse).collect::<Result<_, _>>().map(Origins)
    }

    /// Returns whether the list is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the origin of the page that sent the request, if it is listed.
    pub fn listed(&self, headers: &HeaderMap) -> Option<HeaderValue> {
        let origin = headers.get(header::ORIGIN)?;
        self.0.iter().find(|listed| *listed == origin).cloned()
    }

    /// Names the origin of the requesting page in the answer, and notes that answers differ by it.
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

/// Checks an origin: a scheme, a host in lower case, and a port if it is not that of the scheme.
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

/// Returns the answer to a browser's preflight request; `None` for other requests.
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
