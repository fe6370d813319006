//! Says what is wrong with a filter that cannot be parsed, and what to write.

/// What to do about a missing value.
const NO_VALUE: &str =
    "there is no value; write `FIELD:VALUE`, or `FIELD:*` for documents that have the field";

/// What to do about a range without a second end.
const NO_END_OF_RANGE: &str = "a range has no end after `TO`; write `year:[2020 TO 2024]`, or \
                               `year:[2020 TO *]` without an upper end";

/// Faults in the words of the parser, and what to do.
const CURES: [(&str, &str); 12] = [
    (
        "missing range delimiter",
        "a range does not end; close it with `]` or `}`, as in `year:[2019 TO *]`",
    ),
    (
        "missing keyword TO",
        "a range has no `TO` in capitals between its ends, as in `year:[2019 TO *]`",
    ),
    ("expected ')'", "a parenthesis does not end; close it with `)`"),
    ("missing delimiter", "a quotation does not end; close it with the mark that opens it"),
    ("missing ]", "a set does not end; close it with `]`, as in `lang: IN [de fr]`"),
    (
        "missing space",
        "a range or a set is not complete; write `year:[2019 TO *]` or `lang: IN [de fr]`",
    ),
    ("expected word", NO_VALUE),
    (
        "parsed possible invalid field as term",
        "there is no field before the colon; write `FIELD:VALUE`, and quote a value with a colon",
    ),
    ("parsed keyword", "no condition follows `NOT`, as in `NOT lang:de`"),
    ("Found unexpected boolean operator", "no condition is before `AND` or `OR`"),
    ("unparsed end of query", "nothing is open that ends here; quote a value with brackets"),
    ("expected whitespace, closing", "a sign follows a value directly; quote a value with signs"),
];

/// Returns whether a filter ends within a range, such as `year:[2020 TO`.
fn ends_in_range(filter: &str) -> bool {
    let open = filter.rfind(['[', '{']);
    let is_open = open > filter.rfind([']', '}']);
    is_open && open.is_some_and(|at| filter[at..].split_ascii_whitespace().any(|word| word == "TO"))
}

/// Says where and why the text is not a query, as far as the parser knows, and what to write.
///
/// `fault` has the byte and the words of the parser, which has no reasons to match.
pub(super) fn no_query(filter: &str, fault: Option<(usize, String)>) -> String {
    let Some((at, words)) = fault else {
        // The parser tells no place.
        return "it is no query; `AND` and `OR` need a condition before and after them, such as \
                `topic:sea`"
            .to_owned();
    };
    let before = filter.get(..at).map_or(at, |before| before.chars().count());
    let cure = CURES.iter().find(|(begin, _)| words.starts_with(begin));
    let cure = match cure.map_or(words.as_str(), |(_, cure)| cure) {
        NO_VALUE if ends_in_range(filter) => NO_END_OF_RANGE,
        cure => cure,
    };
    format!("it is no query: at character {}, {cure}", before + 1)
}

/// Says that a word is in no field, and what was probably meant.
pub(super) fn stray(word: &str) -> String {
    let said = |cure: &str| format!("`{word}` is in no field; {cure}");
    let upper = word.to_ascii_uppercase();
    if ["AND", "OR", "NOT", "IN", "TO"].contains(&upper.as_str()) {
        return said(&format!("write `{upper}` in capitals"));
    }
    if word.starts_with(['[', '/']) || word.starts_with("IN [") {
        return said(&format!("write `FIELD:{word}`"));
    }
    // As in other query languages: `year>=2000`, `lang=de`.
    if let Some(at) = word.find(['<', '>', '=']).filter(|&at| at > 0) {
        let (field, rest) = word.split_at(at);
        let value = rest.trim_start_matches('=');
        return said(&format!("write `{}:{value}`", field.trim_end_matches(['!', ' '])));
    }
    said(&format!("write `FIELD:VALUE`, or `text:\"{word}\"` to find words of the texts"))
}

#[cfg(test)]
mod tests {
    use super::super::fault_of;
    use super::*;

    #[test]
    fn every_fault_comes_with_its_place_and_a_cure() {
        for (filter, said) in [
            ("date:[2020 TO 2021", "at character 19, a range does not end; close it with `]`"),
            ("date:[2020 2021]", "at character 12, a range has no `TO` in capitals"),
            ("y:[2018 to 2020]", "at character 9, a range has no `TO` in capitals"),
            ("(date:2020", "at character 11, a parenthesis does not end; close it with `)`"),
            ("date:2020)", "at character 10, nothing is open that ends here"),
            ("date:\"2020", "at character 11, a quotation does not end"),
            ("lang: IN [de fr", "a set does not end"),
            ("date:", "at character 6, there is no value; write `FIELD:VALUE`"),
            // Regression: the advice for a field without a value.
            ("year:[2020 TO", "at character 14, a range has no end after `TO`"),
            (":x", "at character 1, there is no field before the colon"),
            ("NOT", "at character 1, no condition follows `NOT`"),
            ("AND", "`AND` and `OR` need a condition before and after them"),
            ("a:b OR", "`AND` and `OR` need a condition before and after them"),
            ("\u{e9}:[1", "at character 5, a range"),
        ] {
            let no_query = no_query(filter, fault_of(filter));
            assert!(no_query.contains(said), "{filter}: {no_query}");
        }
    }

    #[test]
    fn a_word_in_no_field_is_one_of_another_query_language() {
        for (word, cure) in [
            ("and", "write `AND` in capitals"),
            ("y>2000", "write `y:>2000`"),
            ("y>=2000", "write `y:>=2000`"),
            ("lang=de", "write `lang:de`"),
            ("lang==de", "write `lang:de`"),
            ("[ TO ]", "write `FIELD:[ TO ]`"),
            ("went up", "write `FIELD:VALUE`, or `text:\"went up\"` to find words of the texts"),
        ] {
            assert_eq!(stray(word), format!("`{word}` is in no field; {cure}"));
        }
    }
}
