//! Failures as clients see them.
//!
//! A failure has a status, a code for programs, and a sentence. If only the operator can repair the
//! cause, the log has all details, and the answer refers to the log without any path.

use std::borrow::Cow;

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};

use super::caller::request_id;
use cento::{Error, Reason};
use cento_api::http::{ErrorBody, ErrorInfo};

/// How many seconds a refused client should wait.
const RETRY_AFTER_SECONDS: u32 = 1;

/// The accepted encodings, for the header `Accept-Encoding` of a refusal.
const ENCODINGS_ACCEPTED: &str = "gzip, zstd";

/// Why a request was not answered as requested.
#[derive(Debug, Clone)]
pub struct Failure {
    pub status: StatusCode,
    pub code: &'static str,
    pub message: String,
    /// What the code is about: an argument, a feature or a field.
    detail: Option<String>,
}

impl Failure {
    pub fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> Failure {
        Failure { status, code, message: message.into(), detail: None }
    }

    /// The request makes no sense, for example because the body is no JSON or lacks a field.
    pub fn bad_request(message: impl Into<String>) -> Failure {
        Failure::new(StatusCode::BAD_REQUEST, "bad_request", message)
    }

    /// A field of the request cannot be used.
    pub fn argument(argument: impl Into<Cow<'static, str>>, message: impl Into<String>) -> Failure {
        Failure::from(Error::argument(argument, message))
    }

    /// Returns a failure with the code and the subject of `reason`.
    pub fn of_reason(status: StatusCode, reason: Reason<'_>, message: String) -> Failure {
        let detail = reason.detail().map(str::to_owned);
        Failure { status, code: reason.code(), message, detail }
    }

    /// Adds the part of the request to the message.
    pub fn at(self, part: &str) -> Failure {
        Failure { message: format!("`{part}`: {}", self.message), ..self }
    }

    /// The request exceeds a limit of this service.
    pub fn too_large(message: impl Into<String>) -> Failure {
        Failure::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", message)
    }

    /// The route does not accept bodies of this form.
    pub fn unsupported(message: &str) -> Failure {
        Failure::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type", message)
    }

    /// The service has no capacity at the moment.
    pub fn busy(message: impl Into<String>) -> Failure {
        Failure::new(StatusCode::TOO_MANY_REQUESTS, "busy", message)
    }

    pub fn timed_out() -> Failure {
        let message = "the request exceeded the time limit of this service";
        Failure::new(StatusCode::REQUEST_TIMEOUT, "timeout", message)
    }

    /// The service cannot answer at the moment.
    pub fn unavailable(message: impl Into<String>) -> Failure {
        Failure::new(StatusCode::SERVICE_UNAVAILABLE, "unavailable", message)
    }

    pub fn stopping() -> Failure {
        Failure::unavailable("the service is stopping")
    }

    /// The last write failed, and new changes are refused until writing succeeds.
    pub fn not_writing() -> Failure {
        Failure::unavailable(
            "the index cannot be written at present, the log of the service says why; what was \
             accepted before is kept and written as soon as possible, nothing new is accepted \
             until then",
        )
    }

    /// A defect, or a problem for the operator.
    pub fn internal() -> Failure {
        let message = "internal error; the log of the service has the details";
        Failure::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", message)
    }

    /// A document triggers a defect, so the client should not send the document again.
    pub fn poisonous(id: &str) -> Failure {
        let message = format!(
            "the document `{id}` triggers a defect in cento and was refused; do not send it again, \
             and please report it"
        );
        Failure::new(StatusCode::INTERNAL_SERVER_ERROR, "poisonous_document", message)
    }

    /// Returns the body of the answer.
    pub fn body(&self) -> ErrorBody {
        let (code, message) = (self.code.to_owned(), self.message.clone());
        let none = ErrorInfo {
            code,
            message,
            argument: None,
            feature: None,
            field: None,
            request_id: None,
        };
        let detail = self.detail.clone();
        let error = match Reason::of_code(self.code, None) {
            Reason::InvalidArgument { .. } => ErrorInfo { argument: detail, ..none },
            Reason::Unsupported { .. } => ErrorInfo { feature: detail, ..none },
            Reason::MissingField { .. } => ErrorInfo { field: detail, ..none },
            _ => none,
        };
        ErrorBody { error }
    }
}

/// Returns the status for an error that clients may see unchanged. Returns `None` if the error
/// contains a path of this machine, or only the operator can repair the cause.
fn told(error: &Error) -> Option<StatusCode> {
    let is_of_request = matches!(
        error,
        Error::InvalidArgument { .. }
            | Error::Spec { .. }
            | Error::Input { .. }
            | Error::UnknownId { .. }
            | Error::Memory { .. }
            | Error::Conflict { .. }
    );
    is_of_request.then(|| match error.reason() {
        Reason::UnknownId => StatusCode::NOT_FOUND,
        Reason::Busy => StatusCode::TOO_MANY_REQUESTS,
        Reason::MemoryLimit => StatusCode::PAYLOAD_TOO_LARGE,
        Reason::Conflict(_) | Reason::IdTaken | Reason::Withdrawn => StatusCode::CONFLICT,
        _ => StatusCode::BAD_REQUEST,
    })
}

