//! Values of form fields.
//!
//! Most fields have an appearance stream, which the interpreter draws like other contents. This
//! module reads the values of fields without an appearance, at the position of the field.

use hayro_interpret::hayro_syntax::object::{Array, Dict, Name, Object, Rect, String as Bytes};
use hayro_interpret::hayro_syntax::page::Page;
use hayro_interpret::kurbo::{Affine, Point, Vec2};

use super::page::{Letter, Sight};
use super::text_string::decoded;

/// Maximum nesting of fields.
const DEPTH_MAX: usize = 16;

/// The maximum height of letters in a tall field, in points.
const SIZE_MAX: f64 = 12.0;

/// The flags of annotations that are not displayed: Hidden and NoView.
const NOT_SHOWN: u32 = 1 << 1 | 1 << 5;

/// Returns the values of fields without an appearance, as letters at the positions of the fields.
pub fn values(page: &Page<'_>, transform: Affine) -> Vec<Letter> {
    let mut letters = Vec::new();
    let Some(all) = page.raw().get::<Array<'_>>("Annots") else { return letters };
    for field in all.iter::<Dict<'_>>() {
        let kind = field.get::<Name<'_>>("Subtype");
        let is_widget = kind.is_some_and(|kind| kind.as_str() == "Widget");
        let is_shown = field.get::<u32>("F").unwrap_or(0) & NOT_SHOWN == 0;
        if !is_widget
            || !is_shown
            || field.get::<Dict<'_>>("AP").is_some_and(|all| all.contains_key("N"))
        {
            continue;
        }
        let Some(area) = field.get::<Rect>("Rect") else { continue };
        if let Some(value) = value(&field) {
            push(&value, &area, transform, &mut letters);
        }
    }
    letters
}

/// Returns the value of a field of text, or of a choice.
fn value(field: &Dict<'_>) -> Option<String> {
    let kind = inherited(field, |field| field.get::<Name<'_>>("FT"))?;
    if !["Tx", "Ch"].contains(&kind.as_str()) {
        return None;
    }
    let texts = match inherited(field, |field| field.get::<Object<'_>>("V"))? {
        Object::String(text) => vec![decoded(text.as_bytes())],
        Object::Stream(stream) => vec![decoded(&stream.decoded_data().ok()?)],
        Object::Array(all) => {
            all.iter::<Bytes<'_>>().map(|text| decoded(text.as_bytes())).collect()
        }
        _ => return None,
    };
    Some(texts.join("\n"))
}

/// Returns an entry of a field or of the nearest enclosing field that has the entry.
fn inherited<'a, T>(field: &Dict<'a>, get: impl Fn(&Dict<'a>) -> Option<T>) -> Option<T> {
    let mut field = field.clone();
    for _ in 0..DEPTH_MAX {
        if let Some(found) = get(&field) {
            return Some(found);
        }
        field = field.get::<Dict<'_>>("Parent")?;
    }
    None
}

/// Adds the letters of a value, from the top of the field downwards. Letters are half as wide as
/// high.
fn push(value: &str, area: &Rect, transform: Affine, letters: &mut Vec<Letter>) {
    let along = transform * Point::new(1.0, 0.0) - transform * Point::ZERO;
    let lines: Vec<&str> = value.split(['\r', '\n']).filter(|line| !line.is_empty()).collect();
    let height = (area.y1 - area.y0).abs() / lines.len().max(1) as f64;
    let size = (height * 0.8).clamp(1.0, SIZE_MAX);
    let top = area.y0.max(area.y1);
    for (number, line) in lines.iter().enumerate() {
        let y = top - height * (number as f64 + 0.75);
        for (at, letter) in line.chars().enumerate() {
            let x = area.x0.min(area.x1) + size * 0.5 * at as f64;
            letters.push(Letter {
                text: if letter.is_control() { ' ' } else { letter }.to_string().into(),
                origin: transform * Point::new(x, y),
                along: if along.hypot() > 0.0 {
                    along / along.hypot()
                } else {
                    Vec2::new(1.0, 0.0)
                },
                size,
                advance: size * 0.5,
                sight: Sight::Pattern,
                is_unknown: false,
            });
        }
    }
}
