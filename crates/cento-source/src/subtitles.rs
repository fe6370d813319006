//! Text of subtitles.
//!
//! Numbers and names of cues, times, settings, notes, styles and tags are removed. All other words
//! keep their lines. Words outside of cues stay, too, because an empty line may occur within a cue.
//! A file without a cue stays unchanged. Every line remains a line, so that line numbers of
//! passages are line numbers of the file.
//!
//! Rolling captions, as of live programs, repeat lines of the previous cue, and add words to its
//! last line. Of such lines, only the new words stay. In other subtitles, a repeated line was
//! spoken again.

mod script;

use crate::format::{FileFormat, Markup, TextOf};
use crate::html;

/// Subtitles: SubRip, WebVTT, SubViewer (YouTube) and SubStation Alpha.
pub static FORMAT: FileFormat = FileFormat {
    name: "subtitles",
    endings: &[".srt", ".vtt", ".sbv", ".ass", ".ssa"],
    documents: "the words of the cues",
    feature: None,
    is_built: true,
    keeps_lines: true,
    example: b"1\n00:00:01,000 --> 00:00:03,500\nTwice a day\n\n\
        2\n00:00:03,500 --> 00:00:06,000\n<i>the sea rises.</i>\n",
    markup: Some(Markup {
        is: "it is text",
        begins: |start| {
            let mut lines = start.text.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
            let first = lines.next().unwrap_or_default();
            let second = lines.next().unwrap_or_default();
            let is_number = !first.is_empty() && first.iter().all(u8::is_ascii_digit);
            let is_cue = is_number && is_time(second);
            is_header(first) || is_cue || is_short_time(first) || script::is_header(first)
        },
        named_begins: None,
        text_of: TextOf::Decoded(text_of),
        has_source: true,
    }),
};

/// The first line of WebVTT.
const HEADER: &str = "WEBVTT";

/// The maximum length of a tag, in bytes. Longer tags stay.
const TAG_BYTES_MAX: usize = 1024;

/// The mark between the two times of a cue.
const ARROW: &str = "-->";

fn is_header(line: &[u8]) -> bool {
    let rest = line.strip_prefix(HEADER.as_bytes());
    rest.is_some_and(|rest| rest.first().is_none_or(u8::is_ascii_whitespace))
}

/// Returns whether a line has the times of a cue.
fn is_time(line: &[u8]) -> bool {
    is_long_time(line) || is_short_time(line)
}

/// Returns whether a line has the times of SubViewer: `0:00:01.000,0:00:03.500`.
fn is_short_time(line: &[u8]) -> bool {
    let is_time = |time: &[u8]| {
        let parts: Vec<&[u8]> = time.split(|byte| b":.".contains(byte)).collect();
        let is_number = |part: &&[u8]| !part.is_empty() && part.iter().all(u8::is_ascii_digit);
        parts.len() == 4 && parts.iter().all(is_number) && parts[3].len() == 3
    };
    let mut times = line.trim_ascii().split(|&byte| byte == b',');
    let both = [times.next(), times.next()];
    both.into_iter().flatten().filter(|time| is_time(time)).count() == 2 && times.next().is_none()
}

/// Returns whether a line has digits and colons before an arrow.
fn is_long_time(line: &[u8]) -> bool {
    let Some(at) = memchr::memmem::find(line, ARROW.as_bytes()) else { return false };
    let from = line[..at].trim_ascii();
    !from.is_empty() && from.iter().all(|byte| byte.is_ascii_digit() || b":.,".contains(byte))
}

/// The first words of WebVTT blocks that are not cues.
const BLOCKS: [&str; 3] = ["NOTE", "STYLE", "REGION"];

/// Returns whether a line begins a block other than a cue.
fn is_block(line: &str) -> bool {
    line.split_whitespace().next().is_some_and(|word| BLOCKS.contains(&word))
}

