//! The fields of a document in tantivy's schema.

use tantivy::schema::{
    DateOptions, DateTimePrecision, FAST, Field, FieldEntry, FieldType, IndexRecordOption,
    JsonObjectOptions, STORED, STRING, Schema, TextFieldIndexing, TextOptions,
};

use super::Config;
use super::meta_value::WHOLE_VALUE;
use crate::segment::plugin;

/// The fields of the schema. segments-format.md, "The directory", describes each field.
#[derive(Debug, Clone, Copy)]
pub struct Fields {
    /// The caller's id, unique within an index.
    pub id: Field,
    /// The text. `None` if the index stores no text.
    pub text: Option<Field>,
    /// The parts of the text, as JSON.
    pub parts: Field,
    /// The digest of the parts, to compare parts without reading them.
    pub parts_digest: Field,
    /// The caller's metadata, indexed for filters.
    pub meta: Field,
    /// The meta object as JSON, for answers.
    pub meta_json: Field,
    /// The time of addition.
    pub added: Field,
    /// The number of the place that the id was made from, if it was made.
    pub place: Field,
    /// The input of the plugin that writes the `.sig` file.
    pub signature: Field,
}

/// The name of the field with the meta object as JSON.
pub const META_JSON: &str = "meta_json";

/// The name of the field with the place of an id.
pub const PLACE: &str = "id_place";

/// The name of the field with the digest of the parts.
pub const PARTS_DIGEST: &str = "parts_digest";

/// Returns the schema of an index with this configuration.
pub fn build(config: &Config) -> Schema {
    let mut schema = Schema::builder();
    schema.add_text_field("id", STRING | STORED);
    if config.store_text {
        schema.add_text_field("text", TextOptions::default().set_stored());
    }
    let values = TextFieldIndexing::default()
        .set_tokenizer(WHOLE_VALUE)
        .set_index_option(IndexRecordOption::Basic);
    let meta = JsonObjectOptions::default()
        .set_fast("raw")
        .set_indexing_options(values)
        .set_expand_dots_enabled();
    schema.add_json_field("meta", meta);
    // A column instead of the store: every hit needs its meta object, and reading a column takes a
    // microsecond, while decompressing a block of the store takes a hundred.
    schema.add_bytes_field(META_JSON, FAST);
    schema.add_date_field(
        "added",
        DateOptions::default()
            .set_indexed()
            .set_fast()
            .set_stored()
            // Microseconds, because the order of addition matters within a batch of documents.
            .set_precision(DateTimePrecision::Microseconds),
    );
    schema.add_u64_field(PLACE, FAST);
    // In the store, next to the text that the parts are read with. A value in a column has at most
    // 64 KiB, which is too little for many names.
    schema.add_text_field("parts", TextOptions::default().set_stored());
    schema.add_u64_field(PARTS_DIGEST, FAST);
    schema.add_custom_field(plugin::FIELD, plugin::FIELD_TYPE, config.to_params());
    schema.build()
}

/// Returns the fields of a schema, or `None` if the schema is not cento's.
pub fn fields(schema: &Schema) -> Option<Fields> {
    let field = |name| schema.get_field(name).ok();
    Some(Fields {
        id: field("id")?,
        text: field("text"),
        parts: field("parts")?,
        parts_digest: field(PARTS_DIGEST)?,
        meta: field("meta")?,
        meta_json: field(META_JSON)?,
        added: field("added")?,
        place: field(PLACE)?,
        signature: field(plugin::FIELD)?,
    })
}

/// Returns the configuration that a schema records.
pub fn params(schema: &Schema) -> Option<&serde_json::Value> {
    let field = schema.get_field(plugin::FIELD).ok()?;
    match schema.get_field_entry(field).field_type() {
        FieldType::Custom(options) if options.type_name() == plugin::FIELD_TYPE => {
            Some(options.params())
        }
        _ => None,
    }
}

/// Returns every field except the one that records how documents are signed.
pub fn others(schema: &Schema) -> Vec<&FieldEntry> {
    let entries = schema.fields().map(|(_, entry)| entry);
    entries.filter(|entry| entry.name() != plugin::FIELD).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use tantivy::directory::RamDirectory;

    use super::*;
    use crate::error::{Error, Result};
    use crate::index::Index;
    use crate::index::storage::directory::IndexDirectory;

    fn opened(schema: Value) -> Result<Index> {
        let directory = RamDirectory::create();
        let schema = serde_json::from_value(schema).unwrap();
        let sealed = IndexDirectory::new(directory.clone().into(), None);
        tantivy::Index::builder().schema(schema).open_or_create(sealed).unwrap();
        Index::open_in(directory, "it")
    }

    #[test]
    fn a_setting_of_a_later_version_is_refused_and_not_ignored() {
        let config = Config::new("winnow(k=5,w=10)", "words", true).unwrap();
        let mut schema = serde_json::to_value(build(&config)).unwrap();
        let mut fields = schema.as_array_mut().unwrap().iter_mut();
        let signature = fields.find(|field| field["name"] == plugin::FIELD).unwrap();
        signature["options"]["params"]["salt"] = json!(7);
        let error = opened(schema).unwrap_err().to_string();
        assert!(error.contains("`salt`") && error.contains("later version"), "{error}");
    }

    #[test]
    fn an_index_with_the_fields_of_another_version_is_refused_and_not_called_damaged() {
        // Digests were once found through a field of the schema. Such an index was reported as
        // damaged at the first search instead of as another version.
        let config = Config::new("winnow(k=5,w=10)", "words", true).unwrap();
        let mut schema = serde_json::to_value(build(&config)).unwrap();
        opened(schema.clone()).unwrap();
        let options = json!({"indexed": true, "fieldnorms": false, "fast": false, "stored": false});
        let digest = json!({"name": "digest", "type": "u64", "options": options});
        schema.as_array_mut().unwrap().push(digest);
        let error = opened(schema).unwrap_err();
        assert!(matches!(error, Error::Index { .. }), "{error:?}");
        assert!(error.to_string().contains("create a new index"), "{error}");
    }
}
