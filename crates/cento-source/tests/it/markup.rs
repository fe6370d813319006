//! Pages of the web and texts with markup.

#[cfg(unix)]
use std::sync::Arc;
#[cfg(unix)]
use std::sync::atomic::{AtomicBool, Ordering};

#[cfg(unix)]
use crate::common::make_pipe;
use crate::common::{Dir, read, read_one, words};
use cento_source::{Html, SourceOptions};
use cento_testing::markup;

fn with_html(html: Html) -> SourceOptions {
    SourceOptions { html, ..SourceOptions::default() }
}

#[test]
fn the_content_of_a_page_is_read_unless_all_is_requested() {
    let dir = Dir::new();
    let menu: String = (0..40).map(|i| format!("<li><a href='/{i}'>menu{i}</a></li>")).collect();
    let content = words(1, 80);
    let page = format!("<html><body><ul>{menu}</ul><p>{content}</p><ul>{menu}</ul></body></html>");
    dir.write("a.txt", &page);
    let text = |html: Html| read(&dir, &["a.txt"], &with_html(html)).text("a.txt").to_owned();
    assert_eq!(text(Html::default()), content);
    let all = text(Html::All);
    assert!(all.starts_with("menu0\nmenu1\n") && all.contains(&content), "{all}");
    assert_eq!(text(Html::Source), page);
}

#[test]
fn a_page_without_a_declaration_is_known_by_its_name() {
    let dir = Dir::new();
    dir.write("b.html", "<p>some words</p>");
    assert_eq!(read_one(&dir, "b.html").text("b.html"), "some words");
    dir.write("b.txt", "<p>some words</p>");
    assert_eq!(read_one(&dir, "b.txt").text("b.txt"), "<p>some words</p>");
}

#[test]
fn markup_is_taken_out_and_lines_stay_lines() {
    let dir = Dir::new();
    let passage = markup::files(&dir);
    let found = read_one(&dir, "in");
    assert_eq!(found.counts(), [4, 0, 0, 0], "{found:?}");
    for (id, line) in [("in/a.md", 5), ("in/b.tex", 3), ("in/c.ipynb", 4), ("in/d", 2)] {
        let text = found.text(id);
        let start = text.find(&passage).unwrap_or_else(|| panic!("{id}: {text}"));
        assert_eq!(1 + text[..start].matches('\n').count(), line, "{id}: {text}");
        assert!(!text.contains("x.org") && !text.contains("class"), "{id}: {text}");
    }
    let source = read(&dir, &["in/a.md"], &with_html(Html::Source));
    assert!(source.text("in/a.md").contains("http://x.org/y"));
}

/// Regression: the included file was opened first, and a pipe or device may never end.
#[cfg(unix)]
#[test]
fn an_included_file_outside_of_the_inputs_is_never_opened() {
    let dir = Dir::new();
    let included = dir.path("pipe.tex");
    make_pipe(&included);
    dir.write("in/main.tex", "\\documentclass{a}\\input{../pipe}\\begin{document}\\firm{} x\n");
    let is_opened = Arc::new(AtomicBool::new(false));
    let writer = std::thread::spawn({
        let (included, is_opened) = (included.clone(), is_opened.clone());
        move || {
            // Waits for a reader.
            let pipe = std::fs::File::options().write(true).open(included);
            is_opened.store(true, Ordering::SeqCst);
            drop(pipe);
        }
    });
    let found = read_one(&dir, "in");
    assert!(!is_opened.load(Ordering::SeqCst));
    assert_eq!(found.text("in/main.tex"), " x\n");
    drop(std::fs::File::open(&included));
    writer.join().unwrap();
}

#[test]
fn macros_of_latex_hold_across_the_files_of_a_project() {
    let dir = Dir::new();
    let main = "\\documentclass{book}\n\\usepackage[a]{amsmath, own}\n\\input{macros}\n\
        \\newcommand{\\firm}{Acme Ltd}\n\\begin{document}\n\\input{chapters/one}\n";
    dir.write("in/thesis/thesis.tex", main);
    dir.write("in/thesis/macros.tex", "\\newcommand{\\firm}{nobody}\\def\\place{\\town{} Bay}\n");
    dir.write("in/thesis/own.sty", "\\newcommand{\\town}{Northam}\n");
    let chapter = "The board of \\firm{} met in \\place, at \\ship.\n\\input{chapters/two}\n";
    dir.write("in/thesis/chapters/one.tex", chapter);
    dir.write("in/thesis/chapters/two.tex", "\\firm{} again, \\input{../../../out}\n");
    // Files outside of the inputs stay unread, and so do files of different projects.
    dir.write("out.tex", "\\newcommand{\\ship}{sea}\n");
    dir.write("in/paper.tex", "\\documentclass{a}\\def\\ship{sea}\\begin{document}\\firm{} x\n");
    let found = read_one(&dir, "in");
    assert_eq!(
        found.text("in/thesis/chapters/one.tex"),
        "The board of Acme Ltd met in Northam Bay, at .\n\n"
    );
    assert_eq!(found.text("in/thesis/chapters/two.tex"), "Acme Ltd again, \n");
    assert_eq!(found.text("in/paper.tex"), " x\n");
    // Named files are a project, too.
    let two = ["in/thesis/chapters/two.tex", "in/thesis/thesis.tex", "in/thesis/chapters/one.tex"];
    let found = read(&dir, &two, &SourceOptions::default());
    assert_eq!(found.text("in/thesis/chapters/two.tex"), "Acme Ltd again, \n");
    let alone = read(&dir, &two[..1], &SourceOptions::default());
    assert_eq!(alone.text("in/thesis/chapters/two.tex"), " again, \n");
}