/// Returns the words of subtitles.
fn text_of(subtitles: &str) -> String {
    if script::is_header(subtitles.trim_start().lines().next().unwrap_or_default().as_bytes()) {
        return script::text_of(subtitles);
    }
    let lines: Vec<&str> = subtitles.split('\n').collect();
    let is_time = |at: usize| lines.get(at).is_some_and(|line| is_time(line.as_bytes()));
    if !(0..lines.len()).any(is_time) {
        return subtitles.to_owned();
    }
    let is_empty = |at: usize| lines[at].trim().is_empty();
    let first = (0..lines.len()).find(|&at| !is_empty(at)).unwrap_or_default();
    let is_web = is_header(lines[first].trim().as_bytes());
    let (mut is_left_out, mut cue) = (false, 0);
    // The number of the cue for each line, from 1, or 0 before the first cue.
    let mut cues = Vec::new();
    let words = lines.iter().enumerate().map(|(at, line)| {
        cue += usize::from(is_time(at));
        cues.push(cue);
        if is_time(at) || is_empty(at) {
            is_left_out = false;
            return String::new();
        }
        let begins = at == 0 || is_empty(at - 1);
        is_left_out |= is_web && begins && (at == first || is_block(line));
        let is_number = line.trim().bytes().all(|byte| byte.is_ascii_digit());
        let is_name = is_time(at + 1) && (is_number || begins);
        match is_left_out || is_name {
            true => String::new(),
            // The line end of YouTube's captions.
            false => with_characters(without_tags(line)).replace("[br]", " "),
        }
    });
    let mut words: Vec<String> = words.collect();
    drop_repeated(&mut words, &cues);
    words.join("\n")
}

/// Removes the words that repeat the end of the previous cue, if the captions roll, which means
/// that at least half of the cues repeat lines. A line belongs to the cue of this number, from 1.
fn drop_repeated(words: &mut [String], cues: &[usize]) {
    let has_words = |at: &usize| cues[*at] > 0 && !words[*at].trim().is_empty();
    let lines: Vec<usize> = (0..words.len()).filter(has_words).collect();
    let (mut found, mut rolls, mut before) = (Vec::new(), 0, &[][..]);
    let all: Vec<&[usize]> = lines.chunk_by(|a, b| cues[*a] == cues[*b]).collect();
    for &cue in &all {
        let most = cue.len().min(before.len());
        let new = (1..=most).rev().find_map(|len| {
            let end: &[usize] = &before[before.len() - len..];
            let pairs = end.iter().zip(cue).map(|(a, b)| (words[*a].trim(), words[*b].trim()));
            let (last, first) = pairs.clone().next_back()?;
            let are_same = pairs.take(len - 1).all(|(a, b)| a == b);
            Some((len, added(last, first)?)).filter(|_| are_same)
        });
        if let Some((len, new)) = new {
            rolls += 1;
            found.extend(cue[..len - 1].iter().map(|at| (*at, String::new())));
            found.push((cue[len - 1], new.to_owned()));
        }
        before = cue;
    }
    if all.len() > 2 && rolls * 2 >= all.len() {
        found.into_iter().for_each(|(at, new)| words[at] = new);
    }
}

/// Returns the words that `longer` adds to `line`, or `None` for a different line.
fn added<'a>(line: &str, longer: &'a str) -> Option<&'a str> {
    let rest = longer.strip_prefix(line)?;
    (rest.is_empty() || rest.starts_with(char::is_whitespace)).then(|| rest.trim_start())
}

/// Removes what rolling captions repeat of the previous cue. Each paragraph is a cue.
pub fn without_repeated(captions: &str) -> String {
    let (mut words, mut cues) = (Vec::new(), Vec::new());
    for (at, cue) in captions.split("\n\n").enumerate() {
        for line in cue.lines() {
            words.push(line.to_owned());
            cues.push(at + 1);
        }
    }
    drop_repeated(&mut words, &cues);
    let (mut text, mut cue) = (String::new(), 0);
    for (line, of) in words.iter().zip(&cues).filter(|(line, _)| !line.is_empty()) {
        if !text.is_empty() {
            text.push_str(if *of == cue { "\n" } else { "\n\n" });
        }
        text.push_str(line);
        cue = *of;
    }
    text
}

