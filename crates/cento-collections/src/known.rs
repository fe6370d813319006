//! New documents beside those that an index has: which of these are earlier versions of new ones?

use cento::index::{DocAddress, Snapshot};
use cento_api::error::Result;

/// New documents and those of an index, as one collection.
#[derive(Debug, Clone)]
pub(super) struct WithKnown {
    /// All of them but earlier versions: first the new ones, whose index has an empty name.
    pub snapshot: Snapshot,
    /// The ids of new documents with an earlier version in the index: a document with the same id,
    /// from the same place.
    pub earlier: Vec<String>,
    /// The ids of new documents that the index has from another place.
    pub elsewhere: Vec<String>,
}

/// Returns new documents and those of an index as one collection. `name` is that of the index,
/// unless it is a union already.
///
/// # Errors
/// When the indexes do not fit each other, or an id cannot be read.
pub(super) fn with_known(new: &Snapshot, known: &Snapshot, name: &str) -> Result<WithKnown> {
    let mut hidden: Vec<DocAddress> = Vec::new();
    let (mut earlier, mut elsewhere) = (Vec::new(), Vec::new());
    for address in new.live() {
        let id = new.id(address)?;
        let place = new.id_place(address)?;
        let (mut is_earlier, mut is_elsewhere) = (false, false);
        known.find_all(&id, &mut |old| {
            let is_version = match place {
                None => true,
                Some(place) => place != 0 && known.id_place(old)? == Some(place),
            };
            if is_version {
                hidden.push(old);
            }
            is_earlier |= is_version;
            is_elsewhere |= !is_version;
            Ok(true)
        })?;
        earlier.extend(is_earlier.then(|| id.clone()));
        elsewhere.extend(is_elsewhere.then_some(id));
    }
    let old = known.without(&hidden);
    let snapshot = Snapshot::union(vec![(String::new(), new.clone()), (name.to_owned(), old)])?;
    Ok(WithKnown { snapshot, earlier, elsewhere })
}
