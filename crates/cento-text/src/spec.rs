//! Specifications of schemes, analyzers and measures, as text.
//!
//! A specification is written as `name(key=value,key=value)`: a name and whole numbers. Spaces are
//! allowed, parameters come in any order, and a missing parameter takes its default. The value of a
//! set is some of its names, joined by `+`, as in `name(key=one+two)`. The printed form is
//! canonical: every parameter except empty sets, in the order of the grammar, without spaces. Two
//! specifications therefore have the same meaning exactly when they print the same, and an index
//! compares the printed form.
//!
//! This module knows only the syntax. [`crate::scheme`] and [`crate::text::analyzer`] own the
//! names.

use std::fmt;

use cento_api::suggest::did_you_mean;

use crate::{Error, Refusal, Result};

/// The specifications for a purpose, such as schemes.
#[derive(Debug)]
pub(crate) struct SpecGrammar<F: 'static> {
    /// The noun for a specification, as in "no such {noun}".
    pub noun: &'static str,
    /// All families.
    pub families: &'static [&'static F],
}

/// A name with its parameters, and a description.
///
/// Schemes, analyzers and measures each have a type with their own behavior. This trait is the
/// common part.
pub trait Family: Sync + 'static {
    /// Returns the name, the parameters and the description of the family.
    fn describe(&self) -> Description;
}

/// The description of a family, for help and error messages.
#[derive(Debug, Clone, Copy)]
pub struct Description {
    /// The name before the parenthesis.
    pub name: &'static str,
    /// The parameters, in canonical order.
    pub parameters: &'static [Parameter],
    /// The effect of the family, as a clause.
    pub summary: &'static str,
    /// The source of the method: paper and section. Empty if cento invented the method.
    pub source: &'static str,
    /// A specification to begin with.
    pub example: &'static str,
}

/// A whole number, one of several names, or a set of names, with a name, a default and bounds.
#[derive(Debug)]
pub struct Parameter {
    /// The name before the equals sign.
    pub name: &'static str,
    /// The value where a specification does not give the parameter.
    pub default: u32,
    /// The minimum value allowed.
    pub min: u32,
    /// The maximum value allowed.
    pub max: u32,
    /// Names for the values from 0 on, which replace numbers. For a set, names of the bits of the
    /// value, from the lowest bit on. Empty for a number.
    pub names: &'static [&'static str],
    /// Whether a value is a set of the names.
    pub is_set: bool,
    /// The meaning of the value, for help.
    pub meaning: &'static str,
    /// Whether a specification must give the parameter, because no default would suit.
    pub is_required: bool,
    /// The feature missing from this build for each name, if any. Empty if every feature is
    /// present.
    pub missing: &'static [Option<&'static str>],
}

impl Parameter {
    /// Creates a whole number.
    #[must_use]
    pub const fn number(
        name: &'static str,
        default: u32,
        min: u32,
        max: u32,
        meaning: &'static str,
    ) -> Parameter {
        let (is_required, missing) = (false, &[]);
        let (names, is_set) = (&[], false);
        Parameter { name, default, min, max, names, is_set, meaning, is_required, missing }
    }

    /// Creates a switch, whose values are 1 for on and 0 for off.
    #[must_use]
    pub const fn switch(name: &'static str, default: u32, meaning: &'static str) -> Parameter {
        Parameter::number(name, default, 0, 1, meaning)
    }

    /// Creates a choice among several names. The first name is the default.
    #[must_use]
    pub const fn choice(
        name: &'static str,
        names: &'static [&'static str],
        meaning: &'static str,
    ) -> Parameter {
        let max = names.len() as u32 - 1;
        Parameter { names, ..Parameter::number(name, 0, 0, max, meaning) }
    }

    /// Creates a set of names, empty by default.
    ///
    /// An empty set is not printed, so a family can gain a set without a change of the existing
    /// specifications.
    #[must_use]
    pub const fn set(
        name: &'static str,
        names: &'static [&'static str],
        meaning: &'static str,
    ) -> Parameter {
        let max = (1 << names.len()) - 1;
        Parameter { names, is_set: true, ..Parameter::number(name, 0, 0, max, meaning) }
    }

    /// Makes the parameter required, so that a specification without it is refused.
    #[must_use]
    pub const fn required(self) -> Parameter {
        Parameter { is_required: true, ..self }
    }

    /// Returns the parameter for a build that lacks some names, given the missing feature for every
    /// name.
    #[must_use]
    pub const fn without(self, missing: &'static [Option<&'static str>]) -> Parameter {
        Parameter { missing, ..self }
    }

    /// Returns a value as written in a specification: a number, a name, or names joined by `+`.
    #[must_use]
    pub fn written(&self, value: u32) -> String {
        if self.is_set {
            let of = |(bit, name): (usize, &'static str)| (value >> bit & 1 == 1).then_some(name);
            let some: Vec<&str> = self.names.iter().copied().enumerate().filter_map(of).collect();
            return if some.is_empty() { EMPTY.to_owned() } else { some.join("+") };
        }
        self.names.get(value as usize).map_or_else(|| value.to_string(), |name| (*name).to_owned())
    }
}

