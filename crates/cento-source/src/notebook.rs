//! Text of Jupyter notebooks.
//!
//! The text has all cells in sequence, prose and code as written, without the output of the code.

use serde::Deserialize;

use crate::SourceOptions;
use crate::extracted::ExtractedText;
use crate::format::{FileFormat, Markup, TextOf};
use crate::jsonl::repaired;
use crate::markdown;

pub static FORMAT: FileFormat = FileFormat {
    name: "notebook",
    endings: &[".ipynb"],
    documents: "the cells of the notebook",
    feature: None,
    is_built: true,
    keeps_lines: false,
    example: br#"{"cells": [{"cell_type": "code", "source": ["tide = 2\n", "print(tide)"]}]}"#,
    markup: Some(Markup {
        is: "it is text",
        begins: |_| false,
        named_begins: Some(b"{"),
        text_of: TextOf::Bytes(|bytes, options| {
            let text = text_of(bytes, options)?;
            Ok((ExtractedText { text, ..ExtractedText::default() }, None))
        }),
        has_source: false,
    }),
};

/// A notebook of format 4, or of format 3, which has cells in worksheets.
#[derive(Deserialize)]
struct Notebook {
    #[serde(default)]
    cells: Vec<Cell>,
    #[serde(default)]
    worksheets: Vec<Worksheet>,
}

#[derive(Deserialize)]
struct Worksheet {
    #[serde(default)]
    cells: Vec<Cell>,
}

#[derive(Deserialize)]
struct Cell {
    #[serde(default)]
    cell_type: String,
    #[serde(default, alias = "input")]
    source: CellSource,
}

/// A string, or a list of lines with line ends.
#[derive(Deserialize)]
#[serde(untagged)]
enum CellSource {
    Whole(String),
    Lines(Vec<String>),
}

impl Default for CellSource {
    fn default() -> CellSource {
        CellSource::Whole(String::new())
    }
}

/// Returns the text of a notebook.
///
/// # Errors
/// When it is not a notebook, with the reason as a clause.
fn text_of(bytes: &[u8], options: &SourceOptions) -> Result<String, String> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let no_notebook = |why: &str| format!("it is damaged or no notebook: {why}");
    // serde would take the values of an array for the fields.
    if !bytes.trim_ascii_start().starts_with(b"{") {
        return Err(no_notebook("it is not a JSON object"));
    }
    let Notebook { cells, worksheets } = parsed(bytes).map_err(|why| no_notebook(&why))?;
    let mut text = String::new();
    for cell in cells.into_iter().chain(worksheets.into_iter().flat_map(|sheet| sheet.cells)) {
        let source = match cell.source {
            CellSource::Whole(source) => source,
            CellSource::Lines(lines) => lines.concat(),
        };
        let source = match cell.cell_type.as_str() {
            "markdown" => markdown::text_within(source, options),
            _ => source,
        };
        if !source.trim().is_empty() {
            let gap = if text.is_empty() { "" } else { "\n\n" };
            text.push_str(gap);
            text.push_str(source.trim_end());
        }
    }
    Ok(text)
}

/// Parses a notebook. Python writes `NaN` and halves of surrogate pairs, which JSON lacks, in the
/// output of cells, so such a notebook is repaired as a record would be.
fn parsed(bytes: &[u8]) -> Result<Notebook, String> {
    serde_json::from_slice(bytes).or_else(|error| {
        let again = repaired(bytes).and_then(|json| serde_json::from_str(&json).ok());
        again.ok_or_else(|| error.to_string())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(json: &str, expected: &str) {
        assert_eq!(text_of(json.as_bytes(), &SourceOptions::default()).as_deref(), Ok(expected));
    }

    #[test]
    fn cells_are_joined_without_their_output() {
        check(
            r##"{"cells": [
                {"cell_type": "markdown", "source": ["# One\n", "two"]},
                {"cell_type": "code", "source": "f(1)\n", "outputs": [{"text": ["printed"]}]},
                {"cell_type": "code", "source": []},
                {"cell_type": "raw", "source": "three"}], "nbformat": 4}"##,
            "One\ntwo\n\nf(1)\n\nthree",
        );
        check(
            r#"{"worksheets": [{"cells": [{"cell_type": "code", "input": ["a\n", "b"]}]}]}"#,
            "a\nb",
        );
        check("{}", "");
    }

    #[test]
    fn quotations_in_cells_keep_their_marks() {
        check(
            r#"{"cells": [{"cell_type": "markdown", "source": ["a\n", "\n", "> *b*\n", "c"]}]}"#,
            "a\n\n> b\n> c",
        );
    }

    #[test]
    fn json_as_python_writes_it_is_repaired() {
        check(
            r#"{"cells": [{"cell_type": "code", "source": ["a \ud83d b\n", "c"],
                "outputs": [{"data": {"x": [NaN, -Infinity]}}]}]}"#,
            "a \u{fffd} b\nc",
        );
    }

    #[test]
    fn a_file_that_is_no_notebook_is_refused() {
        let deep = format!("{{\"cells\":{}", "[".repeat(100_000));
        for json in ["", "[]", r#"{"cells": [{"source": 1}]}"#, &deep] {
            let why = text_of(json.as_bytes(), &SourceOptions::default()).unwrap_err();
            assert!(why.contains("damaged or no notebook"), "{why}");
        }
    }
}
