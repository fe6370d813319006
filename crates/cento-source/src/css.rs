//! Declarations of styles (CSS).

/// Returns the value of a property in declarations such as `color: red; display: none`, without
/// `!important`. The last declaration of a property counts.
pub fn declared<'s>(declarations: &'s str, property: &str) -> Option<&'s str> {
    let mut all = declarations.rsplit(';').filter_map(|one| one.split_once(':'));
    let (_, value) = all.find(|(name, _)| name.trim().eq_ignore_ascii_case(property))?;
    Some(value.split('!').next().unwrap_or_default().trim())
}

/// Returns whether declarations display nothing.
pub fn is_not_displayed(declarations: &str) -> bool {
    declared(declarations, "display").is_some_and(|value| value.eq_ignore_ascii_case("none"))
}

/// Returns whether declarations raise text above the line, by name or by a length. Pages of Word
/// have a property of their own.
pub fn is_raised(declarations: &str) -> bool {
    let is_raise = |value: &str| {
        let number = value.trim_end_matches(|c: char| c.is_ascii_alphabetic() || c == '%');
        value.eq_ignore_ascii_case("super") || number.parse().is_ok_and(|by: f32| by > 0.0)
    };
    let properties = ["vertical-align", "mso-text-raise"];
    properties.iter().any(|of| declared(declarations, of).is_some_and(is_raise))
}

/// Returns whether a color, in six hexadecimal digits, is as white as paper.
pub fn is_white(color: &str) -> bool {
    let color = color.trim_start_matches('#');
    color.len() == 6 && color.is_ascii() && {
        let light =
            |at: usize| u8::from_str_radix(&color[at..at + 2], 16).is_ok_and(|part| part >= 0xf5);
        [0, 2, 4].into_iter().all(light)
    }
}

/// Returns whether a color as CSS writes it, in small letters without white space, is as white as
/// paper.
pub fn is_css_white(color: &str) -> bool {
    let parts = color.strip_prefix("rgb(").or(color.strip_prefix("rgba("));
    let parts = parts.map(|parts| parts.trim_end_matches(')').split(',').take(3));
    let is_light = |part: &str| part.parse().is_ok_and(|part: u8| part >= 0xf5);
    is_white(color)
        || ["white", "snow", "ivory", "#fff"].contains(&color)
        || parts.is_some_and(|parts| parts.filter(|part| is_light(part)).count() == 3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_declaration_of_a_property_counts() {
        let style = "display:none; DISPLAY : Block !important;color:red;";
        assert_eq!(declared(style, "display"), Some("Block"));
        assert_eq!(declared(style, "col"), None);
        assert!(!is_not_displayed(style));
        assert!(is_not_displayed("display: block; display: NONE!important"));
    }
}
