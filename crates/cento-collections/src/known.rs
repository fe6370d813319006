//! Puts new documents beside an index, without the index's earlier versions of the new documents.

use cento::index::{DocAddress, Snapshot};
use cento_api::error::Result;

/// New documents and the documents of an index, as one collection.
#[derive(Debug, Clone)]
pub(super) struct WithKnown {
    /// The documents of both, without earlier versions. The new documents come first, and their
    /// index has an empty name.
    pub snapshot: Snapshot,
    /// The ids of new documents with an earlier version in the index, which is a document with the
    /// same id from the same place.
    pub earlier: Vec<String>,
    /// The ids of new documents that the index has too, but from another place.
    pub elsewhere: Vec<String>,
}

/// Joins new documents and the documents of an index into one collection. `name` becomes the name
/// of the index, unless the index is a union, whose members have names already.
///
/// # Errors
/// When the indexes do not fit together, or an id cannot be read.
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
