//! A passage in files of several markups.

use serde_json::json;

use crate::dir::Dir;
use crate::text::words;

/// Writes `in/a.md`, `in/b.tex`, `in/c.ipynb` and `in/d`, which is LaTeX too, and returns the
/// passage of six lines that each has, from the lines 5, 3, 4 and 2 of its text on.
pub fn files(dir: &Dir) -> String {
    let lines: Vec<String> = (0..6).map(|line| words(100 + line, 10)).collect();
    let passage = lines.join("\n");
    dir.write("in/a.md", format!("# Title\n\n[link](http://x.org/y)\n\n{passage}\n"));
    let body = passage.replace("w1", "\\emph{w}1");
    dir.write("in/b.tex", format!("\\documentclass{{x}}\n\\begin{{document}}\n{body}\n"));
    let cell = |kind: &str, source: &str| json!({"cell_type": kind, "source": [source]});
    let cells = [cell("markdown", "# One\ntwo"), cell("code", &passage)];
    dir.write("in/c.ipynb", json!({"cells": cells, "nbformat": 4}).to_string());
    // The names of files do not fit their contents.
    dir.write("in/d", format!("\\documentclass{{x}}\n{passage}\n"));
    passage
}
