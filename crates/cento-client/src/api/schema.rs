//! Rules for the schemas of bodies that their types do not express.

use utoipa::openapi::schema::{
    ArrayBuilder, KnownFormat, ObjectBuilder, OneOfBuilder, Schema, SchemaFormat, SchemaType, Type,
};

use cento::compare::measure::families;

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

/// Returns a regular expression of all measures, written without spaces; also of those that this
/// build leaves out, so that the document is identical for every build.
pub fn measure_pattern() -> String {
    let mut all: Vec<String> = families()
        .iter()
        .map(|family| match family.parameters {
            [] => family.name.to_owned(),
            [one] => format!(r"{}(\({}=({})\))?", family.name, one.name, up_to(one.max)),
            _ => unreachable!("no measure has two parameters"),
        })
        .collect();
    all.sort_unstable();
    all.join("|")
}

/// Returns a regular expression of the numbers from 1 to `max`.
fn up_to(max: u32) -> String {
    let digits = max.to_string();
    // Shorter numbers; then those that have a smaller digit after the same ones; then `max`.
    let mut ways: Vec<String> =
        (1..digits.len()).map(|n| format!("[1-9][0-9]{{{}}}", n - 1)).collect();
    for (i, digit) in digits.bytes().enumerate() {
        let least = if i == 0 { b'1' } else { b'0' };
        if digit > least {
            let (same, rest) = (&digits[..i], digits.len() - i - 1);
            let (least, most) = (char::from(least), char::from(digit - 1));
            ways.push(format!("{same}[{least}-{most}][0-9]{{{rest}}}"));
        }
    }
    ways.push(digits);
    ways.join("|").replace("[0-9]{0}", "").replace("{1}", "")
}

/// Returns the schema of a list of measures; `all` means every measure.
pub fn measures() -> Schema {
    let measure = ObjectBuilder::new()
        .schema_type(Type::String)
        .pattern(Some(format!("^(all|{})$", measure_pattern())));
    ArrayBuilder::new().items(measure).build().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pattern_of_measures_has_all_names_and_bounds() {
        let pattern = measure_pattern();
        for family in families() {
            assert!(pattern.split('|').any(|way| way.starts_with(family.name)), "{}", family.name);
            // The pattern begins at 1.
            assert!(family.parameters.iter().all(|one| one.min == 1 && one.names.is_empty()));
        }
        assert!(
            pattern.contains(r"containment(\(k=([1-9]|[1-5][0-9]|6[0-3]|64)\))?|"),
            "{pattern}"
        );
        assert!(
            pattern.contains(r"overlap(\(n=([1-9]|[1-9][0-9]|[1-9][0-9]{2}|1000)\))?|"),
            "{pattern}"
        );
    }
}
