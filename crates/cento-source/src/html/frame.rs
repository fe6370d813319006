//! Pages within a page, and fallbacks: markup for browsers without scripts, frames or films.
//!
//! A frame may have its page in the attribute `srcdoc`, and a reader sees this page. A reader with
//! scripts does not see a `noscript`. It often has a second copy of an image or text that a script
//! shows, so its letters count as hidden, even if the page shows nothing else.

use html5gum::StartTag;

use super::place::PlaceInPage;
use super::style::PageStyle;
use super::{PagePiece, letters_of, pieces_seen};

/// The maximum nesting of frames.
pub(super) const FRAMES_MAX: usize = 3;

/// Returns the pieces of the page in a frame, and how many words a reader sees.
pub(super) fn framed(tag: &StartTag<usize>, frames: usize) -> Option<(Vec<PagePiece>, i64)> {
    let is_frame = frames > 0 && tag.name.as_slice() == b"iframe";
    let page = tag.attributes.get(&b"srcdoc"[..]).filter(|_| is_frame)?;
    let page = String::from_utf8_lossy(page);
    let (pieces, words) = pieces_seen(&page, PageStyle::of(&page), false, frames - 1);
    Some((pieces, words.seen))
}

/// Returns the number of letters that a fallback would show.
pub(super) fn letters(source: &str, frames: usize) -> usize {
    if frames == 0 || !source.contains('<') {
        return letters_of(source);
    }
    let (pieces, _) = pieces_seen(source, PageStyle::default(), true, 0);
    let letters = pieces.iter().map(|piece| match piece {
        PagePiece::Text { text, .. } => letters_of(text),
        PagePiece::Hidden(letters) => *letters,
        PagePiece::Tag { .. } => 0,
    });
    letters.sum()
}

impl PagePiece {
    /// Turns a piece of a framed page into a piece of the surrounding page. The text gets the place
    /// of the frame.
    pub(super) fn in_frame(self, frame: &StartTag<usize>, around: PlaceInPage) -> PagePiece {
        match self {
            PagePiece::Text { text, words, place, .. } => {
                let PlaceInPage { is_title, is_link, is_raised, is_note, is_beside, .. } = place;
                let is_beside = is_beside || around.is_beside;
                let place =
                    PlaceInPage { is_title, is_link, is_raised, is_note, is_beside, ..around };
                PagePiece::Text { text, span: frame.span.start..frame.span.end, words, place }
            }
            piece => piece,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::html::{Html, text_of_page};

    fn all_of(body: &str) -> (String, usize) {
        let (text, _, hidden) = text_of_page(&format!("<body>{body}"), Html::All);
        (text, hidden)
    }

    #[test]
    fn a_page_in_a_frame_is_text() {
        let inner =
            "<p>One &lt; two</p><p hidden>no</p>".replace('&', "&amp;").replace('<', "&lt;");
        for (body, text, hidden) in [
            (format!("a<iframe srcdoc=\"{inner}\">no</iframe>b"), "a\nOne < two\nb", 4),
            (format!("a<iframe hidden srcdoc=\"{inner}\"></iframe>b"), "a\nb", 0),
            (format!("a<div hidden><iframe srcdoc=\"{inner}\"></iframe></div>b"), "a\nb", 0),
            ("a<iframe srcdoc='<iframe srcdoc=\"<b>c</b>\">'></iframe>".to_owned(), "a\nc", 0),
            ("<p>a<p srcdoc=b>".to_owned(), "a", 0),
        ] {
            assert_eq!(all_of(&body), (text.to_owned(), hidden), "{body}");
        }
        let page = format!("<body><p>a</p><iframe srcdoc=\"{inner}\"></iframe>");
        let (text, origins, _) = text_of_page(&page, Html::All);
        let place = origins.unwrap().of((2, 5)).unwrap();
        let tag = &page[place.start as usize..place.end as usize];
        assert_eq!((&*text, tag), ("a\nOne < two", &page[14..page.len() - 9]));
    }

    #[test]
    fn source_that_only_a_browser_without_scripts_shows_is_counted() {
        for (body, text, hidden) in [
            ("<p>a<noscript><p title=x>no<img alt=y></p></noscript>b", "ab", 2),
            ("a <noscript><style>.x{}</style><iframe src=x></iframe></noscript>b", "a b", 0),
            ("<video src=x>no <b>no</b></video><audio>no</audio>a", "a", 6),
            ("<iframe src=x>no</iframe><canvas>no</canvas><noembed>no</noembed>a", "a", 6),
            ("<object data=x>a</object><frameset><noframes>no</noframes>", "a", 2),
            ("<noscript>You need scripts</noscript><div id=root></div>", "", 14),
            // Old pages of frames have nothing else.
            ("<frameset><noframes><p>a</noframes></frameset>", "a", 0),
        ] {
            assert_eq!(all_of(body), (text.to_owned(), hidden), "{body}");
        }
    }
}
