//! Posts to receivers on loopback, which hang, lie and send too much.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use cento_client::WebhookClient;

/// A receiver that answers every connection with `answer`. Returns its URL and a count of
/// connections.
fn receiver(answer: impl Fn(&mut TcpStream) + Send + Sync + 'static) -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/hook", listener.local_addr().unwrap());
    let (answer, count) = (Arc::new(answer), Arc::new(AtomicUsize::new(0)));
    let connections = count.clone();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            connections.fetch_add(1, Ordering::SeqCst);
            let (answer, mut stream) = (answer.clone(), stream.unwrap());
            std::thread::spawn(move || answer(&mut stream));
        }
    });
    (url, count)
}

/// The limit of a post whose receiver takes longer.
const SHORT: Duration = Duration::from_millis(300);

/// The limit of other posts, however slow the machine.
const LONG: Duration = Duration::from_secs(600);

/// Posts with this time limit, to an address of this machine.
fn post(url: &str, limit: Duration) -> Result<u16, String> {
    WebhookClient::new(limit, |_| true).post(url, "X-Test", "1", b"{}")
}

/// Reads until the other end closes, or the test ends.
fn drain(stream: &mut TcpStream) {
    let mut bytes = [0; 4096];
    while stream.read(&mut bytes).is_ok_and(|read| read > 0) {}
}

#[test]
fn a_receiver_that_never_answers_takes_no_longer_than_the_limit() {
    let (url, _) = receiver(drain);
    assert!(post(&url, SHORT).unwrap_err().contains("it took longer"));
}

#[test]
fn a_receiver_that_sends_a_byte_now_and_then_takes_no_longer_than_the_limit() {
    let (url, _) = receiver(|stream| {
        for byte in b"HTTP/1.1 200 OK\r\nX: ".iter().chain(std::iter::repeat(&b'x')) {
            if stream.write_all(&[*byte]).is_err() {
                return;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    });
    assert!(post(&url, SHORT).unwrap_err().contains("it took longer"));
}

#[test]
fn a_head_without_end_is_refused() {
    let (url, _) = receiver(|stream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n");
        while stream.write_all(b"X-Header: of some length\r\n").is_ok() {}
    });
    post(&url, LONG).unwrap_err();
}

#[test]
fn the_body_of_an_answer_is_not_read() {
    let (url, _) = receiver(|stream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n");
        while stream.write_all(&[b'x'; 65536]).is_ok() {}
    });
    assert_eq!(post(&url, LONG), Ok(200));
}

#[test]
fn a_redirect_is_the_answer_and_not_followed() {
    let (other, visits) = receiver(drain);
    let (url, _) = receiver(move |stream| {
        let head =
            format!("HTTP/1.1 307 Elsewhere\r\nLocation: {other}\r\nContent-Length: 0\r\n\r\n");
        let _ = stream.write_all(head.as_bytes());
        drain(stream);
    });
    assert_eq!(post(&url, LONG), Ok(307));
    assert_eq!(visits.load(Ordering::SeqCst), 0);
}

#[test]
fn a_receiver_that_closes_or_speaks_something_else_is_an_error() {
    let (url, _) = receiver(|_| {});
    post(&url, LONG).unwrap_err();
    let (url, _) = receiver(|stream| {
        let _ = stream.write_all(b"220 mail.example ESMTP\r\n");
        drain(stream);
    });
    post(&url, LONG).unwrap_err();
}

#[test]
fn a_name_of_this_machine_is_refused_like_its_address() {
    let (url, visits) = receiver(drain);
    let named = url.replace("127.0.0.1", "localhost");
    let poster = WebhookClient::new(LONG, |_| false);
    poster.post(&named, "X-Test", "1", b"{}").unwrap_err();
    poster.post(&url, "X-Test", "1", b"{}").unwrap_err();
    assert_eq!(visits.load(Ordering::SeqCst), 0);
}
