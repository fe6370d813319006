//! A verb over a collection, configured and then iterated.
//!
//! Clusters, families and lineage are found for the whole collection before the first of them can
//! be given, and then described one after the other, on several threads. How that runs is the same
//! for all of them and is here; each has a [`Judge`] that decides.

use std::sync::{Arc, OnceLock};

use cento::search::Searcher;
use cento_api::error::Result;
use cento_text::runtime::Stop;
use cento_text::runtime::ordered::{Begin, Ordered};

/// The callback of a job, with the number of documents that have been searched for.
pub(super) type OnProgress = Box<dyn FnMut(u64) + Send>;

/// Decides about the documents of a collection, by its options.
pub trait Judge: Send + Sized + 'static {
    /// The items that it gives: clusters, families, documents.
    type Item: Send + 'static;
    /// The facts that are known once the first item can be given.
    type Facts: Send + Sync + 'static;

    /// Decides, reports the facts, and describes the items.
    ///
    /// # Errors
    /// When an option is out of bounds or a file is damaged;
    /// [`Error::Cancelled`](cento::Error::Cancelled) soon after the job was stopped.
    fn run(
        self,
        resources: Resources<'_>,
        facts: &OnceLock<Self::Facts>,
        begin: Begin<'_, Self::Item>,
    ) -> Result<()>;
}

/// The means of a judge.
pub struct Resources<'a> {
    pub(super) searcher: &'a Searcher,
    pub(super) threads: usize,
    pub(super) stop: &'a Stop,
    pub(super) progress: &'a mut dyn FnMut(u64),
}

/// A verb over a collection: an iterator over what its judge gives.
///
/// It begins at the first call of [`next`](Iterator::next), and ends its threads when it is
/// dropped.
#[must_use = "an iterator finds nothing before the first call of `next`"]
pub struct Job<J: Judge> {
    stage: Stage<J>,
    facts: Arc<OnceLock<J::Facts>>,
}

enum Stage<J: Judge> {
    Planned(Box<Plan<J>>),
    Begun(Ordered<J::Item>),
    /// Only while it begins.
    Beginning,
}

struct Plan<J> {
    judge: J,
    searcher: Searcher,
    threads: usize,
    stop: Stop,
    progress: OnProgress,
}

impl std::fmt::Debug for Resources<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Resources").field("threads", &self.threads).finish_non_exhaustive()
    }
}

impl<J: Judge> std::fmt::Debug for Job<J> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Job").finish_non_exhaustive()
    }
}

impl<J: Judge> Job<J> {
    /// Prepares the work of a judge on the documents of a searcher.
    pub(super) fn new(searcher: &Searcher, judge: J) -> Job<J> {
        let plan = Plan {
            judge,
            searcher: searcher.clone(),
            threads: cento::available_threads(),
            stop: Stop::default(),
            progress: Box::new(|_| {}),
        };
        Job { stage: Stage::Planned(Box::new(plan)), facts: Arc::default() }
    }

    /// Searches with this number of threads instead of as many as there are processors.
    pub fn threads(self, threads: usize) -> Job<J> {
        self.with(|plan| plan.threads = threads)
    }

    /// Ends soon after `stop` is set, with [`Error::Cancelled`](cento::Error::Cancelled).
    pub fn stop(self, stop: &Stop) -> Job<J> {
        self.with(|plan| plan.stop = stop.clone())
    }

    /// Calls `progress` with the number of documents searched for so far. Items are given only
    /// after all have been searched for, so the iterator itself shows no progress.
    pub fn progress(self, progress: impl FnMut(u64) + Send + 'static) -> Job<J> {
        self.with(|plan| plan.progress = Box::new(progress))
    }

    /// Changes the judge, unless the job has begun.
    pub(super) fn with_judge(self, set: impl FnOnce(&mut J)) -> Job<J> {
        self.with(|plan| set(&mut plan.judge))
    }

    /// Returns the judge and the searcher, unless the job has begun.
    pub(super) fn judge(&self) -> Option<(&J, &Searcher)> {
        match &self.stage {
            Stage::Planned(plan) => Some((&plan.judge, &plan.searcher)),
            _ => None,
        }
    }

    /// Returns the facts, from the first call of [`next`](Iterator::next) on.
    pub(super) fn facts(&self) -> Option<&J::Facts> {
        self.facts.get()
    }

    fn with(mut self, set: impl FnOnce(&mut Plan<J>)) -> Job<J> {
        if let Stage::Planned(plan) = &mut self.stage {
            set(plan);
        }
        self
    }
}

impl<S: Clone + Default, J: Judge<Facts = (S, usize)>> Job<J> {
    /// Returns facts about the search, from the first call of [`next`](Iterator::next) on.
    #[must_use]
    pub fn summary(&self) -> S {
        self.facts().map(|(summary, _)| summary.clone()).unwrap_or_default()
    }

    /// Returns an upper estimate of the memory, in bytes, that the items to come take, from the
    /// first call of [`next`](Iterator::next) on. The memory for finding them is free then.
    #[must_use]
    pub fn held_bytes(&self) -> usize {
        self.facts().map_or(0, |&(_, bytes)| bytes)
    }
}

impl<J: Judge> Plan<J> {
    fn begin(self, facts: Arc<OnceLock<J::Facts>>) -> Ordered<J::Item> {
        let (threads, stop) = (self.threads, self.stop.clone());
        Ordered::start(threads, &stop, move |stop, begin| {
            let Plan { judge, searcher, threads, mut progress, .. } = self;
            let resources =
                Resources { searcher: &searcher, threads, stop, progress: &mut progress };
            judge.run(resources, &facts, begin)
        })
    }
}

impl<J: Judge> Iterator for Job<J> {
    type Item = Result<J::Item>;

    fn next(&mut self) -> Option<Result<J::Item>> {
        loop {
            match std::mem::replace(&mut self.stage, Stage::Beginning) {
                Stage::Planned(plan) => {
                    self.stage = Stage::Begun(plan.begin(self.facts.clone()));
                }
                Stage::Begun(mut found) => {
                    let item = found.next().map(|found| found.map(|(_, item)| item));
                    self.stage = Stage::Begun(found);
                    return item;
                }
                Stage::Beginning => return None,
            }
        }
    }
}
