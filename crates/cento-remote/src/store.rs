//! Access to the objects of a store.
//!
//! This is the only module that calls the object stores, and the border between blocking and
//! asynchronous code: all code above is `async` and runs inside [`Store::block`], where a thread of
//! the caller waits.

use std::future::Future;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::prefix::PrefixStore;
use object_store::{ObjectMeta, ObjectStore, ObjectStoreExt, PutMode};

use crate::listing::{self, Bounds, Fault, Listing};
use crate::manifest::{MANIFEST_BYTES_MAX, Manifest, PARTS, Part, PartDigest};
use crate::place::URL;
use crate::{outrun, place};
#[cfg(not(feature = "cloud"))]
use cento::Refusal;
use cento::{Corruption, Error, Reason, Result};

/// The object that marks a repository.
const LAYOUT: &str = "cento.json";
/// Hidden, so that an interrupted call of [`Store::now`] does not make a store look full.
const CLOCK: &str = ".now";
const LAYOUT_BYTES: &[u8] = b"{\"cento_repository\":1}\n";

/// The maximum number of attempts at a request that may have failed by chance. The clients of cloud
/// stores also retry.
pub const TRIES: u32 = 3;

/// The first pause between attempts. Later pauses are longer.
const PAUSE: Duration = Duration::from_millis(50);

/// An object store with a repository, or room for a repository.
pub struct Store {
    objects: Arc<dyn ObjectStore>,
    url: String,
    runtime: tokio::runtime::Runtime,
}

/// Returns the error for a store that cannot be used.
fn refused(url: &str, reason: Reason<'static>, what: impl Into<String>) -> Error {
    Error::index(url, reason, what)
}

impl Store {
    pub fn open(url: &str, settings: impl IntoIterator<Item = (String, String)>) -> Result<Store> {
        let Some(path) = place::directory(url)? else {
            return Store::over(cloud(url, settings)?, url);
        };
        // The prefix is below the root, so that nothing is created before the first object.
        let prefix = Path::from_absolute_path(&path);
        let prefix = prefix.map_err(|e| refused(url, URL, e.to_string()))?;
        let files = LocalFileSystem::new().with_fsync(true);
        // The same name for every spelling, because an index remembers the name of its store.
        let url = path.display().to_string();
        Store::over(Arc::new(PrefixStore::new(files, prefix)), &url)
    }

