//! The routes of a service, called without a socket.

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::Request;
use cento_serve::{Service, Settings};
use hyper::service::Service as _;
use hyper_util::service::TowerToHyperService;
use tokio::runtime::{Builder, Runtime};

use super::{Ask, Dir, Reply, settings};

/// A service whose routes are called directly.
pub struct Routes {
    routes: TowerToHyperService<Router>,
    runtime: Runtime,
    _service: Service,
}

impl Routes {
    /// Returns the routes for the index `idx` of `dir`, with default settings.
    pub fn of(dir: &Dir) -> Routes {
        Routes::with(dir, |_| {})
    }

    /// Returns the routes for the index `idx` of `dir`, with settings changed by `change`.
    pub fn with(dir: &Dir, change: impl FnOnce(&mut Settings)) -> Routes {
        Routes::to(Service::bind(&dir.path("idx"), settings(change)).unwrap())
    }

    /// Returns the routes of a read-only service over these indexes.
    pub fn over(dir: &Dir, indexes: &[&str]) -> Routes {
        let indexes: Vec<_> = indexes.iter().map(|name| dir.path(name)).collect();
        Routes::to(Service::over(&indexes, settings(|_| {})).unwrap())
    }

    /// Posts JSON and returns the status and the unread body of the answer.
    pub fn begin(&self, path: &str, body: &str) -> (u16, Body) {
        let request = Request::builder().method("POST").uri(path).header("host", "localhost");
        let request = request.header("content-type", "application/json");
        let request = request.header("content-length", body.len());
        let request = request.body(Body::from(body.to_owned())).unwrap();
        let response = self.runtime.block_on(self.routes.call(request)).unwrap();
        (response.status().as_u16(), response.into_body())
    }

    /// Reads a body to its end.
    pub fn read(&self, body: Body) -> String {
        let bytes = self.runtime.block_on(to_bytes(body, usize::MAX)).unwrap();
        String::from_utf8(bytes.to_vec()).unwrap()
    }

    fn to(service: Service) -> Routes {
        let runtime = Builder::new_current_thread().enable_time().build().unwrap();
        let routes = TowerToHyperService::new(service.router());
        Routes { routes, runtime, _service: service }
    }
}

impl Ask for Routes {
    fn send(&self, method: &str, path: &str, headers: &str, body: &[u8]) -> Reply {
        let mut request = Request::builder().method(method).uri(path);
        if !headers.contains("Host:") {
            request = request.header("host", "localhost");
        }
        for line in headers.split_terminator("\r\n") {
            let (name, value) = line.split_once(": ").unwrap();
            request = request.header(name, value);
        }
        let request = request.header("content-length", body.len());
        let request = request.body(Body::from(body.to_vec())).unwrap();
        self.runtime.block_on(async {
            let response = self.routes.call(request).await.unwrap();
            let status = response.status();
            let mut head = format!("http/1.1 {status}\r\n");
            for (name, value) in response.headers() {
                head += &format!("{name}: {}\r\n", value.to_str().unwrap());
            }
            let body = to_bytes(response.into_body(), usize::MAX).await.unwrap();
            let body = String::from_utf8_lossy(&body).into_owned();
            Reply { status: status.as_u16(), head: head.to_ascii_lowercase(), body }
        })
    }
}
