//! Bounded reading of lists of objects.
//!
//! A store answers page by page, and each page refers to the next page. A broken store, or a proxy
//! before it, may repeat the same page without end, send new pages without end, or stop sending.
//! Such a list is refused with the reason.

use std::time::Duration;

use futures_util::stream::{BoxStream, StreamExt};
use object_store::ObjectMeta;
use object_store::path::Path;

/// The limits on a list.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// The maximum number of objects.
    pub objects_max: u64,
    /// The maximum time until the next object. The clients of cloud stores limit the duration of
    /// each request, and the number of retries, so a page takes three minutes at most.
    pub patience: Duration,
}

const PATIENCE: Duration = Duration::from_secs(300);

/// Enough for a push a minute for half a year. A pull lists the manifests, a thousand a page, so a
/// larger bound would let a list of new pages without end keep the pull for minutes.
pub const MANIFESTS: Bounds = Bounds { objects_max: 1 << 18, patience: PATIENCE };

/// Enough for some petabytes of files.
pub const PARTS: Bounds = Bounds { objects_max: 1 << 28, patience: PATIENCE };

/// Waits for `work`, but no longer than `time`.
async fn within<T>(time: Duration, work: impl Future<Output = T>) -> Option<T> {
    tokio::time::timeout(time, work).await.ok()
}

/// The reason why a list cannot be read to its end.
#[derive(Debug)]
pub enum Fault {
    /// The store returned an error.
    Store(object_store::Error),
    /// The list has no end, with the reason as a clause.
    Endless(String),
}

/// A list of objects, read as it arrives.
pub struct Listing {
    objects: BoxStream<'static, object_store::Result<ObjectMeta>>,
    bounds: Bounds,
    seen: u64,
    /// The object read when `seen` was last a power of two. A repeating list passes this object
    /// again (Brent's algorithm). In a proper list, an object never occurs twice.
    mark: Option<Path>,
}

impl Listing {
    pub fn new(
        objects: BoxStream<'static, object_store::Result<ObjectMeta>>,
        bounds: Bounds,
    ) -> Listing {
        Listing { objects, bounds, seen: 0, mark: None }
    }

    /// Returns the next object, or `None` at the end.
    pub async fn next(&mut self) -> Result<Option<ObjectMeta>, Fault> {
        let Bounds { objects_max, patience } = self.bounds;
        let next = within(patience, self.objects.next()).await;
        let next = next.ok_or_else(|| {
            Fault::Endless(format!("nothing has come for {} s", patience.as_secs()))
        })?;
        let Some(object) = next.transpose().map_err(Fault::Store)? else { return Ok(None) };
        if self.mark.as_ref() == Some(&object.location) {
            let what = format!("it has {} again after {} objects", object.location, self.seen);
            return Err(Fault::Endless(what));
        }
        self.seen += 1;
        if self.seen > objects_max {
            return Err(Fault::Endless(format!("it has more than {objects_max} objects")));
        }
        if self.seen.is_power_of_two() {
            self.mark = Some(object.location.clone());
        }
        Ok(Some(object))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use std::sync::Arc;

    use futures_util::stream;
    use object_store::memory::InMemory;

    use crate::store::Store;

    fn object(number: u64) -> object_store::Result<ObjectMeta> {
        Ok(ObjectMeta {
            location: Path::from(format!("manifests/{number}")),
            last_modified: Default::default(),
            size: 1,
            e_tag: None,
            version: None,
        })
    }

    /// Reads a list of objects with these numbers. Returns the number of objects, or the fault.
    fn read(
        numbers: impl Iterator<Item = u64> + Send + 'static,
        ends: bool,
    ) -> Result<u64, String> {
        let objects = stream::iter(numbers.map(object));
        let objects = match ends {
            true => objects.boxed(),
            false => objects.chain(stream::pending()).boxed(),
        };
        let bounds = Bounds { objects_max: 10_000, patience: Duration::from_millis(1) };
        let mut listing = Listing::new(objects, bounds);
        let store = Store::over(Arc::new(InMemory::new()), "memory").unwrap();
        store.block(async {
            loop {
                match listing.next().await {
                    Ok(Some(_)) => {}
                    Ok(None) => return Ok(listing.seen),
                    Err(Fault::Endless(what)) => return Err(what),
                    Err(Fault::Store(error)) => panic!("{error}"),
                }
            }
        })
    }

    #[test]
    fn a_list_that_ends_is_read_and_one_that_does_not_is_refused() {
        assert_eq!(read(0..0, true), Ok(0));
        assert_eq!(read(0..10_000, true), Ok(10_000));
        let refused = |read: Result<u64, String>, expected: &str| {
            let what = read.unwrap_err();
            assert!(what.contains(expected), "{what}");
        };
        refused(read(0..10_001, true), "more than 10000 objects");
        refused(read(0.., true), "more than 10000 objects");
        // The same page again and again, from the start or after other pages.
        for (first, page) in [(0, 1), (0, 3), (5, 1000), (1000, 7)] {
            let pages = (0..first).chain((0..u64::MAX).map(move |at| first + at % page));
            refused(read(pages, true), " again after ");
        }
        refused(read(0..3, false), "nothing has come");
    }
}
