//! https, with a host of the test's own, whose certificate an authority of the test's own has
//! signed.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use serde_json::json;

use crate::common::run::{Dir, Run};
use crate::common::words;

/// The authority that signed the certificate of the host. OpenSSL made all of these for this test
/// alone.
const AUTHORITY: &str = include_str!("https/authority.pem");
/// An authority that signed nothing.
const OTHER: &str = include_str!("https/other.pem");
const HOST: &[u8] = include_bytes!("https/host.pem");
const HOST_KEY: &[u8] = include_bytes!("https/host.key");

/// Serves until the process ends, and returns where. `answer` has the body for a target.
fn host(answer: impl Fn(&str, &str) -> String + Send + Sync + 'static) -> String {
    let certificate = CertificateDer::from_pem_slice(HOST).unwrap();
    let key = PrivateKeyDer::from_pem_slice(HOST_KEY).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider);
    let config = config.with_safe_default_protocol_versions().unwrap().with_no_client_auth();
    let config = Arc::new(config.with_single_cert(vec![certificate], key).unwrap());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let at = format!("https://{}", listener.local_addr().unwrap());
    let (answer, here) = (Arc::new(answer), at.clone());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let (config, answer, here) = (config.clone(), answer.clone(), here.clone());
            let connection = ServerConnection::new(config).unwrap();
            let stream = StreamOwned::new(connection, stream.unwrap());
            std::thread::spawn(move || serve(stream, |target| answer(target, &here)));
        }
    });
    at
}

/// Answers one request; a client that trusts no authority has gone before that.
fn serve(
    stream: StreamOwned<ServerConnection, TcpStream>,
    answer: impl Fn(&str) -> String,
) -> Option<()> {
    let mut reader = BufReader::new(stream);
    let mut first = String::new();
    reader.read_line(&mut first).ok().filter(|&read| read > 0)?;
    let mut line = String::new();
    while reader.read_line(&mut line).ok()? > 2 {
        line.clear();
    }
    let body = answer(first.split(' ').nth(1)?);
    let mut stream = reader.into_inner();
    let kind = if body.starts_with('{') { "application/json" } else { "text/html" };
    let head = format!("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: {kind}\r\n");
    write!(stream, "{head}Content-Length: {}\r\n\r\n{body}", body.len()).ok()?;
    stream.conn.send_close_notify();
    stream.flush().ok()?;
    // Until the client has read it: a connection that is reset may take the answer with it.
    stream.sock.read_to_end(&mut Vec::new()).ok().map(drop)
}

/// Runs the command with these authorities and no others.
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
    // It is no service, but the request reached it.
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

#[test]
fn pages_of_the_web_are_fetched_by_https() {
    let dir = Dir::new();
    let text = words(1, 100);
    dir.write("essay.txt", &text);
    let at = host(move |target, here| match target {
        "/robots.txt" => String::new(),
        "/page" => format!("<html><p>{text}</p></html>"),
        _ => json!({"query": "", "results": [{"url": format!("{here}/page")}]}).to_string(),
    });
    let engine = format!("searxng={at}");
    let args = ["web", "essay.txt", "--engine", &engine, "--into", "web.idx", "--interval", "1ms"];
    let args = [&args[..], &["--allow-loopback", "--format", "json"]].concat();
    let refused = run(&dir, OTHER, &args);
    assert_eq!(refused.status, 2, "{} {}", refused.out, refused.err);
    assert!(refused.out.contains("UnknownIssuer"), "{} {}", refused.out, refused.err);
    assert!(refused.out.contains("SSL_CERT_FILE"), "{}", refused.out);
    assert!(!dir.path("web.idx").exists());
    let fetched = run(&dir, AUTHORITY, &args);
    assert_eq!(fetched.status, 0, "{} {}", fetched.out, fetched.err);
    assert_eq!(fetched.json()["added"][0]["address"], format!("{at}/page"));
}