    pub fn over(objects: Arc<dyn ObjectStore>, url: &str) -> Result<Store> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .thread_name("cento-remote")
            .enable_all()
            .build()
            .map_err(|e| Error::io("start", "the threads of a transfer", e))?;
        Ok(Store { objects, url: url.trim_end_matches('/').to_owned(), runtime })
    }

    pub fn url(&self) -> &str {
        &self.url
    }

    /// Runs `work` to its end on the caller's thread.
    pub fn block<T>(&self, work: impl Future<Output = T>) -> T {
        self.runtime.block_on(work)
    }

    /// Returns the error of a failed `action` on an object.
    pub fn failed(&self, action: &'static str, path: &Path, error: object_store::Error) -> Error {
        failed(action, &self.name(path), error)
    }

    /// Returns the name of an object for messages.
    pub fn name(&self, path: &Path) -> String {
        format!("{}/{path}", self.url)
    }

    /// Refuses a store without a repository, or with a repository of another version.
    pub async fn check_layout(&self) -> Result<()> {
        match self.get_if_there(&Path::from(LAYOUT), LAYOUT_BYTES.len() as u64).await? {
            Some(bytes) if bytes == LAYOUT_BYTES => Ok(()),
            Some(_) => Err(refused(
                &self.url,
                Reason::OtherVersion,
                "its cento.json is of another version of cento, or of something else",
            )),
            None => Err(refused(&self.url, Reason::NoStore, "there is no index here")),
        }
    }

    /// Refuses a store that overwrites objects despite the condition, because two simultaneous
    /// pushes would then lose data. `create` marks the store as a repository first.
    pub async fn check_conditions(&self, create: bool) -> Result<()> {
        let path = Path::from(LAYOUT);
        let put = || self.put_new(&path, Bytes::from_static(LAYOUT_BYTES));
        if !create {
            self.check_layout().await?;
        } else if !put().await? {
            self.check_layout().await?;
            return Ok(());
        }
        // The bytes are identical, so nothing is lost if the store does overwrite.
        if put().await? {
            let what = "the store overwrites objects although it is asked not to (`If-None-Match: \
                        *`), so that of two pushes at a time one would be lost; use a store with \
                        conditional writes";
            return Err(refused(&self.url, Reason::Unsuitable, what));
        }
        Ok(())
    }

    /// Refuses a store without a manifest that is not empty. With `has_begun`, parts of files are
    /// allowed, because an interrupted push left them.
    pub async fn check_empty(&self, has_begun: bool) -> Result<()> {
        if self.length(&Path::from(LAYOUT)).await?.is_some() {
            self.check_layout().await?;
        }
        let found = async |object: ObjectMeta| {
            let path = object.location;
            let first = path.parts().next();
            let what = match first.as_ref().map_or("", |first| first.as_ref()) {
                LAYOUT => return Ok(()),
                PARTS if has_begun => return Ok(()),
                // Hidden names are allowed, as in the directory of an index.
                hidden if hidden.starts_with('.') => return Ok(()),
                PARTS => format!(
                    "it has parts of an index, such as {path}, and no manifest: its manifests are \
                     lost, or the first push of another index is under way or was cut off"
                ),
                _ => format!("it is not empty, and no store of an index: it has {path}"),
            };
            Err(refused(&self.url, Reason::NotEmpty, what))
        };
        self.for_each_below(&Path::default(), listing::PARTS, found).await
    }

    /// Puts an object unless its name exists. Returns whether the object was put.
    pub async fn put_new(&self, path: &Path, bytes: Bytes) -> Result<bool> {
        let put = self.objects.put_opts(path, bytes.into(), PutMode::Create.into()).await;
        match put {
            Ok(_) => Ok(true),
            Err(object_store::Error::AlreadyExists { .. }) => Ok(false),
            Err(object_store::Error::Precondition { .. }) => Ok(false),
            Err(
                error @ (object_store::Error::NotImplemented { .. }
                | object_store::Error::NotSupported { .. }),
            ) => Err(refused(
                &self.url,
                Reason::Unsuitable,
                format!("the store has no conditional writes, which a push needs: {error}"),
            )),
            Err(error) => Err(self.failed("put", path, error)),
        }
    }

    /// Puts an object, and replaces an existing object.
    pub async fn put_over(&self, path: &Path, bytes: Bytes) -> Result<()> {
        let put = self.objects.put(path, bytes.into()).await;
        put.map(drop).map_err(|e| self.failed("put", path, e))
    }

    /// Fetches a part and compares the part with its digest. Tries again if they differ, because
    /// the network may be at fault.
    pub async fn part(&self, part: &Part) -> Result<Bytes> {
        let mut tries = 0;
        loop {
            tries += 1;
            match self.part_once(part).await {
                Ok(bytes) => return Ok(bytes),
                Err(error) if tries >= TRIES => return Err(error),
                Err(_) => pause(tries).await,
            }
        }
    }

    async fn part_once(&self, part: &Part) -> Result<Bytes> {
        let damage =
            |what: String| Error::from(Corruption::new(self.name(&part.path), "object", 0, what));
        let len = part.range.end - part.range.start;
        let bytes = self.get_if_there(&part.path, len).await?;
        let bytes = bytes.ok_or_else(|| damage("it is missing".into()))?;
        if bytes.len() as u64 != len {
            return Err(damage(format!("it has {} bytes instead of {len}", bytes.len())));
        }
        if PartDigest::of(&bytes) != part.digest {
            return Err(damage("its content does not match its digest".into()));
        }
        Ok(bytes)
    }

    /// Returns the length of an object, or `None` if the object is missing.
    pub async fn length(&self, path: &Path) -> Result<Option<u64>> {
        match self.objects.head(path).await {
            Ok(meta) => Ok(Some(meta.size)),
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(self.failed("read", path, error)),
        }
    }

    /// Reads an object of at most this length, or returns `None` if the object is missing.
    pub async fn get_if_there(&self, path: &Path, bytes_max: u64) -> Result<Option<Bytes>> {
        let found = match self.objects.get(path).await {
            Err(object_store::Error::NotFound { .. }) => return Ok(None),
            found => found.map_err(|e| self.failed("read", path, e))?,
        };
        if found.meta.size > bytes_max {
            let what = format!(
                "it has {} bytes, and no more than {bytes_max} are expected",
                found.meta.size
            );
            return Err(Corruption::new(self.name(path), "object", 0, what).into());
        }
        found.bytes().await.map(Some).map_err(|e| self.failed("read", path, e))
    }

    /// Calls `each` for all objects below `prefix`. The list must be within `bounds`.
    pub async fn for_each_below(
        &self,
        prefix: &Path,
        bounds: Bounds,
        mut each: impl AsyncFnMut(ObjectMeta) -> Result<()>,
    ) -> Result<()> {
        let mut listing = Listing::new(self.objects.list(Some(prefix)), bounds);
        loop {
            match listing.next().await {
                Ok(None) => return Ok(()),
                Ok(Some(object)) => each(object).await?,
                Err(Fault::Store(error)) => return Err(self.failed("list", prefix, error)),
                Err(Fault::Endless(what)) => {
                    let what = format!(
                        "the list of objects that the store gives for {prefix}/ has no end: {what}"
                    );
                    return Err(refused(&self.url, Reason::Unsuitable, what));
                }
            }
        }
    }

    /// Removes an object. Returns whether the object existed.
    pub async fn remove(&self, path: &Path) -> Result<bool> {
        match self.objects.delete(path).await {
            Ok(()) => Ok(true),
            Err(object_store::Error::NotFound { .. }) => Ok(false),
            Err(error) => Err(self.failed("remove", path, error)),
        }
    }

    /// Returns the time by the clock of the store, in microseconds since 1970: the time of an
    /// object that is put and removed for this purpose.
    pub async fn now(&self) -> Result<i64> {
        let path = Path::from(CLOCK);
        let mut tries = 0;
        loop {
            tries += 1;
            self.put_over(&path, Bytes::from_static(b"now")).await?;
            match self.objects.head(&path).await {
                Ok(found) => {
                    self.remove(&path).await?;
                    return Ok(found.last_modified.timestamp_micros());
                }
                // Another process asked at the same time, and removed the object.
                Err(object_store::Error::NotFound { .. }) if tries < TRIES => pause(tries).await,
                Err(error) => return Err(self.failed("read", &path, error)),
            }
        }
    }

    /// Returns the numbers of all manifests, ascending, and the times of their creation, by the
    /// clock of the store in microseconds since 1970.
    pub async fn dated_manifests(&self) -> Result<Vec<(u64, i64)>> {
        let mut manifests: Vec<(u64, i64)> = Vec::new();
        let found = async |object: ObjectMeta| {
            let number = number_of(&object.location);
            manifests
                .extend(number.map(|number| (number, object.last_modified.timestamp_micros())));
            Ok(())
        };
        self.for_each_below(&Path::from("manifests"), listing::MANIFESTS, found).await?;
        manifests.sort_unstable();
        Ok(manifests)
    }

    /// Returns the numbers of all manifests, ascending.
    pub async fn manifests(&self) -> Result<Vec<u64>> {
        Ok(self.dated_manifests().await?.into_iter().map(|(number, _)| number).collect())
    }

    /// Returns the number of the current manifest, or 0 for a store without a manifest.
    pub async fn current(&self) -> Result<u64> {
        Ok(self.manifests().await?.last().copied().unwrap_or(0))
    }

    /// Reads the manifest with this number. The number 0 is refused with a message for a store
    /// without a manifest.
    pub async fn manifest(&self, number: u64) -> Result<Manifest> {
        if number == 0 {
            self.check_layout().await?;
            let first = self.manifests().await?.first().copied();
            if let Some(first) = first {
                let what = format!("there is no manifest 0: the first is {first}");
                return Err(refused(&self.url, Reason::NoManifest, what));
            }
            let what = "there is no manifest yet: no push has come to its end; repeat it";
            return Err(refused(&self.url, Reason::NoStore, what));
        }
        self.manifest_if_there(number).await?.ok_or_else(|| {
            let what = format!("there is no manifest {number}");
            refused(&self.url, Reason::NoManifest, what)
        })
    }

    /// Reads the manifest with this number, or returns `None` if the manifest is missing or
    /// removed.
    pub async fn manifest_if_there(&self, number: u64) -> Result<Option<Manifest>> {
        let path = manifest_path(number);
        let Some(bytes) = self.get_if_there(&path, MANIFEST_BYTES_MAX).await? else {
            return Ok(None);
        };
        Manifest::parse(&self.name(&path), number, &bytes).map(Some)
    }

    /// Removes a manifest. Returns whether the manifest existed.
    pub async fn remove_manifest(&self, number: u64) -> Result<bool> {
        self.remove(&manifest_path(number)).await
    }

    /// Puts a manifest that was made from manifest `base`, unless an earlier manifest was made from
    /// `base`.
    ///
    /// # Errors
    /// [`Error::Conflict`] if there is an earlier manifest.
    pub async fn put_manifest(&self, manifest: &Manifest, base: u64) -> Result<()> {
        let path = manifest_path(manifest.number);
        let bytes = Bytes::from(manifest.to_bytes());
        let mut tries = 0;
        loop {
            tries += 1;
            match self.put_new(&path, bytes.clone()).await {
                Ok(true) => break,
                // The answer to an earlier attempt may have been lost.
                Ok(false) => match self.manifest_if_there(manifest.number).await? {
                    Some(found) if found.id == manifest.id => break,
                    _ => return Err(outrun(&self.url, base, self.current().await?)),
                },
                Err(Error::Store { .. }) if tries < TRIES => pause(tries).await,
                Err(error) => return Err(error),
            }
        }
        // Retention may have removed an earlier manifest with this number. Then there are later
        // manifests, which were not made from this manifest.
        let later = self.manifests().await?.into_iter().any(|number| number > manifest.number);
        if later {
            let next = self.manifest_if_there(manifest.number + 1).await?;
            if next.is_none_or(|next| next.parent != Some(manifest.id)) {
                self.remove_manifest(manifest.number).await?;
                return Err(outrun(&self.url, base, self.current().await?));
            }
        }
        Ok(())
    }
}

