//! An https host for tests, also used by the tests of cento-web.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

/// The authority that signed the host's certificate. OpenSSL made the certificates only for this
/// test.
pub const AUTHORITY: &str = include_str!("authority.pem");
/// An authority that signed no certificate.
pub const OTHER: &str = include_str!("other.pem");
const HOST: &[u8] = include_bytes!("host.pem");
const HOST_KEY: &[u8] = include_bytes!("host.key");

/// Serves until the process ends, and returns where. `answer` has the body for a target.
pub fn host(answer: impl Fn(&str, &str) -> String + Send + Sync + 'static) -> String {
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

/// Answers a request. A client that does not trust the authority closes the connection before.
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
    // Waits until the client has read the answer, because a reset connection may discard the
    // answer.
    stream.sock.read_to_end(&mut Vec::new()).ok().map(drop)
}
