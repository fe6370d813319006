//! Which addresses are public, and which have the scheme http or https?

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Returns whether an address belongs to the public internet (IANA's registries of
/// special-purpose
/// addresses). An IPv6 address that contains an IPv4 address is public if the IPv4 address is.
///
/// ```
/// use cento_client::address::is_public;
///
/// // A webhook must not reach into your own network.
/// assert!(!is_public("127.0.0.1".parse().unwrap()) && !is_public("10.1.2.3".parse().unwrap()));
/// assert!(is_public("8.8.8.8".parse().unwrap()));
/// ```
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    !matches!(
        (a, b, c),
        (0 | 10 | 127 | 224..=255, ..)
            | (100, 64..=127, _)
            | (169, 254, _)
            | (172, 16..=31, _)
            | (192, 168, _)
            | (198, 18 | 19, _)
            | (192, 0, 0 | 2)
            | (192, 88, 99)
            | (198, 51, 100)
            | (203, 0, 113)
    )
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let parts = address.segments();
    let held = |at: usize| {
        let [a, b] = parts[at].to_be_bytes();
        let [c, d] = parts[at + 1].to_be_bytes();
        Ipv4Addr::new(a, b, c, d)
    };
    match parts {
        // Mapped, translated (RFC 6052), 6to4.
        [0, 0, 0, 0, 0, 0xffff, ..] | [0x64, 0xff9b, 0, 0, 0, 0, ..] => is_public_v4(held(6)),
        [0x2002, ..] => is_public_v4(held(1)),
        // Documentation, Teredo and other protocols.
        [0x2001, 0xdb8, ..] | [0x2001, 0..=0x1ff, ..] | [0x3fff, 0..=0xfff, ..] => false,
        // The range assigned to the internet.
        [first, ..] => first & 0xe000 == 0x2000,
    }
}

/// Splits an address into scheme with host, and path with query. `None` for a scheme other than
/// http and https, or for an address with a user name.
///
/// ```
/// use cento_client::address::parts;
///
/// let address = "http://127.0.0.1:7227/v1/search?q=1#top";
/// assert_eq!(parts(address), Some(("http://127.0.0.1:7227", "/v1/search?q=1")));
/// assert_eq!(parts("ftp://example.org/"), None);
/// ```
pub fn parts(address: &str) -> Option<(&str, &str)> {
    let address = address.split('#').next()?;
    let start = ["http://", "https://"].into_iter().find(|scheme| {
        address.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme))
    })?;
    let end = address[start.len()..].find(['/', '?']).map_or(address.len(), |at| start.len() + at);
    let (origin, path) = address.split_at(end);
    let is_plain = origin.len() > start.len() && !origin.contains(['@', '\\']);
    let is_graphic = address.bytes().all(|byte| byte.is_ascii_graphic());
    (is_plain && is_graphic).then_some((origin, if path.is_empty() { "/" } else { path }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn private_addresses_are_not_public_in_any_form() {
        for text in [
            "127.0.0.1",
            "10.1.2.3",
            "172.16.0.1",
            "172.31.255.255",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "0.0.0.0",
            "255.255.255.255",
            "224.0.0.1",
            "198.18.0.1",
            "192.0.2.1",
            "::1",
            "::",
            "fc00::1",
            "fd12::1",
            "fe80::1",
            "ff02::1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "64:ff9b::a00:1",
            "2002:7f00:1::",
            "2001:db8::1",
            "2001::1",
            "::7f00:1",
        ] {
            assert!(!is_public(text.parse().unwrap()), "{text}");
        }
        for text in ["8.8.8.8", "172.32.0.1", "100.128.0.1", "2606:4700::1111", "64:ff9b::808:808"]
        {
            assert!(is_public(text.parse().unwrap()), "{text}");
        }
    }

    #[test]
    fn an_address_has_a_host_and_a_path() {
        assert_eq!(parts("http://a.example"), Some(("http://a.example", "/")));
        assert_eq!(parts("HTTPS://a.example:8/b?c#d"), Some(("HTTPS://a.example:8", "/b?c")));
        for bad in ["ftp://a", "http://", "http://u@a/", "http://a/\u{e9}", "http://a/ b", "/x", ""]
        {
            assert_eq!(parts(bad), None, "{bad}");
        }
    }
}
