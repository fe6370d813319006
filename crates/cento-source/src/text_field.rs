//! The text of a record: a field, a field within others, the messages of a chat, or several joined.

use std::fmt;

use cento::Refusal;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

/// Members of a list element with the element's text: a message of a chat, or a paragraph.
const CONTENTS: [&str; 3] = ["content", "value", "text"];

/// Members of a message with the role of its author.
const ROLES: [&str; 2] = ["role", "from"];

/// The fields of a record whose values, joined with line breaks, are the text.
///
/// A field is a name, or a path such as `doc.body` or `pages[].text`. Paths pass through lists, so
/// `[]` is optional. The text of a list is its strings and the contents of its messages (`content`,
/// `value` or `text`). `messages.user` selects the messages of one role.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Vec<String>", into = "Vec<String>")]
pub struct TextField {
    fields: Vec<FieldPath>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct FieldPath {
    name: String,
    /// The names on the way to the value, without the brackets of lists.
    steps: Vec<String>,
}

impl TextField {
    /// Returns the name, if the text is a single top-level field.
    #[must_use]
    pub fn plain(&self) -> Option<&str> {
        match &self.fields[..] {
            [only] if only.is_plain() => Some(&only.name),
            _ => None,
        }
    }

    /// Returns the fields as the user named them.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.fields.iter().map(|field| field.name.as_str())
    }

    /// Returns whether this top-level member is, or contains, a part of the text.
    #[must_use]
    pub fn is_in(&self, key: &str) -> bool {
        self.fields.iter().any(|field| field.name == key || field.steps[0] == key)
    }

    /// Returns a bit for every field at or below this top-level member.
    pub(crate) fn bits_of(&self, key: &str) -> u64 {
        let fields = self.fields.iter().enumerate();
        let own = fields.filter(|(_, field)| field.name == key || field.steps[0] == key);
        own.fold(0, |bits, (number, _)| bits | bit(number))
    }

    /// Returns the text in these members of a record, or the name of the first field if all are
    /// missing. Of several fields a record may lack some, as a page has no abstract.
    pub(crate) fn text_in(&self, values: &[(String, &RawValue)]) -> Result<FieldText, &str> {
        let mut all = FieldText::default();
        for (number, field) in self.fields.iter().enumerate() {
            let mut own = FieldText::default();
            // A column may be called like a path.
            let whole = values.iter().find(|(key, _)| *key == field.name);
            if let Some((_, json)) = whole {
                own.gather(json, &[]);
            } else if let Some((_, json)) = values.iter().find(|(key, _)| *key == field.steps[0]) {
                own.gather(json, &field.steps[1..]);
            }
            if own.is_met {
                all.is_met = true;
                all.is_list |= own.is_list;
                all.has_members |= own.has_members;
                all.fields |= bit(number);
            }
            if own.is_some {
                all.push(&own.text);
            }
        }
        if all.is_met { Ok(all) } else { Err(&self.fields[0].name) }
    }

    /// Returns what the meta object keeps of these members: everything except the text. Omits
    /// members that hold only text, and invalid JSON.
    pub(crate) fn rest_of(
        &self,
        values: &[(String, &RawValue)],
        is_kept: impl Fn(&str) -> bool,
    ) -> Vec<(String, Box<RawValue>)> {
        let rest = |(key, json): &(String, &RawValue)| {
            if self.fields.iter().any(|field| field.name == *key) {
                return None;
            }
            let mut value: Value = serde_json::from_str(json.get()).ok()?;
            for field in self.fields.iter().filter(|field| field.steps[0] == *key) {
                take_text(&mut value, &field.steps[1..], false);
            }
            let json = (!is_empty(&value)).then(|| serde_json::value::to_raw_value(&value));
            Some((key.clone(), json?.ok()?))
        };
        values.iter().filter(|(key, _)| is_kept(key)).filter_map(rest).collect()
    }
}

/// Removes the values that [`Gather`] takes as text.
fn take_text(value: &mut Value, steps: &[String], in_list: bool) {
    match (value, steps) {
        (Value::Array(values), _) => {
            values.iter_mut().for_each(|value| take_text(value, steps, true));
        }
        (Value::Object(members), [last]) => {
            let is_role = |name: &&str| members.get(*name).is_some_and(|role| role == last);
            let is_message = in_list && ROLES.iter().any(is_role);
            if members.remove(last).is_none() && is_message {
                members.retain(|name, _| !CONTENTS.contains(&name.as_str()));
            }
        }
        (Value::Object(members), [step, rest @ ..]) => {
            if let Some(value) = members.get_mut(step) {
                take_text(value, rest, false);
            }
        }
        _ => {}
    }
}

/// Returns whether there is nothing in a value but the frames of lists and objects.
fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(values) => values.iter().all(is_empty),
        Value::Object(members) => members.values().all(is_empty),
        _ => false,
    }
}

impl FieldPath {
    fn is_plain(&self) -> bool {
        self.steps[0] == self.name
    }
}

