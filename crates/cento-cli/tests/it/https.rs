//! https, with a host of the test's own, whose certificate an authority of the test's own has
//! signed.

mod host;

use serde_json::json;

use crate::common::run::{Dir, Run};
use host::{AUTHORITY, OTHER, host};

/// Runs the command with these authorities as the only trusted authorities.
fn run(dir: &Dir, authorities: &str, args: &[&str]) -> Run {
    dir.write("authorities.pem", authorities);
    let mut command = dir.command(args);
    command.env("SSL_CERT_FILE", dir.path("authorities.pem")).env_remove("SSL_CERT_DIR");
    command.output().unwrap().into()
}

#[test]
fn a_service_is_used_if_an_authority_of_the_system_signed_its_certificate() {
    let dir = Dir::new();
    let error = json!({"error": {"code": "not_there", "message": "this is the host of the test"}});
    let at = host(move |_, _| error.to_string());
    let search = ["search", "--url", &at, "--text", "some words"];
    let trusted = run(&dir, AUTHORITY, &search);
    // The host is not a cento service, but the request arrived.
    assert_eq!(trusted.status, 2);
    assert!(!trusted.err.contains("certificate"), "{}", trusted.err);
    let refused = run(&dir, OTHER, &search);
    assert_eq!((refused.status, refused.out.as_str()), (2, ""));
    for part in [&*at, "UnknownIssuer", "SSL_CERT_FILE"] {
        assert!(refused.err.contains(part), "{part}: {}", refused.err);
    }
    let none = run(&dir, "", &search);
    assert!(none.err.contains("SSL_CERT_FILE"), "{}", none.err);
}
