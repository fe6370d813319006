//! Rules of the style sheets within a page that hide elements, or raise marks of notes.
//!
//! Only `display: none` and `visibility: hidden` for a class, an id or an element count. Scripts
//! show tabs and menus by rules that depend on other elements, or that undo a rule, so such rules
//! hide nothing here. Rules for print do not count, because a reader sees the page
//! on a screen. Sheets in other files are not followed.

use std::collections::HashMap;

use html5gum::{SpanBound, StartTag};

use crate::css::{self, declared};

/// Maximum nesting of blocks in a sheet.
const DEPTH_MAX: usize = 16;

/// What hides the elements of a page.
#[derive(Default)]
pub struct PageStyle {
    /// The rules that hide elements, by a name in the selector.
    hiding: Selected,
    /// The rules that raise elements.
    raising: Selected,
    /// Whether the page declares no background anywhere, so that white text is invisible. A sheet
    /// in another file may declare any.
    is_on_paper: bool,
}

/// The elements that rules select, by a name in the selector.
type Selected = HashMap<String, Vec<Compound>>;

/// The names of an element in a selector: `p.note`. Classes and ids have their sign.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
struct Compound {
    element: Option<String>,
    names: Vec<String>,
}

/// A rule for the display or place of elements.
struct DisplayRule {
    /// The element that the rule is for.
    compound: Compound,
    /// Whether the rule depends on nothing else.
    is_simple: bool,
    /// Classes and ids in the selector, ids a hundredfold.
    specificity: usize,
    /// Whether the rule hides elements, or `None` if it says nothing about the display.
    hides: Option<bool>,
    raises: bool,
}

/// When a rule applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MediaOfRule {
    Screen,
    Print,
    /// On some screens.
    Other,
}

impl PageStyle {
    /// Returns the rules of the sheets of a page.
    pub fn of(page: &str) -> PageStyle {
        let mut rules = Vec::new();
        for (media, sheet) in sheets(page) {
            add_rules(&without_comments(sheet), media, &mut rules);
        }
        // The strongest rule that displays an element of this name.
        let mut displayed: HashMap<&str, (usize, usize)> = HashMap::new();
        for (at, rule) in rules.iter().enumerate().filter(|(_, rule)| rule.hides == Some(false)) {
            for name in rule.compound.all() {
                let strongest = displayed.entry(name).or_default();
                *strongest = (*strongest).max((rule.specificity, at));
            }
        }
        let mut hiding = Selected::new();
        for (at, rule) in rules.iter().enumerate().filter(|(_, rule)| rule.hides == Some(true)) {
            let strength = (rule.specificity, at);
            let is_undone = rule
                .compound
                .all()
                .any(|name| displayed.get(name).is_some_and(|strongest| *strongest > strength));
            let key = rule.compound.all().next().filter(|_| rule.is_simple && !is_undone);
            if let Some(key) = key {
                hiding.entry(key.to_owned()).or_default().push(rule.compound.clone());
            }
        }
        let mut raising = Selected::new();
        for rule in rules.iter().filter(|rule| rule.raises && rule.is_simple) {
            if let Some(key) = rule.compound.all().next() {
                raising.entry(key.to_owned()).or_default().push(rule.compound.clone());
            }
        }
        let is_on_paper = !has_background(page);
        PageStyle { hiding, raising, is_on_paper }
    }

    /// Returns whether white text is invisible.
    pub fn hides_white(&self) -> bool {
        self.is_on_paper
    }

    /// Returns whether a rule hides an element.
    pub fn hides<S: SpanBound>(&self, tag: &StartTag<S>) -> bool {
        is_selected(&self.hiding, tag)
    }

    /// Returns whether a rule raises an element above the line.
    pub fn raises<S: SpanBound>(&self, tag: &StartTag<S>) -> bool {
        is_selected(&self.raising, tag)
    }
}

/// Returns whether rules select an element.
fn is_selected<S: SpanBound>(selected: &Selected, tag: &StartTag<S>) -> bool {
    if selected.is_empty() {
        return false;
    }
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let value = |name: &[u8]| tag.attributes.get(name).map(|value| text(value));
    let classes = value(b"class").unwrap_or_default();
    let mut names: Vec<String> =
        classes.split_ascii_whitespace().map(|class| format!(".{class}")).collect();
    names.extend(value(b"id").map(|id| format!("#{id}")));
    let element = text(&tag.name);
    let is_of = |compound: &Compound| {
        compound.element.as_ref().is_none_or(|name| *name == element)
            && compound.names.iter().all(|name| names.contains(name))
    };
    let mut keys = names.iter().chain([&element]);
    keys.any(|key| selected.get(key).is_some_and(|all| all.iter().any(is_of)))
}

/// Returns whether a page declares a background, or reads a sheet that may.
fn has_background(page: &str) -> bool {
    const DECLARED: [&str; 4] = ["background", "bgcolor", "stylesheet", "@import"];
    let page = page.to_ascii_lowercase();
    DECLARED.iter().any(|word| memchr::memmem::find(page.as_bytes(), word.as_bytes()).is_some())
}

