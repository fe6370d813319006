//! Indexes and services for these tests.

mod routes;
mod service;

use cento::index::{AddIndexesOptions, Index, WriterOptions};
use cento_client::api::DocumentBody;
use cento_serve::Settings;
use serde_json::Map;

use cento_testing::several::third;

pub use cento_testing::http::{JSON, LINES, Reply};
pub use cento_testing::*;
pub use routes::Routes;
pub use service::Service;

/// A service that answers over a socket or directly.
pub trait Ask {
    /// Sends a request. `headers` are lines that end with `\r\n`.
    fn send(&self, method: &str, path: &str, headers: &str, body: &[u8]) -> Reply;

    /// Sends a request whose body is text.
    fn ask(&self, method: &str, path: &str, headers: &str, body: &str) -> Reply {
        self.send(method, path, headers, body.as_bytes())
    }

    /// Sends a POST request with a JSON body.
    fn post(&self, path: &str, body: &str) -> Reply {
        self.ask("POST", path, JSON, body)
    }

    /// Returns the value of a metric without labels.
    fn metric(&self, name: &str) -> f64 {
        self.ask("GET", "/metrics", "", "").metric(name)
    }
}

/// Returns settings with a free port, after `change`.
fn settings(change: impl FnOnce(&mut Settings)) -> Settings {
    let mut settings = Settings { listen: ([127, 0, 0, 1], 0).into(), ..Settings::default() };
    change(&mut settings);
    settings
}

/// Returns a directory with an empty index `idx`.
pub fn created() -> Dir {
    let dir = Dir::new();
    Index::create(dir.path("idx"), config()).unwrap();
    dir
}

/// Returns a directory with three indexes `a`, `b` and `c` of a third of the documents, and the
/// union `all`.
pub fn parts() -> Dir {
    let dir = Dir::new();
    for (part, name) in (0..).zip(["a", "b", "c"]) {
        fill(&dir.path(name), &third(part));
    }
    let all = Index::create(dir.path("all"), config()).unwrap();
    let mut writer = all.writer(WriterOptions::default()).unwrap();
    let shards = ["a", "b", "c"].map(|name| Index::open(dir.path(name)).unwrap());
    writer.add_indexes(&shards, AddIndexesOptions::default()).unwrap();
    writer.finish().unwrap();
    dir
}

/// Returns a directory with an index `idx` of [`corpus`].
pub fn indexed() -> Dir {
    let dir = Dir::new();
    fill(&dir.path("idx"), &corpus());
    dir
}

/// Checks an index and returns its number of documents.
#[track_caller]
pub fn documents(dir: &Dir, name: &str) -> u64 {
    let index = Index::open(dir.path(name)).unwrap();
    assert_eq!(index.check().unwrap().problems, []);
    index.snapshot().unwrap().documents()
}

/// Returns the body of a request with a document.
pub fn body(id: &str, text: &str) -> DocumentBody {
    DocumentBody { id: id.to_owned(), text: text.to_owned(), meta: Map::new(), id_place: None }
}
