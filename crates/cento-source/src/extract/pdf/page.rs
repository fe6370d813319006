//! Records the contents of a page with their positions.
//!
//! The interpreter draws on a device that paints nothing. The device records every letter with its
//! position, size and visibility. Other contents are recorded as areas, which may be beneath or
//! above letters.

use hayro_interpret::font::{Glyph, GlyphRun, PositionedGlyph};
use hayro_interpret::hayro_cmap::{BfString, WritingMode};
use hayro_interpret::hayro_syntax::object::Dict;
use hayro_interpret::kurbo::{Affine, BezPath, Point, Rect, Shape, Vec2};
use hayro_interpret::{
    BlendMode, ClipPath, Device, DrawMode, DrawProps, Image, ImageDrawProps, Paint, SoftMask,
};

use super::fonts::Fonts;
use super::spelled::Spelling;

/// The maximum number of letters of a page. More letters would not fit in memory.
pub const LETTERS_MAX: usize = 2_000_000;

/// A smaller area, in points, covers no letter and is beneath no letter.
const FILL_MIN: f64 = 3.0;

/// The maximum number of fills of a page that are recorded.
const FILLS_MAX: usize = 20_000;

/// Units of a font in an em.
const EM: f64 = 1000.0;

/// Glyphs that represent several letters.
const LIGATURES: [(char, &str); 7] = [
    ('\u{fb00}', "ff"),
    ('\u{fb01}', "fi"),
    ('\u{fb02}', "fl"),
    ('\u{fb03}', "ffi"),
    ('\u{fb04}', "ffl"),
    ('\u{fb05}', "st"),
    ('\u{fb06}', "st"),
];

/// The letters of a glyph, in points, on a page whose y axis points down.
#[derive(Debug, Clone)]
pub struct Letter {
    pub text: Box<str>,
    /// The start of the glyph on the baseline.
    pub origin: Point,
    /// The direction of the baseline, as a unit vector.
    pub along: Vec2,
    /// The height of the font.
    pub size: f64,
    /// The distance to the next letter.
    pub advance: f64,
    pub sight: Sight,
    /// The font does not identify the letter.
    pub is_unknown: bool,
}

/// The visibility of a letter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Sight {
    /// In a color, of red, green and blue.
    Color([f32; 3]),
    /// In a pattern of unknown color.
    Pattern,
    /// Not drawn, as the letters of a scan.
    Undrawn,
    /// Wholly transparent or clipped away.
    Gone,
}

impl Letter {
    /// Returns whether the text is only white space.
    pub fn is_space(&self) -> bool {
        self.text.chars().all(char::is_whitespace)
    }

    /// Returns whether the letter cannot be identified.
    pub fn is_unreadable(&self) -> bool {
        let is_private = |c| matches!(c, '\u{e000}'..='\u{f8ff}' | '\u{f0000}'.. | '\u{fffd}');
        self.is_unknown || self.text.chars().any(is_private)
    }

    /// Returns a point inside the glyph.
    pub fn center(&self) -> Point {
        let up = Vec2::new(self.along.y, -self.along.x);
        self.origin + self.along * (self.advance / 2.0) + up * (self.size * 0.3)
    }
}

/// A painted area of the page.
#[derive(Debug, Clone, Copy)]
pub struct Fill {
    pub area: Rect,
    /// The color. `None` for a pattern, or for a shape other than a rectangle.
    pub color: Option<[f32; 3]>,
    /// The number of letters drawn before the area.
    pub after: usize,
}

/// The contents of a page.
pub struct Canvas<'f, 'a> {
    pub letters: Vec<Letter>,
    pub fills: Vec<Fill>,
    pub images: Vec<Rect>,
    /// Whether the page has more letters than `LETTERS_MAX`.
    pub is_full: bool,
    clips: Vec<Rect>,
    /// The transparency of each open group.
    groups: Vec<bool>,
    /// The open marked contents, innermost last.
    marked: Vec<Spelling>,
    fonts: &'f Fonts<'a>,
}

impl<'f, 'a> Canvas<'f, 'a> {
    /// Returns an empty page.
    pub fn new(fonts: &'f Fonts<'a>) -> Canvas<'f, 'a> {
        Canvas {
            letters: Vec::new(),
            fills: Vec::new(),
            images: Vec::new(),
            is_full: false,
            clips: Vec::new(),
            groups: Vec::new(),
            marked: Vec::new(),
            fonts,
        }
    }

    /// Returns whether the page shows anything that may contain letters: an image, or more than
    /// `fills` areas.
    pub fn shows_more(&self, fills: usize) -> bool {
        !self.images.is_empty() || self.fills.len() > fills
    }

