//! Subtitles in the form of SubStation Alpha (`.ass`, `.ssa`).
//!
//! The words of a cue are the last field of a line `Dialogue:`. Styles, comments, speakers and
//! drawings are no words. Shadows and outlines are the same words at the same times in another
//! layer.

use std::collections::HashSet;

use super::drop_repeated;

/// The first line.
const HEADER: &[u8] = b"[Script Info]";

/// The fields of a cue, unless a line `Format:` says otherwise.
const FIELDS: [&str; 10] =
    ["layer", "start", "end", "style", "name", "marginl", "marginr", "marginv", "effect", "text"];

/// Returns whether a line begins such subtitles.
pub fn is_header(line: &[u8]) -> bool {
    line.trim_ascii().eq_ignore_ascii_case(HEADER)
}

/// Returns the words of subtitles. Every line stays a line.
pub fn text_of(subtitles: &str) -> String {
    let mut fields: Vec<String> = FIELDS.map(str::to_owned).to_vec();
    let mut known = HashSet::new();
    // The lines within the cues, and the cue number of every line. A cue number is the cue's line
    // in the file.
    let (mut words, mut cues) = (Vec::new(), Vec::new());
    let mut is_of_events = false;
    let mut lines: Vec<String> = Vec::new();
    for line in subtitles.split('\n').map(str::trim) {
        lines.push(String::new());
        if line.starts_with('[') {
            is_of_events = line.eq_ignore_ascii_case("[Events]");
        }
        if let Some(format) = line.strip_prefix("Format:").filter(|_| is_of_events) {
            fields = format.split(',').map(|field| field.trim().to_ascii_lowercase()).collect();
        }
        let Some(cue) = line.strip_prefix("Dialogue:") else { continue };
        let values: Vec<&str> = cue.splitn(fields.len(), ',').map(str::trim).collect();
        let value = |name: &str| {
            let place = fields.iter().position(|field| field == name);
            place.and_then(|place| values.get(place)).copied().unwrap_or_default()
        };
        let text = without_codes(value("text"));
        if !known.insert((value("start").to_owned(), value("end").to_owned(), text.clone())) {
            continue;
        }
        for part in text.lines() {
            words.push(part.to_owned());
            cues.push(lines.len());
        }
    }
    drop_repeated(&mut words, &cues);
    for (word, cue) in words.iter().zip(cues).filter(|(word, _)| !word.trim().is_empty()) {
        let line = &mut lines[cue - 1];
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word.trim());
    }
    lines.join("\n")
}

/// Removes codes in braces and drawings, and replaces the codes of spaces and line ends.
fn without_codes(text: &str) -> String {
    let mut words = String::new();
    let mut is_drawing = false;
    let mut rest = text;
    while let Some(open) = rest.find('{') {
        let (before, codes) = rest.split_at(open);
        let Some(close) = codes.find('}') else { break };
        if !is_drawing {
            words.push_str(before);
        }
        for code in codes[1..close].split('\\') {
            // The code of drawings, and not of positions (`pos`, `pbo`).
            if let Some(scale) = code.trim().strip_prefix('p')
                && let Ok(scale) = scale.parse::<u32>()
            {
                is_drawing = scale > 0;
            }
        }
        rest = &codes[close + 1..];
    }
    if !is_drawing {
        words.push_str(rest);
    }
    words.replace("\\N", "\n").replace("\\n", "\n").replace("\\h", " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events(dialogues: &[&str]) -> String {
        let cues = dialogues.iter().map(|cue| format!("Dialogue: {cue}\n")).collect::<String>();
        format!("[Script Info]\nTitle: Sea\n[V4+ Styles]\nStyle: A,Arial\n[Events]\n{cues}")
    }

    #[track_caller]
    fn check(dialogues: &[&str], expected: &[&str]) {
        let file = events(dialogues);
        let text = text_of(&file);
        assert_eq!(text.matches('\n').count(), file.matches('\n').count());
        let words: Vec<&str> = text.lines().filter(|line| !line.is_empty()).collect();
        assert_eq!(words, expected);
    }

    #[test]
    fn styles_speakers_and_drawings_are_no_words() {
        check(
            &[
                "0,0:00:01.00,0:00:03.50,A,Anna,0,0,0,,{\\an8\\pos(1,2)}Twice, a day\\N\
                 the {\\i1}sea",
                "0,0:00:03.50,0:00:06.00,A,,0,0,0,,rises\\hhigh {\\p1}m 0 0 l 1 1{\\p0}{sic} {",
            ],
            &["Twice, a day the sea", "rises high  {"],
        );
    }

    #[test]
    fn words_in_two_layers_and_of_rolling_captions_are_read_once() {
        let cue =
            |layer: &str, at: u32, text: &str| format!("{layer},{at},{},A,,0,0,0,,{text}", at + 1);
        let shadow = [cue("0", 1, "{\\blur3}no"), cue("1", 1, "no"), cue("1", 2, "no")];
        check(&shadow.each_ref().map(|cue| &**cue), &["no", "no"]);
        let rolls = [cue("0", 1, "one"), cue("0", 2, "one\\Ntwo"), cue("0", 3, "two\\Nthree")];
        check(&rolls.each_ref().map(|cue| &**cue), &["one", "two", "three"]);
    }
}
