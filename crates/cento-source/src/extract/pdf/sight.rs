//! Decides which letters of a page a reader sees.
//!
//! Invisible letters are drawn in the color beneath them, painted over, transparent, clipped,
//! outside of the page, or below two points in size among larger letters. Undrawn letters are read
//! on top of an image, which is then a scan, and on pages without drawn letters.

use hayro_interpret::kurbo::Rect;

use super::page::{Canvas, Letter, Sight};

/// The minimum size of visible letters among larger letters, in points.
const SIZE_MIN: f64 = 2.0;

/// The maximum difference of equal colors, in each of red, green and blue.
const COLOR_DIFFERENCE: f32 = 0.05;

const WHITE: [f32; 3] = [1.0; 3];

/// Returns for each letter whether a reader of the page sees the letter.
pub fn seen(canvas: &Canvas<'_, '_>, page: Rect) -> Vec<bool> {
    let letters = &canvas.letters;
    let is_drawn = |letter: &Letter| matches!(letter.sight, Sight::Color(_) | Sight::Pattern);
    let has_drawn = letters.iter().any(|letter| is_drawn(letter) && !letter.is_space());
    let larger = letters.iter().filter(|letter| letter.size > 3.0 * SIZE_MIN).count();
    let is_seen = |(at, letter): (usize, &Letter)| {
        let center = letter.center();
        if !page.inflate(2.0, 2.0).contains(center) || letter.sight == Sight::Gone {
            return false;
        }
        if larger >= 10 && letter.size < SIZE_MIN {
            return false;
        }
        // Recognized letters of a scan may be beneath, within or above the image, in any color.
        if canvas.images.iter().any(|image| image.contains(center)) {
            return true;
        }
        match letter.sight {
            Sight::Undrawn => !has_drawn,
            Sight::Color(color) => shows(canvas, at, letter, color),
            Sight::Pattern | Sight::Gone => true,
        }
    };
    letters.iter().enumerate().map(is_seen).collect()
}

/// Returns whether a letter differs from the color beneath, and nothing covers the letter.
fn shows(canvas: &Canvas<'_, '_>, at: usize, letter: &Letter, color: [f32; 3]) -> bool {
    let center = letter.center();
    let count = canvas.fills.partition_point(|fill| fill.after <= at);
    let (before, after) = canvas.fills.split_at(count);
    let is_covered = after.iter().any(|fill| fill.color.is_some() && fill.area.contains(center));
    let beneath = before.iter().rev().find(|fill| fill.area.contains(center));
    let ground = beneath.map_or(Some(WHITE), |fill| fill.color);
    let differs = |ground: [f32; 3]| {
        let pairs = ground.iter().zip(color);
        pairs.into_iter().any(|(a, b)| (a - b).abs() > COLOR_DIFFERENCE)
    };
    !is_covered && ground.is_none_or(differs)
}
