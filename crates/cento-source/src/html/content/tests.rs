//! Tests of the content of web pages.

use super::super::tests::{PARAGRAPHS, collapsed, shown};
use crate::html::Html;

const PAGE: &str = "<!DOCTYPE html><html><head><title>A shop</title><style>p {}</style></head>\
    <body><ul><li><a href='/'>Home</a></li><li><a href='/b'>Buy</a></li></ul>\
    <h1>The long and winding headline of it all</h1>\n<p>Six words &amp; a <b>bo</b>ld  one here.\
    <p>Another paragraph that has enough words to count.<script>if (a < b) c();</script></p>\
    <div><a>Next</a></div><div><a>Last</a></div></body></html>";

#[test]
fn the_content_is_the_part_with_many_words_and_few_tags() {
    let content = "The long and winding headline of it all\nSix words & a bold one here.\n\
                   Another paragraph that has enough words to count.";
    assert_eq!(shown(PAGE.as_bytes(), None, Html::Content), content);
    let all = format!("A shop\nHome\nBuy\n{content}\nNext\nLast");
    assert_eq!(shown(PAGE.as_bytes(), None, Html::All), all);
    assert_eq!(shown(PAGE.as_bytes(), None, Html::Source), PAGE);
}

#[test]
fn the_colors_of_a_program_do_not_tear_the_content_apart() {
    let program = "<i>let</i> <b>x</b> <u>=</u> <b>1</b>;";
    let page = format!(
        "<ul><li><a>Menu</a></ul><p>Some words before it.<pre><code>{program}</code></pre>\
         <p>And others after it, which are more.\
         <ul><li><a>a</a><li><a>b</a></ul>"
    );
    let expected = "Some words before it.\nlet x = 1;\nAnd others after it, which are more.";
    assert_eq!(shown(page.as_bytes(), None, Html::Content), expected);
    // An end tag without a start tag ends nothing.
    let page = "</pre><a>x</a><p>two words</p><a>y</a>";
    assert_eq!(shown(page.as_bytes(), None, Html::Content), "two words");
}

#[test]
fn markup_around_words_takes_none_of_them() {
    // Only the first words of each paragraph were read.
    let words = "the ferry carried farmers children and sheep for two hundred years before the \
                 bridge was built and its last pilot kept a diary of every crossing until the \
                 end";
    let each = |before: &str, after: &str| {
        words.split(' ').map(|word| format!("{before}{word}{after} ")).collect::<String>()
    };
    let menu = "<ul><li><a href=/>Home</a><li><a href=/b>Buy</a></ul>";
    for paragraph in [
        each("<a href=x>", "</a>"),
        each("<span class=line><span class=word title='1 2 3 4'>", "</span></span><br>"),
        each("", " <i>x</i>"),
    ] {
        let page = format!("<html>{menu}<p>{paragraph}</p>{menu}");
        let expected = collapsed(&shown(paragraph.as_bytes(), None, Html::All));
        assert_eq!(collapsed(&shown(page.as_bytes(), None, Html::Content)), expected);
    }
    // Each cell is a paragraph.
    let page = format!("<html><table>{}</table>", each("<tr><td>", "</td></tr>"));
    assert_eq!(collapsed(&shown(page.as_bytes(), None, Html::Content)), words);
}

const MENU: &str = "<nav><p>All our pages</p><a href=/>Home</a></nav>\
    <ul><li><a href=/>Home</a><li><a href=/b>Buy a ticket</a></ul>";

