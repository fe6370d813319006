//! An object store that fails at a point chosen by the test.

use std::fmt;
use std::future;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::stream::{self, BoxStream, StreamExt, TryStreamExt};
use object_store::path::Path;
use object_store::{
    CopyOptions, GetOptions, GetResult, GetResultPayload, ListResult, MultipartUpload, ObjectMeta,
    ObjectStore, PutMode, PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// This request and all later requests do not arrive, because the machine has lost the network.
    Cut,
    /// The request is carried out, but the answers from here on do not arrive.
    CutAfter,
    /// Only this request does not arrive.
    Lost,
    /// Only this request is carried out without an answer.
    Unanswered,
    /// Half of the requested bytes come back.
    Truncated,
    /// One bit of the answer differs.
    Flipped,
    /// Other requests come before this request.
    Delayed,
    /// Lists of manifests go on with further numbers and never end.
    NewPages,
    /// Lists of manifests are the same page again and again.
    SamePage,
}

/// A store over another store, which carries out requests until a request fails.
#[derive(Debug)]
pub struct Faulty {
    inner: Arc<dyn ObjectStore>,
    fault: Fault,
    at: usize,
    requests: AtomicUsize,
    /// Whether `PutMode::Create` is ignored.
    unconditional: bool,
    /// Happens before the first manifest is put. Until then only manifest 1 is listed.
    meanwhile: Mutex<Option<Meanwhile>>,
}

type Happen = dyn FnOnce(&Arc<dyn ObjectStore>) + Send;

struct Meanwhile(Box<Happen>);

impl fmt::Debug for Meanwhile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Meanwhile")
    }
}

impl Faulty {
    pub fn new(inner: Arc<dyn ObjectStore>, fault: Fault, at: usize) -> Faulty {
        Faulty {
            inner,
            fault,
            at,
            requests: AtomicUsize::new(0),
            unconditional: false,
            meanwhile: Mutex::new(None),
        }
    }

    /// A store that runs `meanwhile` before the writer puts a manifest.
    pub fn late(
        inner: Arc<dyn ObjectStore>,
        meanwhile: impl FnOnce(&Arc<dyn ObjectStore>) + Send + 'static,
    ) -> Faulty {
        let meanwhile = Mutex::new(Some(Meanwhile(Box::new(meanwhile))));
        Faulty { meanwhile, ..Faulty::new(inner, Fault::Lost, usize::MAX) }
    }

    pub fn inner(&self) -> Arc<dyn ObjectStore> {
        self.inner.clone()
    }

    pub fn unconditional(inner: Arc<dyn ObjectStore>) -> Faulty {
        Faulty { unconditional: true, ..Faulty::new(inner, Fault::Lost, usize::MAX) }
    }

    pub fn requests(&self) -> usize {
        self.requests.load(Ordering::SeqCst)
    }

    fn next(&self) -> Option<Fault> {
        let number = self.requests.fetch_add(1, Ordering::SeqCst);
        match self.fault {
            Fault::Cut if number >= self.at => Some(Fault::Cut),
            Fault::CutAfter if number > self.at => Some(Fault::Cut),
            Fault::NewPages | Fault::SamePage => None,
            fault => (number == self.at).then_some(fault),
        }
    }
}

fn lost<T>() -> Result<T> {
    Err(object_store::Error::Generic { store: "faulty", source: "the connection was lost".into() })
}

fn manifest(number: u64) -> Result<ObjectMeta> {
    Ok(ObjectMeta {
        location: Path::from(format!("manifests/{number:020}.json")),
        last_modified: Default::default(),
        size: 1,
        e_tag: None,
        version: None,
    })
}

async fn delay() {
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
}

impl fmt::Display for Faulty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Faulty({})", self.inner)
    }
}

/// Carries a request out, or fails as the fault requires.
macro_rules! carried {
    ($self:ident, $request:expr) => {
        match $self.next() {
            Some(Fault::Cut | Fault::Lost) => lost(),
            Some(Fault::CutAfter | Fault::Unanswered) => {
                let _ = $request.await;
                lost()
            }
            Some(Fault::Delayed) => {
                delay().await;
                $request.await
            }
            _ => $request.await,
        }
    };
}

#[async_trait]
impl ObjectStore for Faulty {
    async fn put_opts(
        &self,
        location: &Path,
        payload: PutPayload,
        mut opts: PutOptions,
    ) -> Result<PutResult> {
        if location.as_ref().starts_with("manifests/")
            && let Some(Meanwhile(happen)) = self.meanwhile.lock().unwrap().take()
        {
            // On a separate thread, which may wait.
            std::thread::scope(|scope| drop(scope.spawn(|| happen(&self.inner))));
        }
        if self.unconditional {
            opts.mode = PutMode::Overwrite;
        }
        carried!(self, self.inner.put_opts(location, payload, opts))
    }

    async fn put_multipart_opts(
        &self,
        location: &Path,
        opts: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        self.inner.put_multipart_opts(location, opts).await
    }

    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        let damage = match self.next() {
            Some(Fault::Cut | Fault::CutAfter | Fault::Lost | Fault::Unanswered) => return lost(),
            Some(Fault::Delayed) => {
                delay().await;
                None
            }
            fault => fault,
        };
        let is_head = options.head;
        let mut found = self.inner.get_opts(location, options).await?;
        let Some(damage) = damage.filter(|_| !is_head) else { return Ok(found) };
        let (meta, range, attributes) =
            (found.meta.clone(), found.range.clone(), found.attributes.clone());
        let extensions = std::mem::take(&mut found.extensions);
        let mut bytes = found.bytes().await?.to_vec();
        if damage == Fault::Truncated {
            bytes.truncate(bytes.len() / 2);
        } else if let Some(middle) = bytes.len().checked_sub(1).map(|last| last / 2) {
            bytes[middle] ^= 4;
        }
        let payload = stream::once(async move { Ok(Bytes::from(bytes)) }).boxed();
        let payload = GetResultPayload::Stream(payload);
        Ok(GetResult { payload, meta, range, attributes, extensions })
    }

    async fn get_ranges(&self, location: &Path, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        self.inner.get_ranges(location, ranges).await
    }

    fn delete_stream(
        &self,
        locations: BoxStream<'static, Result<Path>>,
    ) -> BoxStream<'static, Result<Path>> {
        match self.next() {
            Some(Fault::Cut | Fault::Lost) => stream::once(async { lost() }).boxed(),
            _ => self.inner.delete_stream(locations),
        }
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        let fault = self.next();
        match self.fault {
            Fault::NewPages => return stream::iter((1..).map(manifest)).boxed(),
            Fault::SamePage => return stream::iter((1..=1000).cycle().map(manifest)).boxed(),
            _ => {}
        }
        match fault {
            Some(Fault::Cut | Fault::CutAfter | Fault::Lost | Fault::Unanswered) => {
                stream::once(async { lost() }).boxed()
            }
            _ if self.meanwhile.lock().unwrap().is_some() => {
                let first = |meta: &ObjectMeta| {
                    let name = meta.location.as_ref();
                    !name.starts_with("manifests/") || name.ends_with("01.json")
                };
                let listed = self.inner.list(prefix);
                listed.try_filter(move |meta| future::ready(first(meta))).boxed()
            }
            _ => self.inner.list(prefix),
        }
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.inner.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.inner.copy_opts(from, to, options).await
    }
}
