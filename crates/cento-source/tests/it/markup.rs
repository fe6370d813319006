//! Pages of the web and texts with markup.

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