    fn fill(&mut self, area: Rect, is_rectangle: bool, props: &DrawProps<'_>, mode: &DrawMode) {
        let is_filled = matches!(mode, DrawMode::Fill(_) | DrawMode::FillAndStroke(..));
        let is_plain = props.blend_mode == BlendMode::Normal && props.soft_mask.is_none();
        if !is_filled || !is_plain || self.groups.contains(&true) {
            return;
        }
        let area = self.clips.last().map_or(area, |clip| area.intersect(*clip));
        if area.width() < FILL_MIN || area.height() < FILL_MIN || self.fills.len() >= FILLS_MAX {
            return;
        }
        let color = match sight_of(&props.paint) {
            Sight::Color(color) if is_rectangle && alpha_of(&props.paint) > 0.98 => Some(color),
            Sight::Gone => return,
            _ => None,
        };
        self.fills.push(Fill { area, color, after: self.letters.len() });
    }

    /// Replaces unreadable letters at the end of the page by the text that the file spells out.
    fn spell(&mut self, spelling: &Spelling) {
        let glyphs = self.letters.get(spelling.from..).unwrap_or_default();
        if !glyphs.iter().any(Letter::is_unreadable) {
            return;
        }
        let (Some(first), Some(last)) = (glyphs.first(), glyphs.last()) else { return };
        let Some(text) = spelling.of_glyphs(glyphs.len()) else { return };
        let end = last.origin + last.along * last.advance;
        let advance = (end - first.origin).dot(first.along).max(first.advance);
        let spelled = Letter { text: text.into(), advance, is_unknown: false, ..first.clone() };
        self.letters.truncate(spelling.from);
        if !spelled.text.is_empty() {
            self.letters.push(spelled);
        }
    }

    fn sight(&self, paint: &Paint<'_>, mode: &DrawMode, at: Point) -> Sight {
        let is_clipped = self.clips.last().is_some_and(|clip| !clip.inflate(1.0, 1.0).contains(at));
        if is_clipped || self.groups.contains(&true) {
            return Sight::Gone;
        }
        match mode {
            DrawMode::Invisible => Sight::Undrawn,
            _ => sight_of(paint),
        }
    }
}

fn alpha_of(paint: &Paint<'_>) -> f32 {
    match paint {
        Paint::Color(color) => color.to_rgba().components()[3],
        Paint::Pattern(_) => 1.0,
    }
}

fn sight_of(paint: &Paint<'_>) -> Sight {
    match paint {
        Paint::Color(_) if alpha_of(paint) < 0.02 => Sight::Gone,
        Paint::Color(color) => {
            let [red, green, blue, _] = color.to_rgba().components();
            Sight::Color([red, green, blue])
        }
        Paint::Pattern(_) => Sight::Pattern,
    }
}

impl<'a> Device<'a> for Canvas<'_, 'a> {
    fn draw_path(&mut self, path: &BezPath, props: DrawProps<'a>, mode: &DrawMode) {
        let area = (props.transform * path.bounding_box().to_path(0.1)).bounding_box();
        // A shape other than a rectangle covers only a part of its bounding box.
        self.fill(area, path.elements().len() <= 2, &props, mode);
    }

    fn draw_rect(&mut self, rect: &Rect, props: DrawProps<'a>, mode: &DrawMode) {
        let area = props.transform.transform_rect_bbox(*rect);
        self.fill(area, true, &props, mode);
    }

    fn push_clip_path(&mut self, clip: &ClipPath) {
        let area = clip.path.bounding_box();
        self.clips.push(self.clips.last().map_or(area, |outer| outer.intersect(area)));
    }

    fn push_transparency_group(&mut self, opacity: f32, _: Option<SoftMask<'a>>, _: BlendMode) {
        self.groups.push(opacity < 0.02);
    }

    fn draw_glyph_run(&mut self, run: &GlyphRun<'_, 'a>, props: DrawProps<'a>, mode: &DrawMode) {
        if self.letters.len() + run.glyphs().len() > LETTERS_MAX {
            self.is_full = true;
            return;
        }
        let places = run.glyphs().iter().map(|glyph| GlyphPlace::of(glyph, props.transform));
        let places: Vec<GlyphPlace> = places.collect();
        let stretch = stretch_of(&places);
        let is_vertical = run.writing_mode() == WritingMode::Vertical;
        for (glyph, place) in run.glyphs().iter().zip(&places) {
            let Some(mut letter) = place.letter(stretch, is_vertical) else { continue };
            let found = text_of(glyph).or_else(|| self.fonts.text_of(glyph));
            letter.is_unknown = found.is_none();
            letter.text = found.unwrap_or_else(|| "\u{fffd}".into()).into();
            letter.sight = self.sight(&props.paint, mode, letter.center());
            self.letters.push(letter);
        }
    }