#[test]
fn tables_talk_and_short_paragraphs_around_the_core_are_content() {
    // The table and the talk were skipped, so pages that differed only there became exact
    // duplicates.
    let row = |n: i32| format!("<tr><td>{n} March</td><td>brig Anna</td><td>coal</td></tr>");
    let table = format!("<table>{}</table><p>An end.</p>", (1..30).map(row).collect::<String>());
    let talk = "<div>A: Who?</div><div>B: The pilot.</div>".repeat(30);
    let linked = "<table><tr><td><a href=x>Anna</a></td><td>of Hull in the year 1841</td></table>";
    for rest in [&table, &talk, linked, "<p>He died.</p>", "<ul><li>a brig<li>a sloop</ul>"] {
        let main = ("<div role=main>", "</div>");
        for (before, after) in [("<article>", "</article>"), ("<main>", "</main>"), main, ("", "")]
        {
            for inner in [
                format!("{PARAGRAPHS}{rest}"),
                format!("{rest}{PARAGRAPHS}"),
                format!("<div>{PARAGRAPHS}</div><div>{rest}</div>"),
            ] {
                let page = format!(
                    "<html><title>T</title><body>{MENU}{before}{inner}{after}\
                     <footer>Foot</footer>{MENU}"
                );
                let (read, all) = (
                    shown(page.as_bytes(), None, Html::Content),
                    shown(inner.as_bytes(), None, Html::All),
                );
                assert_eq!(collapsed(&read), collapsed(&all), "{page}");
            }
        }
    }
}

#[test]
fn menus_within_an_article_and_beside_it_are_left_out() {
    let page = format!(
        "<main><article>{PARAGRAPHS}{MENU}<p>He died.</p>\
        <div role=navigation><div>Up</div> and away</div><aside>An advertisement</aside>\
         </article></main>"
    );
    let text = shown(page.as_bytes(), None, Html::Content);
    let expected = shown(format!("{PARAGRAPHS}<p>He died.</p>").as_bytes(), None, Html::All);
    assert_eq!(text, expected);
    // A void element cannot be a menu around the remaining page.
    let marked = page.replacen("<main>", "<main><input role=navigation>", 1);
    assert_eq!(shown(marked.as_bytes(), None, Html::Content), expected);
    // The menu never ends, so it must not swallow the remaining page.
    let page = format!("<nav><a href=/>Home</a>{PARAGRAPHS}");
    let text = shown(page.as_bytes(), None, Html::Content);
    assert!(text.ends_with("is his own."), "{text}");
}

#[test]
fn the_summary_before_a_table_of_contents_is_content() {
    // Pages of an encyclopedia lost their first paragraphs, and tables between paragraphs.
    let summary = "<p>Mostyn is a harbor on the north coast, known for its pilots.</p>";
    let contents: String =
        (1..40).map(|n| format!("<li><a href=#s{n}>{n} Section</a></li>")).collect();
    let rows: String = (1..40).map(|n| format!("<tr><td><b>{n}</b><td><i>a</i></tr>")).collect();
    let inner = format!("{PARAGRAPHS}<table>{rows}</table><p>An end of it.</p>");
    let page = format!(
        "<div>{MENU}</div><div>{summary}<div><ul>{contents}</ul></div>{inner}</div><div>{MENU}\
         <p>A notice about the cookies of this site.</p></div>"
    );
    let read = shown(page.as_bytes(), None, Html::Content);
    let expected = shown(format!("{summary}{inner}").as_bytes(), None, Html::All);
    assert_eq!(collapsed(&read), collapsed(&expected));
}

#[test]
fn the_core_is_in_the_main_part() {
    // Teasers of other articles were longer than the article, and were the content.
    let article = "<p>The lifeboat of Mostyn went out at four in the night.</p>".repeat(6);
    let links: String = (1..9).map(|n| format!("<li><a href={n}>Story {n}</a></li>")).collect();
    let page = format!("<main>{article}</main><ul>{links}</ul><div>{}</div>", PARAGRAPHS.repeat(2));
    let read = shown(page.as_bytes(), None, Html::Content);
    assert!(read.starts_with("The lifeboat"), "{read}");
    assert!(!read.contains("Story 1"), "{read}");
    // An empty main part has none.
    let page = format!("<main><p>Loading</p></main>{PARAGRAPHS}");
    assert!(shown(page.as_bytes(), None, Html::Content).contains("is his own."));
}
