//! How are schemes and analysers written down?
//!
//! As `name(key=value,key=value)`, where every value is a whole number and every key that is left
//! out has its default. What is printed has every key, so that equal specifications print alike.

use std::fmt;

use crate::error::{Error, Result};

/// A parameter that a specification may set.
#[derive(Debug, Clone, Copy)]
pub struct Parameter {
    /// Its key.
    pub key: &'static str,
    /// Its value if it is not given.
    pub default: u32,
    /// Its smallest value.
    pub min: u32,
    /// Its largest value.
    pub max: u32,
}

/// A specification taken apart, not yet compared with what there is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spec<'a> {
    text: &'a str,
    /// What stands before the parameters.
    pub name: &'a str,
    parameters: Vec<(&'a str, &'a str)>,
}

impl<'a> Spec<'a> {
    /// Takes a specification apart.
    ///
    /// # Errors
    /// When `text` is not of the form `name` or `name(key=value,...)`.
    pub fn parse(text: &'a str) -> Result<Spec<'a>> {
        let refused = |what: &str| Error::spec(text, what);
        let form = "write it as name(key=number,...)";
        let (name, rest) = match text.split_once('(') {
            None => (text.trim(), ""),
            Some((name, rest)) => {
                let inner = rest.trim_end().strip_suffix(')').ok_or_else(|| refused(form))?;
                (name.trim(), inner)
            }
        };
        if name.is_empty() || !name.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b))
        {
            return Err(refused(form));
        }
        let mut parameters = Vec::new();
        if !rest.trim().is_empty() {
            for pair in rest.split(',') {
                let (key, value) = pair.split_once('=').ok_or_else(|| refused(form))?;
                parameters.push((key.trim(), value.trim()));
            }
        }
        Ok(Spec { text, name, parameters })
    }

    /// The values of `known`, in its order.
    ///
    /// # Errors
    /// When a parameter is unknown, given twice, no number, or out of its range.
    pub fn values<const N: usize>(&self, known: &[Parameter; N]) -> Result<[u32; N]> {
        let mut given = [None; N];
        for &(key, value) in &self.parameters {
            let Some(at) = known.iter().position(|parameter| parameter.key == key) else {
                let keys: Vec<_> = known.iter().map(|parameter| parameter.key).collect();
                let what =
                    format!("`{}` has no parameter `{key}`; it has {}", self.name, keys.join(", "));
                return Err(Error::spec(self.text, what));
            };
            let Parameter { min, max, .. } = known[at];
            let number = value.parse().ok().filter(|number| (min..=max).contains(number));
            let Some(number) = number else {
                let what = format!("`{key}` is a whole number from {min} to {max}, not `{value}`");
                return Err(Error::spec(self.text, what));
            };
            if given[at].replace(number).is_some() {
                return Err(Error::spec(self.text, format!("`{key}` is given twice")));
            }
        }
        let value_of = |at: usize| given[at].unwrap_or(known[at].default);
        Ok(std::array::from_fn(value_of))
    }

    /// The error that says which names there are.
    pub fn unknown(&self, what: &str, names: &[&str]) -> Error {
        let what = format!("there is no {what} `{}`; there are {}", self.name, names.join(", "));
        Error::spec(self.text, what)
    }
}

/// Prints a specification with all its parameters.
pub fn write<const N: usize>(
    f: &mut fmt::Formatter<'_>,
    name: &str,
    known: &[Parameter; N],
    values: [u32; N],
) -> fmt::Result {
    write!(f, "{name}(")?;
    for (i, (parameter, value)) in known.iter().zip(values).enumerate() {
        let comma = if i == 0 { "" } else { "," };
        write!(f, "{comma}{}={value}", parameter.key)?;
    }
    f.write_str(")")
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: [Parameter; 2] = [
        Parameter { key: "k", default: 5, min: 1, max: 9 },
        Parameter { key: "w", default: 10, min: 1, max: 99 },
    ];

    fn values(text: &str) -> std::result::Result<[u32; 2], String> {
        Spec::parse(text).and_then(|spec| spec.values(&KNOWN)).map_err(|e| e.to_string())
    }

    #[test]
    fn what_is_left_out_has_its_default() {
        assert_eq!(values("x"), Ok([5, 10]));
        assert_eq!(values("x()"), Ok([5, 10]));
        assert_eq!(values("x(w=3)"), Ok([5, 3]));
        assert_eq!(values(" x ( w = 3 , k=9 ) "), Ok([9, 3]));
    }

    #[test]
    fn what_cannot_be_used_is_refused_with_the_reason() {
        let refused = |text: &str, reason: &str| {
            let error = values(text).unwrap_err();
            assert!(error.contains(reason), "{text}: {error}");
        };
        refused("x(k=5", "name(key=number,...)");
        refused("(k=5)", "name(key=number,...)");
        refused("x(5)", "name(key=number,...)");
        refused("", "name(key=number,...)");
        refused("x(q=5)", "it has k, w");
        refused("x(k=0)", "from 1 to 9");
        refused("x(k=five)", "not `five`");
        refused("x(k=-1)", "from 1 to 9");
        refused("x(k=5,k=5)", "given twice");
    }
}
