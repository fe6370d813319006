//! Runs a verb over a whole collection as an iterator.
//!
//! Clusters, families and lineage depend on every document, so a search comes before the first
//! item. Then items are described in order, on several threads. This module runs the steps, and a
//! [`Judge`] makes the decisions of a verb.

use std::sync::{Arc, OnceLock};

use cento::search::Searcher;
use cento_api::error::Result;
use cento_text::runtime::Stop;
use cento_text::runtime::ordered::{Begin, OrderedResults};

/// Gets the number of documents searched for so far.
pub(super) type OnProgress = Box<dyn FnMut(u64) + Send>;

/// The decisions of one verb about the documents of a collection.
pub trait Judge: Send + Sized + 'static {
    /// What the iterator gives: a cluster, a family or a document.
    type Item: Send + 'static;
    /// Facts about the collection, known before the first item is given.
    type Facts: Send + Sync + 'static;

    /// Searches the collection, stores the facts, and passes a function that describes item after
    /// item to `begin`.
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

/// What a job lends its judge: the searcher, threads, the stop and the callback for progress.
pub struct Resources<'a> {
    pub(super) searcher: &'a Searcher,
    pub(super) threads: usize,
    pub(super) stop: &'a Stop,
    pub(super) progress: &'a mut dyn FnMut(u64),
}

/// Iterator over what a [`Judge`] decides about a collection.
///
/// The work begins at the first call of [`next`](Iterator::next), and the threads end when the
/// iterator is dropped.
#[must_use = "an iterator finds nothing before the first call of `next`"]
pub struct Job<J: Judge> {
    stage: Stage<J>,
    facts: Arc<OnceLock<J::Facts>>,
}

enum Stage<J: Judge> {
    Planned(Box<JobPlan<J>>),
    Begun(OrderedResults<J::Item>),
    /// A placeholder while `next` moves the plan out. Left behind only if starting panics.
    Beginning,
}

struct JobPlan<J> {
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
    /// Prepares the work of `judge` on the documents of `searcher`.
    pub(super) fn new(searcher: &Searcher, judge: J) -> Job<J> {
        let plan = JobPlan {
            judge,
            searcher: searcher.clone(),
            threads: cento::available_threads(),
            stop: Stop::default(),
            progress: Box::new(|_| {}),
        };
        Job { stage: Stage::Planned(Box::new(plan)), facts: Arc::default() }
    }

    /// Searches with this number of threads. The default is the number of processors.
    pub fn threads(self, threads: usize) -> Job<J> {
        self.with(|plan| plan.threads = threads)
    }

    /// Stops soon after `stop` is set, with [`Error::Cancelled`](cento::Error::Cancelled).
    pub fn stop(self, stop: &Stop) -> Job<J> {
        self.with(|plan| plan.stop = stop.clone())
    }

    /// Calls `progress` with the number of documents searched for so far. Items come only after the
    /// whole search, so without the callback the iterator would show no progress.
    pub fn progress(self, progress: impl FnMut(u64) + Send + 'static) -> Job<J> {
        self.with(|plan| plan.progress = Box::new(progress))
    }

    /// Changes the judge. Has no effect after the job has begun.
    pub(super) fn with_judge(self, set: impl FnOnce(&mut J)) -> Job<J> {
        self.with(|plan| set(&mut plan.judge))
    }

    /// Returns the judge and the searcher, or `None` after the job has begun.
    pub(super) fn judge(&self) -> Option<(&J, &Searcher)> {
        match &self.stage {
            Stage::Planned(plan) => Some((&plan.judge, &plan.searcher)),
            _ => None,
        }
    }

    /// Returns the facts, or `None` before the first call of [`next`](Iterator::next).
    pub(super) fn facts(&self) -> Option<&J::Facts> {
        self.facts.get()
    }

    fn with(mut self, set: impl FnOnce(&mut JobPlan<J>)) -> Job<J> {
        if let Stage::Planned(plan) = &mut self.stage {
            set(plan);
        }
        self
    }
}

impl<S: Clone + Default, J: Judge<Facts = (S, usize)>> Job<J> {
    /// Returns facts about the search. Before the first call of [`next`](Iterator::next) they are
    /// empty.
    #[must_use]
    pub fn summary(&self) -> S {
        self.facts().map(|(summary, _)| summary.clone()).unwrap_or_default()
    }

    /// Returns an upper estimate, in bytes, of the memory of the remaining items, 0 before the
    /// first call of [`next`](Iterator::next). Once the first item is given, the memory for finding
    /// items is free.
    #[must_use]
    pub fn held_bytes(&self) -> usize {
        self.facts().map_or(0, |&(_, bytes)| bytes)
    }
}

impl<J: Judge> JobPlan<J> {
    fn begin(self, facts: Arc<OnceLock<J::Facts>>) -> OrderedResults<J::Item> {
        let (threads, stop) = (self.threads, self.stop.clone());
        OrderedResults::start(threads, &stop, move |stop, begin| {
            let JobPlan { judge, searcher, threads, mut progress, .. } = self;
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
