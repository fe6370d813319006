//! Fuzzes searches: an untrusted request is answered, or refused with a reason.

use std::sync::OnceLock;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;

use cento::Error;
use cento::search::{ForeignSignature, Goal, Query, Searcher, Subject};
use cento::tantivy::directory::RamDirectory;
use cento_api::http::SignatureBody;

use super::{choice, index};

/// The stack of the threads of the service that search.
const STACK_BYTES: usize = 2 << 20;

const TEXT: &str = "one two three four five six seven eight and number 3 more of it more of it";

fn searcher() -> &'static Searcher {
    static SEARCHER: OnceLock<Searcher> = OnceLock::new();
    SEARCHER.get_or_init(|| {
        let index = index::small_index(RamDirectory::create());
        Searcher::new(index.snapshot().expect("it was just written"))
    })
}

/// A filter, in a thread with as much stack as one of the service has. Its hits are among those
/// without it, measured alike.
pub fn filter(data: &[u8]) {
    type Job = (String, SyncSender<()>);
    static JOBS: OnceLock<SyncSender<Job>> = OnceLock::new();
    let jobs = JOBS.get_or_init(|| {
        let (jobs, taken) = sync_channel::<Job>(0);
        let work = move || {
            for (filter, done) in taken {
                filtered(filter);
                // The caller waits for this thread.
                let _ = done.send(());
            }
        };
        let builder = thread::Builder::new().stack_size(STACK_BYTES);
        builder.spawn(work).expect("there is room for a thread");
        jobs
    });
    let (done, ended) = sync_channel(1);
    jobs.send((super::text::text(data), done)).expect("the thread takes jobs for ever");
    ended.recv().expect("the search did not panic");
}

fn filtered(filter: String) {
    let all = searcher().search(&Query::text(TEXT)).expect("it is a search");
    let written = filter.clone();
    match searcher().search(&Query::text(TEXT).filter(filter)) {
        Ok(answer) => {
            let mut others = all.hits.iter();
            for hit in &answer.hits {
                let found = others.find(|other| other.id == hit.id);
                let found = found.expect("a filter adds no hits, and changes no order");
                assert_eq!(found.similarity, hit.similarity, "{written}");
            }
        }
        Err(Error::InvalidArgument { what, .. }) => assert!(!what.is_empty()),
        Err(error) => panic!("{written}: {error}"),
    }
}

/// A signature that was made elsewhere, as `--signature` and the service take it: it is refused, or
/// in order and within its bounds, and can be searched for.
pub fn signature(data: &[u8]) {
    let (options, json) = choice(data);
    let Ok(signature) = serde_json::from_slice::<SignatureBody>(json) else { return };
    let config = searcher().snapshot().config();
    let Ok(subject) = ForeignSignature::subject_of(signature, config) else { return };
    let Subject::Signature { tokens, fingerprints } = &subject else {
        panic!("a signature is searched for as one")
    };
    assert!(fingerprints.is_sorted_by_key(|f| f.position));
    let bits = config.scheme.key_bits();
    assert!(fingerprints.iter().all(|f| f.position < *tokens && f.key >> (bits - 1) >> 1 == 0));
    let is_set = |bit: usize| options >> bit & 1 == 1;
    let query = Query::new(subject)
        .passages(is_set(0))
        .goal(match (is_set(1), is_set(2)) {
            (true, _) => Goal::Trace,
            (_, true) => Goal::Passage,
            _ => Goal::Hits,
        })
        .limit(if is_set(3) { 0 } else { 10 })
        .min_overlap(if is_set(4) { 2 } else { 1 });
    match searcher().search(&query) {
        Ok(answer) => {
            assert!(answer.hits.len() <= 10);
            for hit in &answer.hits {
                let containment = hit.similarity.containment_of_a;
                assert!((0.0..=1.0).contains(&containment), "{containment}");
            }
        }
        Err(Error::InvalidArgument { what, .. }) => assert!(!what.is_empty()),
        Err(error) => panic!("{error}"),
    }
}