    fn draw_image(&mut self, image: Image<'a, '_>, props: ImageDrawProps<'a>) {
        let size = Rect::new(0.0, 0.0, f64::from(image.width()), f64::from(image.height()));
        let area = props.transform.transform_rect_bbox(size);
        self.images.push(self.clips.last().map_or(area, |clip| area.intersect(*clip)));
    }

    fn begin_marked_content(&mut self, _: &[u8], properties: Option<&Dict<'_>>) {
        self.marked.push(Spelling::of(properties, self.letters.len()));
    }

    fn end_marked_content(&mut self) {
        if let Some(spelling) = self.marked.pop() {
            self.spell(&spelling);
        }
    }

    fn pop_clip(&mut self) {
        self.clips.pop();
    }

    fn pop_transparency_group(&mut self) {
        self.groups.pop();
    }
}

/// The place of a glyph.
struct GlyphPlace {
    origin: Point,
    along: Vec2,
    up: Vec2,
    /// The width, in ems.
    advance: f64,
    is_drawing: bool,
}

impl GlyphPlace {
    fn of(glyph: &PositionedGlyph<'_>, page: Affine) -> GlyphPlace {
        let transform = page * glyph.transform();
        let origin = transform * Point::ZERO;
        let along = transform * Point::new(EM, 0.0) - origin;
        let up = transform * Point::new(0.0, EM) - origin;
        let (advance, is_drawing) = match &**glyph {
            Glyph::Outline(outline) => (outline.advance_width(), false),
            Glyph::Type3(drawing) => (drawing.advance_width(), true),
        };
        let advance = f64::from(advance.unwrap_or(500.0)) / EM;
        GlyphPlace { origin, along, up, advance, is_drawing }
    }

    fn letter(&self, stretch: f64, is_vertical: bool) -> Option<Letter> {
        let (width, height) = (self.along.hypot(), self.up.hypot());
        let advance = if is_vertical { height } else { self.advance * height * stretch };
        let is_finite =
            [self.origin.x, self.origin.y, width, height, advance].iter().all(|n| n.is_finite());
        if !is_finite || width <= 0.0 || height <= 0.0 {
            return None;
        }
        let along = if is_vertical { -self.up / height } else { self.along / width };
        Some(Letter {
            text: Box::default(),
            origin: self.origin,
            along,
            size: if self.is_drawing { height.max(advance) } else { height },
            advance: advance.max(0.0),
            sight: Sight::Pattern,
            is_unknown: false,
        })
    }
}

/// Returns the ratio of width to height of the letters in a run. The interpreter stretches every
/// letter of a substitute font by a different factor, which does not affect positions. With the
/// right factor, the positions follow from the widths.
fn stretch_of(places: &[GlyphPlace]) -> f64 {
    let mut ratios: Vec<f64> = places.iter().map(|at| at.along.hypot() / at.up.hypot()).collect();
    ratios.retain(|ratio| ratio.is_finite());
    let Some(ratio) = median(&mut ratios) else { return 1.0 };
    if (ratio - 1.0).abs() < 0.02 || places.len() < 2 {
        return ratio;
    }
    let spread = |stretch: f64| {
        let rests = places.windows(2).map(|pair| {
            let step = (pair[1].origin - pair[0].origin).hypot();
            step - pair[0].advance * pair[0].up.hypot() * stretch
        });
        let mut rests: Vec<f64> = rests.filter(|rest| rest.is_finite()).collect();
        let middle = median(&mut rests).unwrap_or_default();
        rests.iter().map(|rest| (rest - middle).abs()).sum::<f64>()
    };
    if spread(1.0) <= spread(ratio) { 1.0 } else { ratio }
}

/// Returns the number in the middle of the sorted numbers.
pub fn median(numbers: &mut [f64]) -> Option<f64> {
    let middle = numbers.len() / 2;
    let middle =
        (!numbers.is_empty()).then(|| numbers.select_nth_unstable_by(middle, f64::total_cmp).1);
    middle.copied()
}

/// Returns the text of a glyph, or `None` if the font does not say.
fn text_of(glyph: &Glyph<'_>) -> Option<String> {
    let text = match glyph.as_unicode()? {
        BfString::Char(letter) => letter.to_string(),
        BfString::String(letters) => letters,
    };
    let mut letters = String::new();
    for letter in text.chars().filter(|c| !c.is_control() || c.is_whitespace()) {
        match LIGATURES.iter().find(|(ligature, _)| *ligature == letter) {
            Some((_, parts)) => letters.push_str(parts),
            None => letters.push(letter),
        }
    }
    (!letters.is_empty()).then_some(letters)
}