impl Compound {
    /// Reads the last element of a selector, without states and attributes.
    fn of(selector: &str) -> Compound {
        let last = selector.rsplit(is_combinator).next().unwrap_or_default();
        let plain = &last[..last.find([':', '[']).unwrap_or(last.len())];
        let mut compound = Compound::default();
        let mut rest = plain;
        while !rest.is_empty() {
            let next = rest.char_indices().skip(1).find(|(_, c)| matches!(c, '.' | '#'));
            let len = next.map_or(rest.len(), |(at, _)| at);
            let (name, after) = rest.split_at(len);
            match name.starts_with(['.', '#']) {
                true => compound.names.push(name.to_owned()),
                false => compound.element = Some(name.to_ascii_lowercase()),
            }
            rest = after;
        }
        compound
    }

    /// Returns the classes and ids, or else the name of the element.
    fn all(&self) -> impl Iterator<Item = &str> {
        let element = self.element.iter().filter(|_| self.names.is_empty());
        self.names.iter().chain(element).map(String::as_str)
    }
}

fn is_combinator(c: char) -> bool {
    c.is_whitespace() || matches!(c, '>' | '+' | '~')
}

/// Returns the style sheets of a page, with the media of every sheet. Sheets for browsers without
/// scripts are left out.
fn sheets(page: &str) -> Vec<(MediaOfRule, &str)> {
    let mut found = Vec::new();
    let mut is_in_noscript = false;
    let mut rest = page;
    while let Some(open) = rest.find('<') {
        rest = &rest[open + 1..];
        let begins = |name: &str| {
            let start = rest.as_bytes().get(..name.len());
            start.is_some_and(|start| start.eq_ignore_ascii_case(name.as_bytes()))
        };
        if begins("noscript") || begins("/noscript") {
            is_in_noscript = begins("noscript");
        } else if begins("style") && !begins("styled") {
            let Some((tag, after)) = rest.split_once('>') else { break };
            let is_end = |at: &usize| {
                let tag = after.as_bytes().get(at + 1..at + 7);
                tag.is_some_and(|tag| tag.eq_ignore_ascii_case(b"/style"))
            };
            let end = after.match_indices('<').map(|(at, _)| at).find(is_end);
            let end = end.unwrap_or(after.len());
            if !is_in_noscript {
                let media = tag.to_ascii_lowercase();
                let media = media.split_once("media=").map_or("", |(_, media)| media);
                let media = media.split(['>', '"', '\'']).find(|part| !part.is_empty());
                found.push((MediaOfRule::of(media.unwrap_or_default()), &after[..end]));
            }
            rest = &after[end..];
        }
    }
    found
}

impl MediaOfRule {
    /// Reads a list of media.
    fn of(media: &str) -> MediaOfRule {
        let of_one = |media: &str| match media.trim().trim_start_matches("only ").trim() {
            "" | "all" | "screen" | "not print" => MediaOfRule::Screen,
            media if media.starts_with("print") || media == "not screen" => MediaOfRule::Print,
            _ => MediaOfRule::Other,
        };
        let mut all = media.split(',').map(of_one);
        let first = all.next().unwrap_or(MediaOfRule::Screen);
        all.fold(first, |all, one| match all == one {
            true => all,
            false if [all, one].contains(&MediaOfRule::Screen) => MediaOfRule::Screen,
            false => MediaOfRule::Other,
        })
    }

    fn within(self, outer: MediaOfRule) -> MediaOfRule {
        match (self, outer) {
            (MediaOfRule::Print, _) | (_, MediaOfRule::Print) => MediaOfRule::Print,
            (MediaOfRule::Other, _) | (_, MediaOfRule::Other) => MediaOfRule::Other,
            _ => MediaOfRule::Screen,
        }
    }
}

fn without_comments(sheet: &str) -> String {
    let mut kept = String::with_capacity(sheet.len());
    let mut rest = sheet;
    while let Some((before, comment)) = rest.split_once("/*") {
        kept.push_str(before);
        kept.push(' ');
        rest = comment.split_once("*/").map_or("", |(_, after)| after);
    }
    kept + rest
}

/// Adds the rules of a sheet that say how elements are displayed.
fn add_rules(sheet: &str, media: MediaOfRule, rules: &mut Vec<DisplayRule>) {
    let mut open = vec![media];
    let mut rest = sheet;
    while let Some(at) = rest.find(['{', '}', ';']) {
        let (head, sign) = (rest[..at].trim(), rest.as_bytes()[at]);
        rest = &rest[at + 1..];
        let now = open.last().copied().unwrap_or(media);
        match (sign, head.strip_prefix('@')) {
            (b'}', _) => {
                open.pop();
                if open.is_empty() {
                    open.push(media);
                }
            }
            (b'{', Some(name)) => {
                let condition = name.to_ascii_lowercase();
                let is_of = |name: &str| condition.starts_with(name);
                if open.len() < DEPTH_MAX && is_of("media") {
                    open.push(MediaOfRule::of(&condition["media".len()..]).within(now));
                } else if open.len() < DEPTH_MAX && (is_of("supports") || is_of("layer")) {
                    open.push(now);
                } else {
                    rest = &rest[end_of_block(rest)..];
                }
            }
            (b'{', None) => {
                let end = end_of_block(rest);
                add_rule(head, &rest[..end], now, rules);
                rest = rest.get(end + 1..).unwrap_or_default();
            }
            _ => {}
        }
    }
}

