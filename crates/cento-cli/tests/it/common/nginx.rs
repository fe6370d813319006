//! A real nginx in front of a service, with the recommended configuration (`deploy/nginx.conf`).

use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

fn nginx() -> Command {
    let mut command = Command::new("nginx");
    // Debian installs nginx in a directory that is only in root's `PATH`.
    let path = std::env::var("PATH").unwrap_or_default();
    command.env("PATH", format!("{path}:/usr/sbin:/usr/local/sbin"));
    command
}

pub struct Nginx {
    child: Child,
    /// The URL of the service through nginx.
    pub url: String,
    dir: tempfile::TempDir,
}

impl Nginx {
    /// Starts nginx in front of the service at this address.
    ///
    /// # Panics
    /// Where nginx is missing. Tests with nginx are therefore ignored by default.
    pub fn start(service: &str) -> Nginx {
        let asked = nginx().arg("-v").stdout(Stdio::null()).stderr(Stdio::null()).status();
        if let Err(error) = asked {
            panic!("nginx does not start: {error}; install it (on Debian: apt-get install nginx)");
        }
        // A different process may take the port before nginx does, so this retries.
        (0..10)
            .find_map(|_| Nginx::start_at(free_port(), service))
            .expect("nginx does not begin to listen")
    }

    fn start_at(port: u16, service: &str) -> Option<Nginx> {
        let dir = tempfile::tempdir().unwrap();
        let recommended = concat!(env!("CARGO_MANIFEST_DIR"), "/../../deploy/nginx.conf");
        let recommended = fs::read_to_string(recommended).unwrap();
        let mut placed = recommended.clone();
        for (from, to) in [
            ("server 127.0.0.1:7227;", format!("server {service};")),
            ("listen 127.0.0.1:8080;", format!("listen 127.0.0.1:{port};")),
        ] {
            assert_eq!(placed.matches(from).count(), 1, "{from}");
            placed = placed.replace(from, &to);
        }
        fs::write(dir.path().join("cento.conf"), placed).unwrap();
        let temporary: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
            .map(|name| format!("    {name}_temp_path {name};\n"))
            .concat();
        let own = format!(
            "daemon off;\nmaster_process off;\npid nginx.pid;\nerror_log stderr;\nevents {{}}\nhttp {{\n\
             {temporary}    access_log off;\n    include cento.conf;\n}}\n"
        );
        fs::write(dir.path().join("nginx.conf"), own).unwrap();
        let place = dir.path().to_str().unwrap();
        let mut command = nginx();
        command.args(["-e", "stderr", "-p", place, "-c", "nginx.conf"]);
        let log = fs::File::create(dir.path().join("log")).unwrap();
        let started = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log).spawn();
        let child = started.unwrap();
        let url = format!("http://127.0.0.1:{port}/cento");
        let mut nginx = Nginx { child, url, dir };
        let until = Instant::now() + Duration::from_secs(60);
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            if nginx.child.try_wait().unwrap().is_some() {
                let log = nginx.log();
                assert!(log.contains("in use"), "{log}");
                return None;
            }
            assert!(Instant::now() < until, "{}", nginx.log());
            std::thread::sleep(Duration::from_millis(5));
        }
        Some(nginx)
    }

    pub fn log(&self) -> String {
        fs::read_to_string(self.dir.path().join("log")).unwrap()
    }

    /// Returns host and port.
    pub fn address(&self) -> &str {
        self.url.strip_prefix("http://").and_then(|url| url.strip_suffix("/cento")).unwrap()
    }

    /// Sends a request. Each line of `headers` ends with `\r\n`. Returns the head in lower case,
    /// and the body.
    pub fn ask(&self, method: &str, path: &str, headers: &str, body: &[u8]) -> (String, Vec<u8>) {
        let mut stream = TcpStream::connect(self.address()).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let head = format!(
            "{method} {path} HTTP/1.0\r\nHost: {}\r\n{headers}Content-Length: {}\r\n\r\n",
            self.address(),
            body.len()
        );
        stream.write_all(&[head.as_bytes(), body].concat()).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        let end = answer.windows(4).position(|four| four == b"\r\n\r\n").expect("a head");
        let head = String::from_utf8_lossy(&answer[..end]).to_ascii_lowercase();
        (head, answer[end + 4..].to_vec())
    }
}

fn free_port() -> u16 {
    TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port()
}

impl Drop for Nginx {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