const EMPTY: &str = "none";

/// A specification with every parameter known and within its bounds.
///
/// Prints in the canonical form, which parses to an equal specification.
///
/// ```
/// let scheme = cento_text::scheme::parse(" winnow( w = 4 ) ")?;
/// // The printed form is canonical: every parameter, in order, without spaces.
/// assert_eq!(scheme.spec().to_string(), "winnow(k=5,w=4)");
/// assert_eq!(scheme.spec().get("k"), 5);
/// # Ok::<(), cento_text::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Spec {
    name: &'static str,
    parameters: &'static [Parameter],
    values: Vec<u32>,
}

impl<F: Family> SpecGrammar<F> {
    /// Reads `text` as a specification of one of the families.
    ///
    /// # Errors
    ///
    /// [`Error::Spec`], which lists the allowed values, when the syntax is wrong, when a name is
    /// unknown, when this build lacks a value, or when a parameter is unknown, given twice, not a
    /// whole number, or out of bounds.
    pub fn parse(&self, text: &str) -> Result<(Spec, &'static F)> {
        parse(text, self).map_err(|refusal| Error::spec(text, refusal))
    }
}

impl Spec {
    /// Returns the name before the parenthesis.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Returns the value of a parameter.
    ///
    /// # Panics
    ///
    /// When the family has no parameter of this name.
    #[must_use]
    pub fn get(&self, name: &str) -> u32 {
        let index = self.parameters.iter().position(|p| p.name == name);
        self.values[index.expect("the family has the parameters its owner asks for")]
    }

    /// Tells whether a parameter with the values 0 and 1 is 1.
    ///
    /// # Panics
    ///
    /// As [`get`](Self::get).
    #[must_use]
    pub fn is_on(&self, name: &str) -> bool {
        self.get(name) == 1
    }
}

impl PartialEq for Spec {
    fn eq(&self, other: &Spec) -> bool {
        self.name == other.name && self.values == other.values
    }
}

impl Eq for Spec {}

impl fmt::Display for Spec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let values = self.parameters.iter().zip(self.values.iter().copied().map(Some));
        let values = values.filter(|(parameter, value)| !parameter.is_set || *value != Some(0));
        write_spec(f, self.name, values)
    }
}

/// Prints the family with its defaults, as the error message for a mistyped specification shows it.
impl fmt::Display for Description {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = |p: &Parameter| (!p.is_required).then_some(p.default);
        write_spec(f, self.name, self.parameters.iter().map(|p| (p, value(p))))
    }
}

fn write_spec<'a>(
    f: &mut fmt::Formatter<'_>,
    name: &str,
    values: impl Iterator<Item = (&'a Parameter, Option<u32>)>,
) -> fmt::Result {
    write!(f, "{name}(")?;
    let mut comma = "";
    for (parameter, value) in values {
        // A required parameter has no default to show, so its name in capitals replaces the value.
        let value = value
            .map_or_else(|| parameter.name.to_ascii_uppercase(), |value| parameter.written(value));
        write!(f, "{comma}{}={value}", parameter.name)?;
        comma = ",";
    }
    f.write_str(")")
}

/// The package whose features are values of parameters.
const PACKAGE: &str = "cento";