/// Pauses before a request is repeated.
pub async fn pause(tries: u32) {
    tokio::time::sleep(PAUSE * tries).await;
}

fn manifest_path(number: u64) -> Path {
    Path::from(format!("manifests/{number:020}.json"))
}

/// Returns the number of the manifest at `path`, or `None` if the object is no manifest.
fn number_of(path: &Path) -> Option<u64> {
    let digits = path.filename()?.strip_suffix(".json")?;
    let is_number = digits.len() == 20 && digits.bytes().all(|byte| byte.is_ascii_digit());
    digits.parse().ok().filter(|&number| is_number && number > 0)
}

fn failed(action: &'static str, name: &str, error: object_store::Error) -> Error {
    Error::Store { action, path: PathBuf::from(name), source: Box::new(error) }
}

#[cfg(feature = "cloud")]
fn cloud(
    url: &str,
    settings: impl IntoIterator<Item = (String, String)>,
) -> Result<Arc<dyn ObjectStore>> {
    // `reqwest` is built without a crypto provider, so the built-in provider is installed.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let parsed = reqwest::Url::parse(url).map_err(|e| refused(url, URL, e.to_string()))?;
    if !matches!(parsed.scheme(), "s3" | "s3a" | "gs" | "az" | "azure" | "adl" | "abfs" | "abfss") {
        return Err(unknown(url));
    }
    let opened = object_store::parse_url_opts(&parsed, settings);
    let (objects, prefix) = opened.map_err(|e| failed("open", url, e))?;
    Ok(Arc::new(PrefixStore::new(objects, prefix)))
}