impl From<&Error> for Failure {
    fn from(error: &Error) -> Failure {
        if let Some(status) = told(error) {
            return Failure::of_reason(status, error.reason(), error.to_string());
        }
        match error.reason() {
            // The guard cancels a request after its time, or a client hangs up.
            Reason::Cancelled => Failure::timed_out(),
            reason @ Reason::Damaged => {
                tracing::error!(%error, request_id = request_id(), "the index is damaged");
                let message = "a file of the index is damaged; the log of the service names it";
                Failure::of_reason(StatusCode::INTERNAL_SERVER_ERROR, reason, message.into())
            }
            // An index without texts is a choice, not a fault of the service. The message must not
            // contain the path.
            reason @ Reason::NoTexts => {
                let what = match error {
                    Error::Index { what, .. } => what.as_str(),
                    _ => "it stores no texts",
                };
                let message = format!("the index of the service: {what}");
                Failure::of_reason(StatusCode::CONFLICT, reason, message)
            }
            reason @ Reason::StorageFull => {
                tracing::error!(%error, request_id = request_id(), "the disk is full");
                let message = "the disk of the index is full; send this again when there is space";
                Failure::of_reason(StatusCode::INSUFFICIENT_STORAGE, reason, message.into())
            }
            _ => {
                tracing::error!(%error, request_id = request_id(), "internal error");
                Failure::internal()
            }
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure::from(&error)
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let mut body = self.body();
        body.error.request_id = request_id();
        let mut response = (self.status, axum::Json(body)).into_response();
        let headers = response.headers_mut();
        match self.status {
            StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE => {
                headers.insert(header::RETRY_AFTER, RETRY_AFTER_SECONDS.into());
            }
            StatusCode::UNAUTHORIZED => {
                headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            }
            StatusCode::UNSUPPORTED_MEDIA_TYPE => {
                headers
                    .insert(header::ACCEPT_ENCODING, HeaderValue::from_static(ENCODINGS_ACCEPTED));
            }
            _ => {}
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cento::{ConflictKind, Corruption, Refusal};
    use std::io;

    #[test]
    fn every_kind_of_error_has_a_code_of_its_own() {
        let check = |error: Error, status: u16, code: &str| {
            let failure = Failure::from(&error);
            assert_eq!((failure.status.as_u16(), failure.code), (status, code), "{error}");
            failure
        };
        let limit = check(Error::argument("limit", "no"), 400, "invalid_argument");
        assert_eq!(limit.body().error.argument.as_deref(), Some("limit"));
        assert_eq!(
            check(Error::arguments("no"), 400, "invalid_argument").body().error.argument,
            None
        );
        check(Error::spec("winow", "no such scheme"), 400, "invalid_spec");
        let missing = Refusal::unsupported("it", "code-all", "cento");
        let missing = check(Error::spec("code(language=go)", missing), 400, "unsupported");
        assert_eq!(missing.body().error.feature.as_deref(), Some("code-all"));
        check(Error::input("a", "no"), 400, "invalid_input");
        let nameless = Refusal::new(Reason::MissingField { field: "text" }, "there is no `text`");
        let nameless = check(Error::input("a", nameless), 400, "missing_field");
        assert_eq!(nameless.body().error.field.as_deref(), Some("text"));
        check(Error::input("a", Refusal::new(Reason::IdTaken, "no")), 409, "id_taken");
        check(Error::UnknownId { id: "a".into() }, 404, "unknown_id");
        // Clients must not see paths of this machine.
        let told = check(Error::index("/secret", Reason::NoTexts, "no"), 409, "no_texts");
        assert_eq!(told.message, "the index of the service: no");
        let told = check(Error::index("/secret", Reason::Unsuitable, "no"), 500, "internal");
        assert!(!told.message.contains("secret"));
        check(Error::Cancelled, 408, "timeout");
        check(Error::conflict(ConflictKind::Writer, "another was first"), 409, "conflict");
        check(Corruption::new("a.sig", "header", 0, "cut").into(), 500, "damaged");
        let told = check(Error::internal("/secret/place", "it panicked"), 500, "internal");
        assert!(!told.message.contains("secret") && !told.message.contains("panicked"));
        // An answer says how long to wait only if a retry can help. A defect would occur again.
        for (failure, is_told) in [(told, false), (Failure::unavailable("no"), true)] {
            let headers = failure.into_response().headers().clone();
            assert_eq!(headers.contains_key(header::RETRY_AFTER), is_told);
        }
    }

    #[test]
    fn a_full_disk_is_known_by_its_kind_and_not_by_words() {
        let of = |source: io::Error| Failure::from(&Error::io("write", "a.sig", source)).code;
        for kind in [io::ErrorKind::StorageFull, io::ErrorKind::QuotaExceeded] {
            assert_eq!(of(kind.into()), "storage_full");
            let nested = Error::io("write", "spool", kind.into());
            assert_eq!(of(io::Error::other(nested)), "storage_full");
        }
        assert_eq!(of(io::Error::other("No space left on device")), "internal");
    }
}