impl From<Vec<String>> for TextField {
    fn from(names: Vec<String>) -> TextField {
        let path = |name: String| {
            let steps = name.split('.').map(|step| step.trim_end_matches("[]").to_owned());
            FieldPath { steps: steps.collect(), name }
        };
        let names = if names.is_empty() { vec!["text".into()] } else { names };
        TextField { fields: names.into_iter().map(path).collect() }
    }
}

impl From<TextField> for Vec<String> {
    fn from(field: TextField) -> Vec<String> {
        field.fields.into_iter().map(|field| field.name).collect()
    }
}

impl From<&str> for TextField {
    fn from(name: &str) -> TextField {
        vec![name.to_owned()].into()
    }
}

impl fmt::Display for TextField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, name) in self.names().enumerate() {
            write!(f, "{}{name}", if number > 0 { "`, `" } else { "" })?;
        }
        Ok(())
    }
}

/// The strings of a value, joined with line breaks.
#[derive(Debug, Default)]
pub(crate) struct FieldText {
    pub text: String,
    /// There is a string, which may be empty.
    pub is_some: bool,
    /// Whether the value is a list, or within a list.
    pub is_list: bool,
    /// Whether the value has an object, whose members may have strings.
    pub has_members: bool,
    /// There is a value, of any type.
    pub is_met: bool,
    /// The fields of the text with a value, a bit for each.
    pub fields: u64,
}

/// Returns the bit of the field with this number. Fields beyond the 64th share a bit.
pub(crate) fn bit(number: usize) -> u64 {
    1 << (number % 64)
}

impl FieldText {
    fn push(&mut self, text: &str) {
        if !self.text.is_empty() && !text.is_empty() {
            self.text.push('\n');
        }
        self.text.push_str(text);
        self.is_some = true;
    }

    /// Collects the strings at the end of the path. The JSON has been validated before.
    fn gather(&mut self, json: &RawValue, steps: &[String]) {
        let mut deserializer = serde_json::Deserializer::from_str(json.get());
        let gather = Gather { steps, in_list: false, found: self };
        let read = gather.deserialize(&mut deserializer);
        debug_assert!(read.is_ok(), "a raw value is JSON");
    }
}

impl<'de> Deserialize<'de> for FieldText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<FieldText, D::Error> {
        let mut found = FieldText::default();
        Gather { steps: &[], in_list: false, found: &mut found }.deserialize(deserializer)?;
        Ok(found)
    }
}

/// Collects strings while a value is parsed, so that the value itself is never held.
struct Gather<'a> {
    /// The remaining names of the path.
    steps: &'a [String],
    /// The value is an element of a list.
    in_list: bool,
    found: &'a mut FieldText,
}

impl Gather<'_> {
    fn meet(self) {
        self.found.is_met |= self.steps.is_empty();
    }
}

impl<'de> DeserializeSeed<'de> for Gather<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Gather<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<(), E> {
        if self.steps.is_empty() {
            self.found.push(text);
        }
        self.meet();
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        self.meet();
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        self.meet();
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        self.meet();
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        self.meet();
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        self.meet();
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut values: A) -> Result<(), A::Error> {
        let Gather { steps, found, .. } = self;
        found.is_list = true;
        found.is_met |= steps.is_empty();
        while values
            .next_element_seed(Gather { steps, in_list: true, found: &mut *found })?
            .is_some()
        {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut values: A) -> Result<(), A::Error> {
        let Gather { steps, in_list, found } = self;
        let Some((step, rest)) = steps.split_first() else {
            (found.is_met, found.has_members) = (true, true);
            while let Some(key) = values.next_key::<String>()? {
                match in_list && CONTENTS.contains(&key.as_str()) {
                    true => {
                        values.next_value_seed(Gather { steps, in_list, found: &mut *found })?
                    }
                    false => values.next_value::<IgnoredAny>().map(|_| ())?,
                }
            }
            return Ok(());
        };
        // The last step may be the role of a message, which may follow the content.
        let may_be_role = in_list && rest.is_empty();
        let (mut message, mut is_role, mut is_member) = (FieldText::default(), false, false);
        while let Some(key) = values.next_key::<String>()? {
            if key == *step {
                is_member = true;
                values.next_value_seed(Gather {
                    steps: rest,
                    in_list: false,
                    found: &mut *found,
                })?;
            } else if may_be_role && CONTENTS.contains(&key.as_str()) {
                let found = &mut message;
                values.next_value_seed(Gather { steps: rest, in_list, found })?;
            } else if may_be_role && ROLES.contains(&key.as_str()) {
                let json = values.next_value::<&RawValue>()?.get();
                is_role = json.trim_matches('"') == step;
            } else {
                values.next_value::<IgnoredAny>()?;
            }
        }
        if is_role && !is_member {
            found.is_met = true;
            if message.is_some {
                found.push(&message.text);
            }
        }
        Ok(())
    }
}

