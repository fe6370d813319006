//! Schemas of bodies, where the Rust types cannot express a rule.

use utoipa::openapi::schema::{
    ArrayBuilder, KnownFormat, ObjectBuilder, OneOfBuilder, Schema, SchemaFormat, SchemaType, Type,
};

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

/// Returns the schema of the pairs of a signature. For tuples utoipa writes `items: false`, which
/// client generators refuse.
pub fn fingerprints() -> Schema {
    let key = ObjectBuilder::new().schema_type(Type::String).pattern(Some("^[0-9]+$")).build();
    let position = ObjectBuilder::new()
        .schema_type(Type::Integer)
        .format(Some(SchemaFormat::KnownFormat(KnownFormat::UInt32)))
        .minimum(Some(0))
        .build();
    let pair = ArrayBuilder::new()
        .prefix_items([Schema::Object(key), Schema::Object(position)])
        .items(ObjectBuilder::new().schema_type(SchemaType::AnyValue))
        .min_items(Some(2))
        .max_items(Some(2));
    ArrayBuilder::new()
        .items(pair)
        .description(Some("Keys and the positions of their tokens, which do not descend."))
        .build()
        .into()
}
