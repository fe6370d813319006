//! Parsers of option values.

use std::path::{Path, PathBuf};
#[cfg(any(feature = "serve", feature = "remote"))]
use std::time::Duration;

pub use cento_api::number::parse_bytes;
use cento_source::charset;

/// Checks that an encoding of this name exists.
pub fn parse_encoding(name: &str) -> Result<String, String> {
    match charset::is_known(name) {
        true => Ok(name.to_owned()),
        false => Err(
            "unknown encoding; use a label of the WHATWG Encoding Standard, such as windows-1252, \
             or a code page of DOS, such as cp850"
                .into(),
        ),
    }
}

/// Checks a measure, and writes its specification in full.
pub fn parse_measure(spec: &str) -> cento::Result<String> {
    Ok(spec.parse::<cento::Measure>()?.to_string())
}

/// Parses a duration such as `500ms`, `5s` or `10m`.
#[cfg(any(feature = "serve", feature = "remote"))]
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    let refused = "expected a duration above zero, such as 500ms, 5s or 10m";
    let span: jiff::SignedDuration = text.parse().map_err(|_| refused)?;
    match Duration::try_from(span) {
        Ok(duration) if !duration.is_zero() => Ok(duration),
        _ => Err(refused.into()),
    }
}

/// Parses a duration such as `12h` or `30d`; a day has 24 hours.
#[cfg(feature = "remote")]
pub fn parse_age(text: &str) -> Result<Duration, String> {
    let refused = "expected a duration, such as 90m, 12h or 30d";
    match text.strip_suffix('d').map(str::parse::<u32>) {
        Some(Ok(days)) => Ok(Duration::from_secs(86_400) * days),
        _ if text == "0" => Ok(Duration::ZERO),
        _ => parse_duration(text).map_err(|_| refused.into()),
    }
}

/// Checks the name of a file that is written when the work is done: its directory must exist.
///
/// # Errors
/// When it does not, with the reason.
pub fn in_directory(path: PathBuf) -> Result<PathBuf, String> {
    let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
    match dir.metadata() {
        Ok(found) if found.is_dir() => Ok(path),
        Ok(_) => Err(format!("{} is no directory", dir.display())),
        Err(error) => Err(format!("{}: {error}", dir.display())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(feature = "remote")]
    #[test]
    fn ages_have_days() {
        assert_eq!(parse_age("30d"), Ok(Duration::from_secs(30 * 86_400)));
        assert_eq!(parse_age("90m"), parse_duration("90m"));
        assert_eq!(parse_age("0"), Ok(Duration::ZERO));
        assert!(parse_age("-1d").is_err() && parse_age("a month").is_err());
    }
}