/// Does the work of [`SpecGrammar::parse`], with the error as a clause.
fn parse<F: Family>(
    text: &str,
    grammar: &SpecGrammar<F>,
) -> std::result::Result<(Spec, &'static F), Refusal> {
    let text = text.trim_ascii();
    let (name, list) = match text.split_once('(') {
        None => (text, ""),
        Some((name, rest)) => match rest.strip_suffix(')') {
            Some(list) => (name.trim_ascii_end(), list.trim_ascii()),
            None => return Err("it must end with `)`, as in `name(key=value,key=value)`".into()),
        },
    };
    let Some(family) = grammar.families.iter().find(|family| family.describe().name == name) else {
        let all = grammar.families.iter().map(|family| family.describe());
        let meant = did_you_mean(name, all.clone().map(|described| described.name));
        let all = all.map(|described| described.to_string()).collect::<Vec<_>>().join(", ");
        return Err(format!("no such {}{meant}; allowed: {all}", grammar.noun).into());
    };
    let described = family.describe();
    let parameters = described.parameters;
    let mut given = vec![None; parameters.len()];
    if !list.is_empty() {
        for item in list.split(',') {
            let (index, value) = parse_item(item.trim_ascii(), &described)?;
            if given[index].replace(value).is_some() {
                let name = parameters[index].name;
                return Err(format!("`{name}` is given twice").into());
            }
        }
    }
    let mut values = Vec::with_capacity(parameters.len());
    for (parameter, given) in parameters.iter().zip(given) {
        let Parameter { name: key, names, .. } = parameter;
        if given.is_none() && parameter.is_required {
            let allowed = match names.is_empty() {
                true => format!("a whole number from {} to {}", parameter.min, parameter.max),
                false => format!("one of {}", names.join(", ")),
            };
            let first = parameter.written(parameter.min);
            let what = format!("`{key}` must be given, {allowed}, as in `{name}({key}={first})`");
            return Err(what.into());
        }
        let value = given.unwrap_or(parameter.default);
        if let Some(Some(feature)) = parameter.missing.get(value as usize) {
            let value = parameter.written(value);
            return Err(Refusal::unsupported(format!("`{key}={value}`"), feature, PACKAGE));
        }
        values.push(value);
    }
    Ok((Spec { name: described.name, parameters, values }, family))
}

/// Reads `key=value`, and returns the index of the parameter and the value.
fn parse_item(item: &str, family: &Description) -> std::result::Result<(usize, u32), String> {
    let Some((key, value)) = item.split_once('=') else {
        return Err(format!("`{item}` is not `key=value`; allowed: {family}"));
    };
    let (key, value) = (key.trim_ascii(), value.trim_ascii());
    let Some(index) = family.parameters.iter().position(|p| p.name == key) else {
        let meant = did_you_mean(key, family.parameters.iter().map(|parameter| parameter.name));
        return Err(format!("no parameter `{key}`{meant}; allowed: {family}"));
    };
    let Parameter { min, max, names, is_set, .. } = family.parameters[index];
    if is_set {
        return parse_set(key, value, names).map(|value| (index, value));
    }
    if !names.is_empty() {
        let number =
            names.iter().position(|name| *name == value).map(|number| (index, number as u32));
        return number.ok_or_else(|| {
            let meant = did_you_mean(value, names.iter().copied());
            format!("`{key}` must be one of {}, not `{value}`{meant}", names.join(", "))
        });
    }
    // Only digits, because `u32::from_str` would also accept a plus sign.
    let digits = !value.is_empty() && value.bytes().all(|b| b.is_ascii_digit());
    match value.parse::<u32>() {
        Ok(number) if digits && (min..=max).contains(&number) => Ok((index, number)),
        _ => Err(format!("`{key}` must be a whole number from {min} to {max}, not `{value}`")),
    }
}

