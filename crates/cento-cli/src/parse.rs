//! Parsers of option values.

use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::time::Duration;

pub use cento_api::number::parse_bytes;
use cento_source::charset;

/// Checks that an encoding with this name exists.
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

/// Checks a measure, and returns the complete specification.
pub fn parse_measure(spec: &str) -> cento::Result<String> {
    Ok(spec.parse::<cento::Measure>()?.to_string())
}

/// The maximum number of threads. The system refuses to start many more, which would end the
/// process in the middle of its work.
const THREADS_MAX: usize = 1024;

/// Parses a number of threads.
pub fn parse_threads(text: &str) -> Result<usize, String> {
    let number = text.parse().ok().filter(|number| (1..=THREADS_MAX).contains(number));
    number.ok_or_else(|| format!("expected a number of threads from 1 to {THREADS_MAX}"))
}

/// Parses a limit that must not be zero, because the service would refuse every request.
pub fn parse_count(text: &str) -> Result<usize, String> {
    let number = text.parse().ok().filter(|number| *number > 0);
    number.ok_or_else(|| "expected a whole number of at least 1".into())
}

/// Parses a positive number of bytes.
pub fn parse_size(text: &str) -> Result<usize, String> {
    match parse_bytes(text)? {
        0 => Err("expected a number of bytes above zero, such as 512MiB".into()),
        bytes => Ok(bytes),
    }
}

/// Parses an address or a host name to listen on, with a port.
pub fn parse_listen(text: &str) -> Result<SocketAddr, String> {
    if let Ok(address) = text.parse() {
        return Ok(address);
    }
    let named = text.rsplit_once(':').and_then(|(host, port)| Some((host, port.parse().ok()?)));
    let named = named.filter(|(host, _): &(&str, u16)| !host.is_empty() && !host.contains(':'));
    let named = named.ok_or("expected an address and a port, such as 127.0.0.1:7227")?;
    let unknown = |why: &str| format!("the host `{}` has no address{why}", named.0);
    let found = named.to_socket_addrs().map_err(|error| unknown(&format!(": {error}")))?;
    // For a name with IPv4 and IPv6 addresses, prefers IPv4 like the default.
    found.min_by_key(|address| !address.is_ipv4()).ok_or_else(|| unknown(""))
}

/// Parses a duration such as `500ms`, `5s` or `10m`.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    let refused = "expected a duration above zero, such as 500ms, 5s or 10m";
    let span: jiff::SignedDuration = text.parse().map_err(|_| refused)?;
    match Duration::try_from(span) {
        Ok(duration) if !duration.is_zero() => Ok(duration),
        _ => Err(refused.into()),
    }
}

/// Parses a duration such as `12h` or `30d`. A day has 24 hours.
pub fn parse_age(text: &str) -> Result<Duration, String> {
    let refused = "expected a duration, such as 90m, 12h or 30d";
    match text.strip_suffix('d').map(str::parse::<u32>) {
        Some(Ok(days)) => Ok(Duration::from_secs(86_400) * days),
        _ if text == "0" => Ok(Duration::ZERO),
        _ => parse_duration(text).map_err(|_| refused.into()),
    }
}

/// Checks the path of a file to be written at the end of the run: the directory must exist.
///
/// # Errors
/// When the directory does not exist, with the reason.
pub fn in_directory(path: PathBuf) -> Result<PathBuf, String> {
    let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
    match dir.metadata() {
        Ok(found) if found.is_dir() => Ok(path),
        Ok(_) => Err(format!("{} is not a folder", dir.display())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Err(format!("there is no folder {}; create it first", dir.display()))
        }
        Err(error) => Err(format!("{}: {error}", dir.display())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_threads_have_bounds() {
        assert_eq!((parse_threads("1"), parse_threads("1024")), (Ok(1), Ok(1024)));
        for text in ["0", "1025", "100000", "-1", "all", ""] {
            assert!(parse_threads(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_service_listens_on_addresses_and_names() {
        for text in ["127.0.0.1:80", "[::1]:80", "0.0.0.0:0"] {
            assert_eq!(parse_listen(text), Ok(text.parse().unwrap()));
        }
        assert!(parse_listen("localhost:7227").unwrap().ip().is_loopback());
        for text in ["", "7227", ":7227", "localhost", "::1:7227", "127.0.0.1:70000"] {
            let said = parse_listen(text).unwrap_err();
            assert!(said.contains("such as 127.0.0.1:7227"), "{text}: {said}");
        }
    }

    #[test]
    fn ages_have_days() {
        assert_eq!(parse_age("30d"), Ok(Duration::from_secs(30 * 86_400)));
        assert_eq!(parse_age("90m"), parse_duration("90m"));
        assert_eq!(parse_age("0"), Ok(Duration::ZERO));
        assert!(parse_age("-1d").is_err() && parse_age("a month").is_err());
    }
}