/// Refuses a value without strings, and says which values are a text. A client of a service sends
/// `one_string`.
pub(crate) fn no_string(field: &TextField, found: &FieldText, one_string: bool) -> Refusal {
    let shapes = match one_string {
        true => "",
        false => ", a list of strings, or the messages of a chat, each with `role` and `content`",
    };
    let name = field.names().next().unwrap_or_default();
    let (is, path) = match field.names().count() {
        1 => (format!("`{field}` is not a string"), found.has_members && !one_string),
        _ => (format!("none of `{field}` is a string"), false),
    };
    let advice = match (one_string, found.is_list) {
        (true, true) => "; send its strings as one, or as `parts`".to_owned(),
        (false, true) if path => format!("; a text deeper in it has a path, as in `{name}[].body`"),
        _ if path => format!("; a text deeper in it has a path, as in `{name}.body`"),
        _ => String::new(),
    };
    format!("{is}{shapes}{advice}").into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn text(json: &str, fields: &[&str]) -> Result<Option<String>, String> {
        let record: BTreeMap<String, &RawValue> = serde_json::from_str(json).unwrap();
        let field = TextField::from(fields.iter().map(|&name| name.to_owned()).collect::<Vec<_>>());
        let values = record.into_iter().filter(|(key, _)| field.is_in(key));
        let found = field.text_in(&values.collect::<Vec<_>>()).map_err(str::to_owned)?;
        Ok(found.is_some.then_some(found.text))
    }

    #[track_caller]
    fn check(json: &str, fields: &[&str], expected: &str) {
        assert_eq!(text(json, fields).unwrap().as_deref(), Some(expected), "{json} {fields:?}");
    }

    #[test]
    fn paths_lead_through_objects_and_lists() {
        let json =
            r#"{"doc":{"title":"t","pages":[{"n":1,"text":"a"},{"text":"b"},{}]},"x.y":"z"}"#;
        check(json, &["doc.title"], "t");
        check(json, &["doc.pages[].text"], "a\nb");
        check(json, &["doc.pages.text"], "a\nb");
        check(json, &["doc.pages"], "a\nb");
        check(json, &["x.y"], "z");
        check(json, &["doc.title", "x.y", "doc.pages"], "t\nz\na\nb");
        assert_eq!(text(json, &["doc.titel"]), Err("doc.titel".into()));
        check(json, &["doc.title", "y"], "t");
        check(json, &["y", "doc.title"], "t");
        assert_eq!(text(json, &["y", "z"]), Err("y".into()));
        assert_eq!(text(json, &["doc.title.x"]), Err("doc.title.x".into()));
        assert_eq!(text(json, &["doc"]), Ok(None));
        assert_eq!(text(json, &["doc.pages.n"]), Ok(None));
    }

    #[test]
    fn the_rest_is_what_is_not_text() {
        let rest = |json: &str, fields: &[&str]| {
            let record: BTreeMap<String, &RawValue> = serde_json::from_str(json).unwrap();
            let names = fields.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
            let field = TextField::from(names);
            let values = record.into_iter().filter(|(key, _)| field.is_in(key));
            let rest = field.rest_of(&values.collect::<Vec<_>>(), |_| true).into_iter();
            rest.map(|(key, json)| format!("{key}: {json}")).collect::<Vec<_>>().join(" ")
        };
        let json = r#"{"doc":{"title":"t","pages":[{"n":1,"text":"a"},{"text":"b"},{}]},"x.y":1}"#;
        assert_eq!(
            rest(json, &["doc.title"]),
            r#"doc: {"pages":[{"n":1,"text":"a"},{"text":"b"},{}]}"#
        );
        assert_eq!(
            rest(json, &["doc.pages[].text", "x.y"]),
            r#"doc: {"pages":[{"n":1},{},{}],"title":"t"}"#
        );
        assert_eq!(rest(json, &["doc.title", "doc.pages"]), "");
        assert_eq!(rest(json, &["doc"]), "");
        let chat = r#"{"messages":[{"role":"user","content":"a"},{"role":"bot","content":"b"}]}"#;
        assert_eq!(
            rest(chat, &["messages.user"]),
            r#"messages: [{"role":"user"},{"content":"b","role":"bot"}]"#
        );
        assert_eq!(rest(chat, &["messages"]), "");
    }

    #[test]
    fn chats_are_their_messages() {
        let chat = r#"{"messages":[{"content":"be kind","role":"system"},
            {"role":"user","content":[{"type":"text","text":"why?"},{"type":"image","image":"i"}]},
            {"role":"assistant","content":null,"tool_calls":[{"x":"y"}]},
            {"role":"assistant","content":"so"}]}"#;
        check(chat, &["messages"], "be kind\nwhy?\nso");
        check(chat, &["messages[].content"], "be kind\nwhy?\nso");
        check(chat, &["messages.user"], "why?");
        check(chat, &["messages.user", "messages.assistant"], "why?\nso");
        assert_eq!(text(chat, &["messages.usre"]), Err("messages.usre".into()));
        let other =
            r#"{"conversations":[{"from":"human","value":"a"},{"from":"gpt","value":"b"}]}"#;
        check(other, &["conversations"], "a\nb");
        check(other, &["conversations.gpt"], "b");
        check(r#"{"text":["a","","b",3]}"#, &["text"], "a\nb");
    }
}
