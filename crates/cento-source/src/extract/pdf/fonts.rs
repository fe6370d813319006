//! Letters of fonts that the interpreter cannot map to text.
//!
//! Two kinds of fonts are supported. Fonts of drawings (Type 3), as TeX makes them, name glyphs by
//! numbers (`a97`), which are character codes. Embedded fonts for Chinese, Japanese and Korean use
//! glyphs of a public collection with known letters. Glyphs of any other font stay unknown, because
//! cento does not recognize shapes.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

use hayro_interpret::font::Glyph;
use hayro_interpret::hayro_cmap::{BfString, CMap, CMapName, CidFamily, load_embedded};
use hayro_interpret::hayro_syntax::Pdf;
use hayro_interpret::hayro_syntax::object::{Array, Dict, Name, Object, Stream, String as Bytes};

/// The ligatures of the oldest encoding of TeX, from the code 11 on.
const TEX_LIGATURES: [&str; 5] = ["ff", "fi", "fl", "ffi", "ffl"];

/// Font data of a document that the interpreter does not provide.
pub struct Fonts<'a> {
    pdf: &'a Pdf,
    known: OnceCell<FontCache>,
}

#[derive(Default)]
struct FontCache {
    /// Letters of Type 3 fonts by code. `None` where two fonts differ.
    drawings: HashMap<u32, Option<String>>,
    /// Collections by font name. `None` where two fonts with the same name differ.
    collections: HashMap<String, Option<GlyphCollection>>,
}

/// The glyphs of codes, and the letters of glyphs.
struct GlyphCollection {
    glyphs: CMap,
    letters: CMap,
    family: CidFamily,
}

impl<'a> Fonts<'a> {
    /// Returns the fonts of a document, which are read at the first lookup.
    pub fn new(pdf: &'a Pdf) -> Fonts<'a> {
        Fonts { pdf, known: OnceCell::new() }
    }

    /// Returns the letters of a glyph.
    pub fn text_of(&self, glyph: &Glyph<'_>) -> Option<String> {
        let known = self.known.get_or_init(|| FontCache::of(self.pdf));
        let code = glyph.char_code();
        match glyph {
            Glyph::Type3(_) => known.drawings.get(&code).cloned().flatten(),
            Glyph::Outline(outline) => {
                if known.collections.is_empty() {
                    return None;
                }
                let name = outline.font_data()?.postscript_name?;
                known.collections.get(&name)?.as_ref()?.text_of(code)
            }
        }
    }
}

impl FontCache {
    fn of(pdf: &Pdf) -> FontCache {
        let mut known = FontCache::default();
        let named = pdf.pages().iter().flat_map(|page| {
            let fonts = &page.resources().fonts;
            fonts.keys().filter_map(|name| fonts.get::<Dict<'_>>(name.as_ref())).collect::<Vec<_>>()
        });
        let all = pdf.objects().into_iter().filter_map(|object| match object {
            Object::Dict(font) => Some(font),
            _ => None,
        });
        for font in named.chain(all) {
            match font.get::<Name<'_>>("Subtype").as_ref().map(Name::as_str) {
                Some("Type3") if !font.contains_key("ToUnicode") => known.add_drawings(&font),
                Some("Type0") if !font.contains_key("ToUnicode") => known.add_collection(&font),
                _ => {}
            }
        }
        known
    }

    fn add_drawings(&mut self, font: &Dict<'_>) {
        let encoding = font.get::<Dict<'_>>("Encoding");
        let Some(names) = encoding.and_then(|all| all.get::<Array<'_>>("Differences")) else {
            return;
        };
        let mut letters = Vec::new();
        let mut code = 0;
        for object in names.iter::<Object<'_>>() {
            match object {
                Object::Number(number) => code = number.as_i64().try_into().unwrap_or(u32::MAX),
                Object::Name(name) => {
                    let number =
                        name.as_str().strip_prefix(['a', 'c', 'C']).and_then(|n| n.parse().ok());
                    // If a glyph has a different name, no code of this font can be trusted.
                    if number != Some(code) && name.as_str() != ".notdef" {
                        return;
                    }
                    letters.push((code, letter_of(code)));
                    code = code.saturating_add(1);
                }
                _ => {}
            }
        }
        for (code, letter) in letters {
            match self.drawings.entry(code) {
                Entry::Occupied(mut other) if *other.get() != letter => _ = other.insert(None),
                Entry::Occupied(_) => {}
                Entry::Vacant(place) => _ = place.insert(letter),
            }
        }
    }

    fn add_collection(&mut self, font: &Dict<'_>) {
        let Some(name) = font.get::<Name<'_>>("BaseFont") else { return };
        let name = match name.as_str().split_once('+') {
            Some((subset, name)) if subset.len() == 6 => name,
            _ => name.as_str(),
        };
        let Some(collection) = GlyphCollection::of(font) else { return };
        match self.collections.entry(name.to_owned()) {
            Entry::Occupied(mut other) => {
                let is_same = other.get().as_ref().is_some_and(|other| other.is_like(&collection));
                if !is_same {
                    other.insert(None);
                }
            }
            Entry::Vacant(place) => _ = place.insert(Some(collection)),
        }
    }
}

impl GlyphCollection {
    fn of(font: &Dict<'_>) -> Option<GlyphCollection> {
        let inner = font.get::<Array<'_>>("DescendantFonts")?.iter::<Dict<'_>>().next()?;
        let system = inner.get::<Dict<'_>>("CIDSystemInfo")?;
        let registry = system.get::<Bytes<'_>>("Registry")?;
        let ordering = system.get::<Bytes<'_>>("Ordering")?;
        let family = CidFamily::from_registry_ordering(registry.as_bytes(), ordering.as_bytes());
        let letters = CMap::parse(load_embedded(family.ucs2_cmap()?)?, load_embedded)?;
        let glyphs = match font.get::<Object<'_>>("Encoding")? {
            Object::Name(name) => match CMapName::from_bytes(name.as_ref()) {
                CMapName::IdentityH | CMapName::IdentityV => CMap::identity_h(),
                name => CMap::parse(load_embedded(name)?, load_embedded)?,
            },
            Object::Stream(stream) => parsed(&stream)?,
            _ => return None,
        };
        Some(GlyphCollection { glyphs, letters, family })
    }

    fn is_like(&self, other: &GlyphCollection) -> bool {
        self.family == other.family && self.glyphs.metadata().name == other.glyphs.metadata().name
    }

    fn text_of(&self, code: u32) -> Option<String> {
        let glyph = (1..=4).find_map(|len| self.glyphs.lookup_cid_code(code, len))?;
        match self.letters.lookup_bf_string(glyph)? {
            BfString::Char(letter) => Some(letter.to_string()),
            BfString::String(letters) => Some(letters),
        }
    }
}

fn parsed(stream: &Stream<'_>) -> Option<CMap> {
    CMap::parse(&stream.decoded_data().ok()?, load_embedded)
}

/// Returns the letter of a code of TeX's fonts.
fn letter_of(code: u32) -> Option<String> {
    match code {
        11..=15 => Some(TEX_LIGATURES[code as usize - 11].to_owned()),
        32..=126 => char::from_u32(code).map(String::from),
        _ => None,
    }
}