/// Reads `name+name`, and returns the set as bits.
fn parse_set(key: &str, value: &str, names: &[&str]) -> std::result::Result<u32, String> {
    let mut set = 0;
    if value == EMPTY {
        return Ok(set);
    }
    for given in value.split('+').map(str::trim_ascii) {
        let Some(bit) = names.iter().position(|name| *name == given) else {
            let meant = did_you_mean(given, names.iter().copied());
            let all = names.join(", ");
            return Err(format!(
                "`{key}` must be some of {all}, joined by `+`, not `{given}`{meant}"
            ));
        };
        set |= 1 << bit;
    }
    Ok(set)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Shape {
        name: &'static str,
        parameters: &'static [Parameter],
    }

    impl Family for Shape {
        fn describe(&self) -> Description {
            let Shape { name, parameters } = *self;
            let (summary, source, example) = ("", "", name);
            Description { name, parameters, summary, source, example }
        }
    }

    static GRAMMAR: SpecGrammar<Shape> = SpecGrammar {
        noun: "shape",
        families: &[
            &Shape {
                name: "box",
                parameters: &[
                    Parameter::number("w", 3, 1, 9, "the width"),
                    Parameter::number("h", 4, 0, u32::MAX, "the height"),
                ],
            },
            &Shape { name: "dot", parameters: &[] },
            &Shape {
                name: "star",
                parameters: &[
                    Parameter::number("n", 5, 3, 9, "the rays"),
                    Parameter::set("with", &["rim", "hub", "glow"], "the parts"),
                ],
            },
            &Shape {
                name: "line",
                parameters: &[
                    Parameter::choice("ink", &["black", "red", "gold"], "the color")
                        .required()
                        .without(&[None, None, Some("rich")]),
                    Parameter::number("l", 5, 1, 9, "the length").required(),
                ],
            },
        ],
    };

    fn check(text: &str, canonical: &str) {
        let (spec, _) = GRAMMAR.parse(text).unwrap();
        assert_eq!(spec.to_string(), canonical, "{text}");
        assert_eq!(GRAMMAR.parse(canonical).unwrap().0, spec, "{text}");
    }

    #[track_caller]
    fn check_error(text: &str, clause: &str) {
        let error = GRAMMAR.parse(text).err().unwrap();
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
        let (spec, family) = GRAMMAR.parse("box(h=8)").unwrap();
        assert_eq!(family.name, "box");
        assert_eq!((spec.name(), spec.get("w"), spec.get("h")), ("box", 3, 8));
    }

    #[test]
    fn the_error_of_a_wrong_name_lists_the_right_ones() {
        let clause = "no such shape; allowed: box(w=3,h=4), dot(), star(n=5,with=none), \
                      line(ink=INK,l=L)";
        for text in ["", "ball", "(w=1)", "w=1"] {
            check_error(text, clause);
        }
        let meant = clause.replace("shape;", "shape (did you mean `box`?);");
        for text in ["Box", "boxx", "box w=1"] {
            check_error(text, &meant);
        }
    }

    #[test]
    fn the_error_of_a_wrong_parameter_lists_the_allowed_ones() {
        check_error("box(d=1)", "no parameter `d`; allowed: box(w=3,h=4)");
        check_error("dot(w=1)", "no parameter `w`; allowed: dot()");
        check_error("box(=1)", "no parameter ``; allowed: box(w=3,h=4)");
        check_error("box(5)", "`5` is not `key=value`; allowed: box(w=3,h=4)");
        check_error("box(w=1,)", "`` is not `key=value`; allowed: box(w=3,h=4)");
        check_error("box(w=1,w=1)", "`w` is given twice");
    }

    #[test]
    fn the_error_of_a_wrong_value_has_the_bounds() {
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
    fn required_parameters_have_no_default() {
        check("line(l=2,ink=red)", "line(ink=red,l=2)");
        let ink = "`ink` must be given, one of black, red, gold, as in `line(ink=black)`";
        check_error("line", ink);
        check_error("line(l=2)", ink);
        let length = "`l` must be given, a whole number from 1 to 9, as in `line(l=1)`";
        check_error("line(ink=red)", length);
        let absent = "`ink=gold` needs the feature `rich` of the package `cento`, which this \
                      build lacks";
        check_error("line(ink=gold,l=1)", absent);
    }

    #[test]
    fn a_set_has_one_spelling_and_an_empty_one_none() {
        check("star", "star(n=5)");
        check("star(with=none)", "star(n=5)");
        check("star(with=glow)", "star(n=5,with=glow)");
        check("star( with = glow + rim + glow )", "star(n=5,with=rim+glow)");
        check("star(with=rim+hub+glow)", "star(n=5,with=rim+hub+glow)");
        for (value, given) in [("", ""), ("1", "1"), ("rim+", ""), ("none+rim", "none")] {
            let clause =
                format!("`with` must be some of rim, hub, glow, joined by `+`, not `{given}`");
            check_error(&format!("star(with={value})"), &clause);
        }
        check_error(
            "star(with=rim+glows)",
            "`with` must be some of rim, hub, glow, joined by `+`, not `glows` (did you mean \
             `glow`?)",
        );
    }

    #[test]
    fn a_parenthesis_left_open_is_an_error() {
        for text in ["box(", "box(w=1", "box(w=1)x"] {
            check_error(text, "it must end with `)`, as in `name(key=value,key=value)`");
        }
    }
}
