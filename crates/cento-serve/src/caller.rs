//! The address of a client, and the number of its request.
//!
//! A trusted proxy reports the address of its client. If a request brings a number fit for a log,
//! the service uses the number, and otherwise makes a new number. The number is in a header of the
//! answer, in an error and in the log.

use std::hash::{BuildHasher, RandomState};
use std::net::{IpAddr, SocketAddr};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use ipnet::IpNet;

/// The header with the number of a request.
pub const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The header for the client addresses that proxies append.
const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// The maximum length of a request number from a client.
const ID_BYTES_MAX: usize = 128;

/// The remote address of a connection.
#[derive(Debug, Clone, Copy)]
pub struct Peer(pub SocketAddr);

tokio::task_local! {
    /// The number of the request in progress.
    static REQUEST_ID: HeaderValue;
}

/// Runs `answering` for the request with this number.
pub async fn numbered<F: Future>(id: HeaderValue, answering: F) -> F::Output {
    REQUEST_ID.scope(id, answering).await
}

/// Returns the number of the request of this task.
pub fn request_id() -> Option<String> {
    let id = REQUEST_ID.try_with(|id| id.to_str().map(str::to_owned));
    id.ok().and_then(Result::ok)
}

/// Returns the number in these headers, or a new number.
pub fn id_of(headers: &HeaderMap) -> HeaderValue {
    let mut given = headers.get_all(X_REQUEST_ID).iter();
    match (given.next(), given.next()) {
        (Some(id), None) if is_sane(id) => id.clone(),
        _ => new_id(),
    }
}

/// Tells whether the number can be logged, searched for and pasted: it may contain letters, digits
/// and the characters of UUIDs, ULIDs and base64.
fn is_sane(id: &HeaderValue) -> bool {
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.:/+=@".contains(byte);
    (1..=ID_BYTES_MAX).contains(&id.len()) && id.as_bytes().iter().all(is_plain)
}

/// Returns a number unique among all requests and processes.
fn new_id() -> HeaderValue {
    static KEY: LazyLock<RandomState> = LazyLock::new(RandomState::new);
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let id = format!("{:016x}", KEY.hash_one(COUNT.fetch_add(1, Ordering::Relaxed)));
    HeaderValue::try_from(id).expect("digits are a value of a header")
}

/// Returns the address of the client: the peer of the connection or, if the peer is a trusted
/// proxy, the address that the proxy reports. The client at the first untrusted address may have
/// forged any entries before this address.
pub fn address(peer: Peer, headers: &HeaderMap, trusted: &[IpNet]) -> IpAddr {
    let is_trusted = |address: &IpAddr| trusted.iter().any(|net| net.contains(address));
    let mut client = peer.0.ip().to_canonical();
    let values = headers.get_all(X_FORWARDED_FOR);
    let values: Vec<&str> = values.iter().map(|value| value.to_str().unwrap_or_default()).collect();
    for named in values.iter().rev().flat_map(|value| value.rsplit(',')) {
        if !is_trusted(&client) {
            break;
        }
        let Some(address) = parse_address(named.trim()) else { break };
        client = address.to_canonical();
    }
    client
}

/// Parses an address such as `192.0.2.1` or `2001:db8::1`, with or without a port.
fn parse_address(text: &str) -> Option<IpAddr> {
    let plain = text.trim_start_matches('[').trim_end_matches(']');
    plain.parse().ok().or_else(|| text.parse().ok().map(|address: SocketAddr| address.ip()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_taken_if_it_is_fit_for_a_log() {
        let of = |values: &[&str]| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(X_REQUEST_ID, HeaderValue::from_str(value).unwrap());
            }
            id_of(&headers).to_str().unwrap().to_owned()
        };
        let long = "x".repeat(ID_BYTES_MAX);
        for taken in ["a", "7f0c-1:2/3+4=@_.", long.as_str()] {
            assert_eq!(of(&[taken]), taken);
        }
        let too_long = "x".repeat(ID_BYTES_MAX + 1);
        for made_up in ["", "a b", "a\"b", "a\tb", "{}", too_long.as_str()] {
            let id = of(&[made_up]);
            assert!(id.len() == 16 && id.bytes().all(|b| b.is_ascii_hexdigit()), "{id}");
        }
        assert_eq!(of(&["a", "b"]).len(), 16);
        assert_ne!(of(&[]), of(&[]));
    }

    #[test]
    fn only_proxies_that_are_trusted_say_for_whom_they_ask() {
        let trusted: [IpNet; 2] = ["10.0.0.0/8".parse().unwrap(), "fd00::/8".parse().unwrap()];
        let check = |peer: &str, values: &[&str], expected: &str| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(X_FORWARDED_FOR, HeaderValue::from_str(value).unwrap());
            }
            let peer = Peer(SocketAddr::new(peer.parse().unwrap(), 1));
            let expected: IpAddr = expected.parse().unwrap();
            assert_eq!(address(peer, &headers, &trusted), expected, "{peer:?} {values:?}");
        };
        check("192.0.2.9", &[], "192.0.2.9");
        check("192.0.2.9", &["192.0.2.1"], "192.0.2.9");
        check("10.0.0.1", &[], "10.0.0.1");
        check("10.0.0.1", &["192.0.2.1"], "192.0.2.1");
        check("::ffff:10.0.0.1", &["192.0.2.1"], "192.0.2.1");
        check("fd00::1", &["[2001:db8::1]:4711"], "2001:db8::1");
        check("10.0.0.1", &["192.0.2.1:80"], "192.0.2.1");
        // The client itself has sent the first entry.
        check("10.0.0.1", &["10.9.9.9, 192.0.2.1, 10.0.0.2"], "192.0.2.1");
        check("10.0.0.1", &["10.9.9.9", "192.0.2.1", "10.0.0.2"], "192.0.2.1");
        check("10.0.0.1", &["10.0.0.3,10.0.0.2"], "10.0.0.3");
        check("10.0.0.1", &["192.0.2.1, unknown, 10.0.0.2"], "10.0.0.2");
        check("10.0.0.1", &["", "\u{fc}"], "10.0.0.1");
    }
}