#[cfg(not(feature = "cloud"))]
fn cloud(url: &str, _: impl IntoIterator<Item = (String, String)>) -> Result<Arc<dyn ObjectStore>> {
    let is_cloud = ["s3://", "gs://", "az://"].iter().any(|scheme| url.starts_with(scheme));
    if is_cloud {
        let Refusal { reason, what } =
            Refusal::unsupported("an object store", "cloud", "cento-remote");
        return Err(refused(url, reason.unwrap_or(URL), what));
    }
    Err(unknown(url))
}

fn unknown(url: &str) -> Error {
    refused(url, URL, "expected s3://, gs://, az:// or file:///, or the path of a directory")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_of_something_else_is_refused() {
        for url in ["http://localhost/a", "ftp://a/b", "s3:/a"] {
            let opened = Store::open(&format!("{url}://"), []);
            assert!(opened.err().unwrap().to_string().contains("expected s3://"), "{url}");
        }
    }

    #[test]
    fn only_the_names_of_manifests_have_numbers() {
        assert_eq!(number_of(&manifest_path(12)), Some(12));
        for other in ["manifests/12.json", "manifests/0000000000000000001x.json", "manifests/x"] {
            assert_eq!(number_of(&Path::from(other)), None, "{other}");
        }
        assert_eq!(number_of(&manifest_path(0)), None);
    }
}
