//! The passages of a text do not depend on the layout of its lines.

use crate::common::words;
use crate::passages::{compare, cut};

const ORIGINAL: &str = "The harbour master closed the northern lock before the storm arrived from \
    the sea. Three barges loaded with timber were moored along the quay behind the old granary. \
    Their crews spent the night in the chapel above the village with the children. At dawn the \
    water had risen by two metres and covered the road to the mill. Nobody in the village \
    remembered a flood of such a height since the war. The council met in the school and asked \
    the province for boats, blankets and a physician.";

const REWRITTEN: &str = "When a storm from open sea was near, he who is master of our harbour had \
    that lock in the northern wall closed. Behind a granary, now old, and along its quay lay \
    barges, three in number, with much timber on them. In a chapel, which is above this village, \
    people of those crews and many children stayed all night. Two metres higher was all water at \
    dawn, so that one road, which goes to a mill, was covered. Such height of any flood, people \
    in that village said, nobody since war days remembered. For boats, for blankets, for some \
    physician too, a council that met in its school asked its province";

/// Lays a text out in lines of six words joined by `between`. A `bare` text loses the marks at line
/// ends.
fn in_lines(text: &str, between: &str, is_bare: bool) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let lines = words.chunks(6).map(|words| {
        let line = words.join(" ");
        if is_bare { line.trim_end_matches(['.', ',']).to_owned() } else { line }
    });
    lines.collect::<Vec<_>>().join(between)
}

#[test]
fn a_rewritten_text_keeps_its_passages_as_subtitles_and_as_verse() {
    // Regression: every cue was a sentence, because empty lines follow a cue. Then two thirds of
    // this text were not found.
    let document = format!("{}. {ORIGINAL} {}.", words(7, 80), words(8, 80));
    for (layout, between, is_bare) in
        [("paragraph", " ", false), ("cues", "\n\n\n", false), ("verse", "\n", true)]
    {
        let text = in_lines(REWRITTEN, between, is_bare);
        let query = format!("{}.\n\n{text}.\n\n{}.", words(5, 80), words(6, 80));
        let found = compare(&query, &document).passages;
        let length: usize = found.iter().map(|passage| cut(&query, passage.a).len()).sum();
        assert!(10 * length >= 9 * text.len(), "{layout}: {length} of {}", text.len());
        assert!(10 * length <= 11 * text.len(), "{layout}: {length} of {}", text.len());
    }
}
