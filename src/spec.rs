//! How are a scheme and an analyser written down?
//!
//! As `name(key=value,key=value)`: a name and whole numbers. Spaces are tolerated, parameters come
//! in any order, and one left out takes its default; what is printed is canonical: every parameter,
//! in the order of the grammar, no space. So two specifications mean the same exactly when they
//! print the same, which is what an index compares.
//!
//! This module knows the syntax only; [`crate::scheme`] and [`crate::text::analyzer`] own the
//! names.

use crate::{Error, Result};
use std::fmt;

/// The specifications that can be written for one purpose.
#[derive(Debug)]
pub struct Grammar {
    /// What a specification describes, as in "no such {noun}".
    pub noun: &'static str,
    /// The names allowed, and what each takes.
    pub families: &'static [Family],
    /// Families that this build leaves out, each with the feature of the crate that has it.
    pub absent: &'static [(&'static str, &'static str)],
}

/// A name and the parameters it takes.
#[derive(Debug)]
pub struct Family {
    /// The name before the parenthesis.
    pub name: &'static str,
    /// The parameters, in canonical order.
    pub parameters: &'static [Parameter],
}

/// A whole number, or one of several names, with a name, a default and bounds.
#[derive(Debug)]
pub struct Parameter {
    /// The name before the equals sign.
    pub name: &'static str,
    /// The value of a parameter left out.
    pub default: u32,
    /// The least value allowed.
    pub min: u32,
    /// The greatest value allowed.
    pub max: u32,
    /// The names by which the values from 0 on are written, instead of numbers; none for a number.
    pub names: &'static [&'static str],
}

impl Parameter {
    /// A whole number.
    pub const fn number(name: &'static str, default: u32, min: u32, max: u32) -> Parameter {
        Parameter { name, default, min, max, names: &[] }
    }

    /// One of several names, the first if it is left out.
    pub const fn choice(name: &'static str, names: &'static [&'static str]) -> Parameter {
        Parameter { name, default: 0, min: 0, max: names.len() as u32 - 1, names }
    }
}

/// A specification with every parameter known and within its bounds.
///
/// It prints in the canonical form, which parses to an equal specification.
#[derive(Debug, Clone)]
pub struct Spec {
    family: &'static Family,
    values: Vec<u32>,
}

impl Spec {
    /// Reads `text` as one of the specifications of `grammar`.
    ///
    /// # Errors
    ///
    /// [`Error::Spec`], naming what is allowed, when the syntax is wrong, a name is unknown, or a
    /// parameter is unknown, given twice, not a whole number, or out of its bounds.
    pub fn parse(text: &str, grammar: &Grammar) -> Result<Spec> {
        parse(text, grammar).map_err(|what| Error::spec(text, what))
    }

    /// The name before the parenthesis.
    pub fn name(&self) -> &'static str {
        self.family.name
    }

    /// The value of a parameter.
    ///
    /// # Panics
    ///
    /// When the family has no parameter of this name.
    pub fn get(&self, name: &str) -> u32 {
        let index = self.family.parameters.iter().position(|p| p.name == name);
        self.values[index.expect("the family has the parameters its owner asks for")]
    }
}

impl PartialEq for Spec {
    fn eq(&self, other: &Spec) -> bool {
        self.family.name == other.family.name && self.values == other.values
    }
}

impl Eq for Spec {}

impl fmt::Display for Spec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_spec(f, self.family, self.values.iter().copied())
    }
}

/// The family with its defaults, as it is shown to someone who mistyped a specification.
impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_spec(f, self, self.parameters.iter().map(|p| p.default))
    }
}

fn write_spec(
    f: &mut fmt::Formatter<'_>,
    family: &Family,
    values: impl Iterator<Item = u32>,
) -> fmt::Result {
    write!(f, "{}(", family.name)?;
    let mut comma = "";
    for (parameter, value) in family.parameters.iter().zip(values) {
        match parameter.names.get(value as usize) {
            Some(name) => write!(f, "{comma}{}={name}", parameter.name)?,
            None => write!(f, "{comma}{}={value}", parameter.name)?,
        }
        comma = ",";
    }
    f.write_str(")")
}

/// As [`Spec::parse`], with the error as a clause.
fn parse(text: &str, grammar: &Grammar) -> std::result::Result<Spec, String> {
    let text = text.trim_ascii();
    let (name, list) = match text.split_once('(') {
        None => (text, ""),
        Some((name, rest)) => match rest.strip_suffix(')') {
            Some(list) => (name.trim_ascii_end(), list.trim_ascii()),
            None => return Err("it must end with `)`, as in `name(key=value,key=value)`".into()),
        },
    };
    if let Some((_, feature)) = grammar.absent.iter().find(|(absent, _)| *absent == name) {
        return Err(format!("this build of cento has no `{name}`: its feature `{feature}` is off"));
    }
    let Some(family) = grammar.families.iter().find(|f| f.name == name) else {
        let names = grammar.families.iter().map(Family::to_string);
        let names = names.collect::<Vec<_>>().join(", ");
        return Err(format!("no such {}; allowed: {names}", grammar.noun));
    };
    let mut given = vec![None; family.parameters.len()];
    if !list.is_empty() {
        for item in list.split(',') {
            let (index, value) = parse_item(item.trim_ascii(), family)?;
            if given[index].replace(value).is_some() {
                let name = family.parameters[index].name;
                return Err(format!("`{name}` is given twice"));
            }
        }
    }
    let values = family.parameters.iter().zip(given);
    let values = values.map(|(p, value)| value.unwrap_or(p.default)).collect();
    Ok(Spec { family, values })
}

