//! The errors of every route, for the document of the API.

use std::collections::BTreeMap;

use utoipa::openapi::{ContentBuilder, Ref, RefOr, Response, ResponseBuilder};
use utoipa::{IntoResponses, ToSchema};

use cento_api::http::ErrorBody;

/// The errors that any route of the API may return. A route with its own description of an error
/// must list [`Errors`] first, because a later description replaces an earlier description.
pub struct Errors;

impl IntoResponses for Errors {
    fn responses() -> BTreeMap<String, RefOr<Response>> {
        let described = [
            ("400", "Invalid request."),
            ("401", "The token is missing or unknown."),
            (
                "403",
                "The token does not permit this, or the request comes from a page of another site.",
            ),
            ("404", "No such document, watch or route."),
            ("405", "Method not allowed on this route."),
            ("408", "The request exceeded the time limit."),
            ("409", "Another change came first; try again."),
            ("413", "The body or its number of records is too large."),
            ("415", "The route does not accept this content type."),
            ("429", "Too many requests; try again after `Retry-After` seconds."),
            ("500", "Internal error; the log of the service has the details."),
            ("503", "The service is stopping or cannot write."),
            ("507", "The disk of the index is full."),
        ];
        let schema = Ref::from_schema_name(ErrorBody::name());
        let response = |description: &str| {
            let content = ContentBuilder::new().schema(Some(schema.clone())).build();
            ResponseBuilder::new()
                .description(description)
                .content("application/json", content)
                .build()
                .into()
        };
        described.into_iter().map(|(status, what)| (status.to_owned(), response(what))).collect()
    }
}
