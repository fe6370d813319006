//! Lists documents in storage order, order of addition, or order of ids.

use std::collections::{BTreeMap, HashSet};

use super::filter::Filter;
use super::searcher::Searcher;
use crate::error::Result;
use crate::index::DocAddress;
use crate::runtime::Stop;

impl Searcher {
    /// Calls `each` with the live documents that match `filter`, if any, in storage order: by
    /// segment, and within a segment by addition. Takes little memory.
    ///
    /// # Errors
    /// When the filter is invalid, or the index cannot be read. An error of `each` ends the
    /// listing. [`Error::Cancelled`](crate::Error::Cancelled) soon after `stop`.
    pub fn for_each_document(
        &self,
        filter: Option<&str>,
        stop: &Stop,
        each: &mut dyn FnMut(DocAddress) -> Result<()>,
    ) -> Result<()> {
        let snapshot = self.snapshot();
        let filter = filter.map(|text| Filter::new(snapshot, text)).transpose()?;
        for (segment, view) in (0u32..).zip(snapshot.segments()) {
            let mut live = view.live();
            loop {
                let mut docs: Vec<u32> = live.by_ref().take(self.tuning.batch_documents).collect();
                if docs.is_empty() {
                    break;
                }
                stop.check()?;
                if let Some(filter) = &filter {
                    filter.retain(segment as usize, &mut docs, stop)?;
                }
                for doc in docs {
                    each(DocAddress { segment, doc })?;
                }
            }
        }
        Ok(())
    }

    /// Returns the live documents that match `filter`, if any, in order of addition. Documents of
    /// the same microsecond are ordered by the bytes of their ids. Unlike storage order, this order
    /// survives merges of segments. Takes 16 bytes per document.
    ///
    /// # Errors
    /// When the filter is invalid, or the index cannot be read.
    /// [`Error::Cancelled`](crate::Error::Cancelled) soon after `stop`.
    pub fn documents_as_added(&self, filter: Option<&str>, stop: &Stop) -> Result<Vec<DocAddress>> {
        let snapshot = self.snapshot();
        let mut found = Vec::new();
        self.for_each_document(filter, stop, &mut |address| {
            found.push((snapshot.segment(address).added_micros(address.doc)?, address));
            Ok(())
        })?;
        found.sort_by_key(|&(added, _)| added);
        for same in found.chunk_by_mut(|a, b| a.0 == b.0).filter(|same| same.len() > 1) {
            let named = same.iter().map(|&(_, address)| Ok((snapshot.id(address)?, address)));
            let mut named = named.collect::<Result<Vec<_>>>()?;
            named.sort();
            for (one, (_, address)) in same.iter_mut().zip(named) {
                one.1 = address;
            }
        }
        Ok(found.into_iter().map(|(_, address)| address).collect())
    }

    /// Returns the live documents that match `filter`, if any, with ids after `after`, ordered by
    /// the bytes of ids. Returns at least `count` documents if there are that many, and always
    /// every document of the last id. The order is the same for every commit: a client that
    /// continues after its last id misses no remaining document, and gets no document twice.
    ///
    /// # Errors
    /// When the filter is invalid, or the index cannot be read.
    /// [`Error::Cancelled`](crate::Error::Cancelled) soon after `stop`.
    pub fn documents_after(
        &self,
        after: Option<&str>,
        count: usize,
        filter: Option<&str>,
        stop: &Stop,
    ) -> Result<Vec<DocAddress>> {
        let snapshot = self.snapshot();
        let filter = filter.map(|text| Filter::new(snapshot, text)).transpose()?;
        let (mut found, mut waiting) = (Vec::new(), Vec::new());
        let batch = if filter.is_some() { self.tuning.batch_documents } else { 1 };
        snapshot.for_each_id(after, &mut |documents| {
            stop.check()?;
            waiting.push(documents.to_vec());
            if waiting.len() >= batch {
                self.take_passing(&mut waiting, count, filter.as_ref(), stop, &mut found)?;
            }
            Ok(found.len() < count)
        })?;
        self.take_passing(&mut waiting, count, filter.as_ref(), stop, &mut found)?;
        Ok(found)
    }

    /// Appends the matching documents of each id, until the requested number is reached.
    fn take_passing(
        &self,
        waiting: &mut Vec<Vec<DocAddress>>,
        count: usize,
        filter: Option<&Filter<'_>>,
        stop: &Stop,
        found: &mut Vec<DocAddress>,
    ) -> Result<()> {
        let mut passing = HashSet::new();
        if let Some(filter) = filter {
            let mut by_segment: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
            for address in waiting.iter().flatten() {
                by_segment.entry(address.segment).or_default().push(address.doc);
            }
            for (segment, mut docs) in by_segment {
                docs.sort_unstable();
                filter.retain(segment as usize, &mut docs, stop)?;
                passing.extend(docs.into_iter().map(|doc| DocAddress { segment, doc }));
            }
        }
        for documents in waiting.drain(..) {
            if found.len() < count {
                let passes = |address: &DocAddress| filter.is_none() || passing.contains(address);
                found.extend(documents.into_iter().filter(passes));
            }
        }
        Ok(())
    }
}
