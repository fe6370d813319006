//! Schemas of bodies, where the Rust types cannot express a rule.

use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{
    KnownFormat, ObjectBuilder, OneOfBuilder, Schema, SchemaFormat, Type,
};
use utoipa::{PartialSchema, ToSchema};

use crate::MaxDf;

/// Returns the schema of the id of an added document.
pub fn document_id() -> Schema {
    let text = ObjectBuilder::new()
        .schema_type(Type::String)
        .min_length(Some(1))
        .max_length(Some(1024))
        .pattern(Some(r"^[^\x00-\x1f\x7f-\x9f]*$"));
    let number = ObjectBuilder::new()
        .schema_type(Type::Integer)
        .format(Some(SchemaFormat::KnownFormat(KnownFormat::Int64)))
        .minimum(Some(i64::MIN))
        .maximum(Some(u64::MAX));
    OneOfBuilder::new()
        .item(text)
        .item(number)
        .description(Some(
            "The caller's id, of at most 1024 bytes: a stored document with the same id is \
             replaced. A whole number is taken for its decimal digits.",
        ))
        .build()
        .into()
}

impl PartialSchema for MaxDf {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(Type::String)
            .description(Some("A number of documents, or a share of all documents."))
            .pattern(Some(r"^(default|[0-9]{1,19}|0?\.[0-9]+|1\.0+)$"))
            .examples(["0.01"])
            .into()
    }
}

impl ToSchema for MaxDf {}