/// Reads `key=value`; gives the parameter's index and its value.
fn parse_item(item: &str, family: &Family) -> std::result::Result<(usize, u32), String> {
    let Some((key, value)) = item.split_once('=') else {
        return Err(format!("`{item}` is not `key=value`; allowed: {family}"));
    };
    let (key, value) = (key.trim_ascii(), value.trim_ascii());
    let Some(index) = family.parameters.iter().position(|p| p.name == key) else {
        return Err(format!("no parameter `{key}`; allowed: {family}"));
    };
    let Parameter { min, max, names, .. } = family.parameters[index];
    if !names.is_empty() {
        let number =
            names.iter().position(|name| *name == value).map(|number| (index, number as u32));
        return number
            .ok_or_else(|| format!("`{key}` must be one of {}, not `{value}`", names.join(", ")));
    }
    // Digits only: `u32::from_str` would also take a plus sign.
    let digits = !value.is_empty() && value.bytes().all(|b| b.is_ascii_digit());
    match value.parse::<u32>() {
        Ok(number) if digits && (min..=max).contains(&number) => Ok((index, number)),
        _ => Err(format!("`{key}` must be a whole number from {min} to {max}, not `{value}`")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    static GRAMMAR: Grammar = Grammar {
        noun: "shape",
        absent: &[("globe", "round")],
        families: &[
            Family {
                name: "box",
                parameters: &[
                    Parameter::number("w", 3, 1, 9),
                    Parameter::number("h", 4, 0, u32::MAX),
                ],
            },
            Family { name: "dot", parameters: &[] },
        ],
    };

    fn check(text: &str, canonical: &str) {
        let spec = Spec::parse(text, &GRAMMAR).unwrap();
        assert_eq!(spec.to_string(), canonical, "{text}");
        assert_eq!(Spec::parse(canonical, &GRAMMAR).unwrap(), spec, "{text}");
    }

    #[track_caller]
    fn check_error(text: &str, clause: &str) {
        let error = Spec::parse(text, &GRAMMAR).unwrap_err();
        assert!(matches!(error, Error::Spec { .. }), "{text}: {error:?}");
        assert_eq!(error.to_string(), format!("`{text}`: {clause}"));
    }

    #[test]
    fn every_spelling_prints_canonically() {
        check("box", "box(w=3,h=4)");
        check("box()", "box(w=3,h=4)");
        check("box(h=0)", "box(w=3,h=0)");
        check("box(h=4294967295,w=9)", "box(w=9,h=4294967295)");
        check(" box ( w = 1 , h = 07 ) ", "box(w=1,h=7)");
        check("dot", "dot()");
        check("dot( )", "dot()");
    }

    #[test]
    fn parameters_are_read_by_name() {
        let spec = Spec::parse("box(h=8)", &GRAMMAR).unwrap();
        assert_eq!((spec.name(), spec.get("w"), spec.get("h")), ("box", 3, 8));
    }

    #[test]
    fn a_wrong_name_is_told_the_right_ones() {
        let clause = "no such shape; allowed: box(w=3,h=4), dot()";
        for text in ["", "ball", "Box", "box w=1", "(w=1)", "w=1"] {
            check_error(text, clause);
        }
        let absent = "this build of cento has no `globe`: its feature `round` is off";
        check_error("globe(r=1)", absent);
    }

    #[test]
    fn a_wrong_parameter_is_told_what_is_allowed() {
        check_error("box(d=1)", "no parameter `d`; allowed: box(w=3,h=4)");
        check_error("dot(w=1)", "no parameter `w`; allowed: dot()");
        check_error("box(=1)", "no parameter ``; allowed: box(w=3,h=4)");
        check_error("box(5)", "`5` is not `key=value`; allowed: box(w=3,h=4)");
        check_error("box(w=1,)", "`` is not `key=value`; allowed: box(w=3,h=4)");
        check_error("box(w=1,w=1)", "`w` is given twice");
    }

    #[test]
    fn a_wrong_value_is_told_the_bounds() {
        for value in ["0", "10", "-1", "+1", "1.0", "", "x", "4294967297", "\u{661}", "1=1"] {
            let clause = format!("`w` must be a whole number from 1 to 9, not `{value}`");
            check_error(&format!("box(w={value})"), &clause);
        }
        check_error(
            "box(h=4294967296)",
            "`h` must be a whole number from 0 to 4294967295, not `4294967296`",
        );
    }

    #[test]
    fn a_parenthesis_left_open_is_an_error() {
        for text in ["box(", "box(w=1", "box(w=1)x"] {
            check_error(text, "it must end with `)`, as in `name(key=value,key=value)`");
        }
    }
}