/// Returns where the bracket is that closes a block.
fn end_of_block(sheet: &str) -> usize {
    let (mut depth, mut quote) = (0_usize, None);
    for (at, byte) in sheet.bytes().enumerate() {
        match (quote, byte) {
            (Some(open), byte) if byte == open || byte == b'\n' => quote = None,
            (Some(_), _) => {}
            (None, b'"' | b'\'') => quote = Some(byte),
            (None, b'{') => depth += 1,
            (None, b'}') if depth == 0 => return at,
            (None, b'}') => depth -= 1,
            (None, _) => {}
        }
    }
    sheet.len()
}

fn add_rule(selectors: &str, declarations: &str, media: MediaOfRule, rules: &mut Vec<DisplayRule>) {
    let is_one = |property: &str, values: [&str; 2]| {
        let value = declared(declarations, property)?;
        Some(values.iter().any(|other| value.eq_ignore_ascii_case(other)))
    };
    let hidden = [is_one("display", ["none"; 2]), is_one("visibility", ["hidden", "collapse"])];
    let hides = (hidden != [None; 2]).then_some(hidden.contains(&Some(true)));
    let raises = css::is_raised(declarations);
    // A rule for some screens hides nothing for certain, but may display something.
    let is_uncertain = hides == Some(true) && media == MediaOfRule::Other;
    if (hides.is_none() && !raises) || media == MediaOfRule::Print || is_uncertain {
        return;
    }
    for selector in selectors.split(',').map(str::trim).filter(|selector| !selector.is_empty()) {
        let is_special = |c: char| is_combinator(c) || matches!(c, ':' | '[' | '*' | '&' | '\\');
        let ids = selector.matches('#').count();
        let others = selector.matches(['.', ':', '[']).count();
        rules.push(DisplayRule {
            compound: Compound::of(selector),
            is_simple: !selector.contains(is_special),
            specificity: 100 * ids + others,
            hides,
            raises,
        });
    }
}

#[cfg(test)]
mod tests {
    use crate::html::{Html, text_of_page};

    /// Checks which parts of a page are read: those whose text begins with `shown`.
    #[track_caller]
    fn check(sheet: &str, body: &str) {
        let page = format!(
            "<html><head>{sheet}</head><body><p>shown as the text of a page with some words</p>\
             {body}</body></html>"
        );
        let (text, _, hidden) = text_of_page(&page, Html::All);
        assert!(!text.contains("hidden"), "{text}");
        assert_eq!(text.matches("shown").count(), page.matches("shown").count(), "{text}");
        assert_eq!(hidden > 0, body.contains("hidden"), "{page}");
    }

    #[test]
    fn rules_of_a_page_hide_elements() {
        let sheet = "<style>/* .a { display: none } */\
            .x, p.y { color: red; display: none !important }\
            #z{display:none}@media screen { .s { display: none } } .x::before { content: '}' }\
            .w.v { display: none } .h { visibility: Hidden }</style>";
        check(
            sheet,
            "<p class='b x'>hidden<p><p class=y>hidden</p><div id=z>hidden <b>too hidden</b></div>\
             <p class=s>hidden</p><p class='v w'>hidden</p><p class=h>hidden</p>",
        );
        check(sheet, "<p class=a>shown</p><div class=y>shown</div><p class=w>shown</p>");
        check(sheet, "<p class=x style='display: block'>shown</p>");
    }

    #[test]
    fn rules_for_print_and_states_of_scripts_hide_nothing() {
        let sheet = "<style>@media print { .p { display: none } .q { display: block } }\
            .q { display: none } @media (max-width: 600px) { .m { display: none } }\
            .js .t { display: none } .tab { display: none } .tab.on { display: block }\
            .i { visibility: hidden } .js .i { visibility: visible; opacity: 1 }\
            .r { display: none } .open > .r { display: block } .u:hover { display: none }</style>\
            <style media='print'>.n { display: none }</style>\
            <noscript><style>.o { display: none }</style></noscript>";
        let names = ["p", "m", "t", "tab", "r", "u", "n", "o", "i"];
        let body: String = names.map(|name| format!("<p class={name}>shown</p>")).concat();
        check(sheet, &body);
        check(sheet, "<p class=q>hidden</p>");
    }

    #[test]
    fn a_sheet_that_hides_most_words_is_not_believed() {
        check(
            "<style>.x { display: none }</style>",
            &format!("<p class=x>{}</p>", "shown by a script ".repeat(9)),
        );
    }

    #[test]
    fn any_sheet_is_read_to_its_end() {
        for sheet in [
            "{",
            "}}}",
            "@media",
            "@media{{",
            "\u{e9}.x{display:none",
            ".\u{e9}{display:none}",
            "/*",
        ] {
            check(&format!("<style>{sheet}</style>"), "<p class=n>shown</p>");
            check(&format!("<STYLE media=>{sheet}</Style>"), "");
        }
    }
}
