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