/// Removes tags such as `<i>`, `<00:01.500>` and `{\an8}`.
fn without_tags(line: &str) -> String {
    let mut words = String::new();
    let mut rest = line;
    while let Some(open) = rest.find(['<', '{']) {
        let (before, tag) = rest.split_at(open);
        words.push_str(before);
        let (is_tag, close) = match tag.as_bytes() {
            [b'<', next, ..] => (next.is_ascii_alphanumeric() || *next == b'/', b'>'),
            [_, next, ..] => (*next == b'\\', b'}'),
            _ => (false, b'>'),
        };
        let start = &tag.as_bytes()[..tag.len().min(TAG_BYTES_MAX)];
        match memchr::memchr(close, start).filter(|_| is_tag) {
            Some(end) => rest = &tag[end + 1..],
            None => {
                words.push_str(&tag[..1]);
                rest = &tag[1..];
            }
        }
    }
    words + rest
}

/// The maximum length of a reference, which is the length of HTML's longest name.
const REFERENCE_BYTES_MAX: usize = 33;

/// Decodes references such as `&amp;`. A reference without a semicolon is text. A decoded line end
/// becomes a space.
fn with_characters(line: String) -> String {
    if !line.contains('&') {
        return line;
    }
    let mut characters = String::new();
    let mut rest = &*line;
    while let Some(at) = rest.find('&') {
        characters.push_str(&rest[..at]);
        rest = &rest[at..];
        let start = &rest.as_bytes()[..rest.len().min(REFERENCE_BYTES_MAX)];
        let name = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'#';
        let len = 1 + start[1..].iter().take_while(|byte| name(byte)).count();
        let end = if start.get(len) == Some(&b';') { len + 1 } else { 1 };
        match end {
            1 => characters.push('&'),
            _ => characters.push_str(&html::decoded(&rest[..end]).replace(['\n', '\r'], " ")),
        }
        rest = &rest[end..];
    }
    characters + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(subtitles: &str, expected: &str) {
        assert_eq!(text_of(subtitles), expected);
    }

    #[test]
    fn references_are_the_characters_that_they_are_of() {
        check(
            "WEBVTT\n\n00:01.000 --> 00:02.000\n\
             Salt &amp; <i>pepper</i>, R&amp;D&nbsp;costs & more\n\
             caf&#233; &lt;i> &x; &#10; AT&T; \u{e9}&\n",
            "\n\n\nSalt & pepper, R&D\u{a0}costs & more\ncaf\u{e9} <i> &x;   AT&T; \u{e9}&\n",
        );
    }

    #[test]
    fn words_of_cues_stay_on_their_lines() {
        check(
            "1\r\n00:00:01,000 --> 00:00:03,500\r\nTwice a day\r\nthe <i>sea</i>\r\n\r\n\
             2\r\n00:00:03,500 --> 00:00:06,000\r\n{\\an8}rises 1 < 2 > 0 {so}\r\n",
            "\n\nTwice a day\r\nthe sea\r\n\n\n\nrises 1 < 2 > 0 {so}\r\n",
        );
        check(
            "WEBVTT - Tides\n\nNOTE a note\nof two lines\n\nSTYLE\n::cue { color: red }\n\n\
             intro\n00:01.000 --> 00:03.500 align:start\n<v Anna>Twice a day.\n\n\
             00:04.000 --> 00:05.000\nIt falls.",
            "\n\n\n\n\n\n\n\n\n\nTwice a day.\n\n\nIt falls.",
        );
    }

    #[test]
    fn captions_that_roll_are_read_once() {
        let cue = |lines: &str| format!("00:01.000 --> 00:03.000\n{lines}\n\n");
        let said = |cues: &[&str]| -> Vec<String> {
            let file = cues.iter().map(|lines| cue(lines)).collect::<String>();
            let text = text_of(&format!("WEBVTT\n\n{file}"));
            text.lines().filter(|line| !line.trim().is_empty()).map(str::to_owned).collect()
        };
        assert_eq!(said(&["one", "one\ntwo", "two\nthree", "three"]), ["one", "two", "three"]);
        // The form of automatic captions: timed, still, above the next.
        let timed = [
            " \none<00:02.000><c> a</c>",
            "one a\n ",
            "one a\ntwo<00:02.000><c> b</c>",
            "two b\n ",
        ];
        assert_eq!(said(&timed), ["one a", "two b"]);
        // Words are added one by one, and lines move up.
        let grown = ["one", "one two", "one two three\nfour", "one two three\nfour five"];
        assert_eq!(said(&grown), ["one", "two", "three", "four", "five"]);
        let moved = ["a b\nc", "c d\ne", "e f", "e f g"];
        assert_eq!(said(&moved), ["a b", "c", "d", "e", "f", "g"]);
        // Such lines are repeated on purpose.
        let song = ["la la", "la la", "the sea", "the tide", "rises", "no", "no"];
        assert_eq!(said(&song), song);
        assert_eq!(said(&["no", "no"]), ["no", "no"]);
    }

    #[test]
    fn captions_of_youtube_have_times_in_one_line() {
        check(
            "0:00:01.000,0:00:03.500\nTwice a day[br]the sea\n\n\
             1:00:03.500,1:00:06.000\n1,2 rises.\n",
            "\nTwice a day the sea\n\n\n1,2 rises.\n",
        );
    }

    #[test]
    fn words_outside_of_cues_stay() {
        // An empty line within a cue, and a cue without a number.
        check(
            "1\n00:00:01,000 --> 00:00:03,500\nTwice a day\n\nthe sea rises.\n\n\
             2\n00:00:04,000 --> 00:00:05,000\nIt falls.\n00:00:06,000 --> 00:00:07,000\nSo.",
            "\n\nTwice a day\n\nthe sea rises.\n\n\n\nIt falls.\n\nSo.",
        );
        // A text with the same beginning as subtitles, with and without an example.
        check(
            "WEBVTT\n\nThis is\na cue:\n\n00:01.000 --> 00:03.000\nTwice.\n\nNOTED.\n",
            "\n\nThis is\na cue:\n\n\nTwice.\n\nNOTED.\n",
        );
        let text = "WEBVTT is a format\nof subtitles.\n\nA --> B\n";
        check(text, text);
        // Empty lines before the header.
        check("\nWEBVTT\n\n00:01.000 --> 00:03.000\nTwice.", "\n\n\n\nTwice.");
    }

    #[test]
    fn a_text_about_subtitles_is_none() {
        let begins = FORMAT.markup.as_ref().unwrap().begins;
        let check = |text: &str, expected: bool| {
            let bytes = text.as_bytes();
            assert_eq!(
                begins(&crate::format::Beginning { bytes, text: bytes }),
                expected,
                "{text}"
            );
        };
        check("WEBVTT", true);
        check("WEBVTT\tx", true);
        check("WEBVTTX", false);
        check("7\r\n00:00:01,000 --> 00:00:03,500\r\nwords", true);
        check("0:00:01.000,0:00:03.500\nwords", true);
        check("[Script Info]\r\n", true);
        check("0:00:01.000,5\nwords", false);
        check("1,2\nwords", false);
        check("7\nwords --> others", false);
        check("", false);
    }

    proptest! {
        #[test]
        fn every_line_stays_a_line(
            lines in prop::collection::vec(
                prop_oneof!["1|WEBVTT|NOTE", "0:1 --> 0:2", "[a-c<>{}\\\\ \r]{0,8}"], 0..20,
            ),
        ) {
            let subtitles = lines.join("\n");
            let count = |text: &str| text.matches('\n').count();
            prop_assert_eq!(count(&text_of(&subtitles)), count(&subtitles), "{:?}", subtitles);
        }
    }
}
