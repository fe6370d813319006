//! Runs long calls so that Python keeps running, and Ctrl-C ends them.
//!
//! Python handles signals on its main thread, when Python code runs there. So long work runs on a
//! second thread, while the main thread waits without the GIL and checks for signals every few
//! hundredths of a second. Other Python threads get no signals, so they do their work themselves.

use std::time::{Duration, Instant};

use cento::Error;
use cento::Stop;
use cento::runtime::pipeline::Feed;
use crossbeam::channel::{Receiver, RecvTimeoutError, bounded};
use pyo3::prelude::*;

use crate::error::Failure;

/// Interval between two checks for signals by a waiting thread.
const INTERVAL: Duration = Duration::from_millis(50);

/// Maximum time to wait for other threads after a signal. Some work of the writer, such as writing
/// a segment, cannot be stopped, and does no harm if it goes on.
const GRACE: Duration = Duration::from_millis(500);

/// Does short work without the GIL, on this thread.
pub fn short<T: Send>(
    py: Python<'_>,
    work: impl FnOnce() -> cento::Result<T> + Send,
) -> PyResult<T> {
    let done = py.detach(|| Error::catch("a call from Python", work));
    Ok(done.map_err(Failure)?)
}

/// Does long work without the GIL. Ends soon after a signal whose handler raises.
pub fn long<T: Send>(
    py: Python<'_>,
    work: impl FnOnce(&Stop) -> cento::Result<T> + Send,
) -> PyResult<T> {
    let stop = Stop::new();
    if !is_main_thread(py)? {
        return short(py, || work(&stop));
    }
    let (sender, receiver) = bounded(1);
    std::thread::scope(|scope| {
        let flag = &stop;
        scope.spawn(move || {
            let _ = sender.send(Error::catch("a call from Python", || work(flag)));
        });
        // The scope waits for the thread with the GIL, so the message must have come.
        let done = wait_with(py, &receiver, flag, false)?;
        Ok(done.map_err(Failure)?)
    })
}

/// Takes the next message, waiting without the GIL. If a signal comes first, sets `stop` and raises
/// the handler's exception, after the message has come or [`GRACE`] is over.
pub fn wait<T: Send>(py: Python<'_>, receiver: &Receiver<T>, stop: &Stop) -> PyResult<T> {
    wait_with(py, receiver, stop, true)
}

/// Takes the next message like [`wait`], but after a signal waits for the message in any case,
/// unless `is_hasty` is set.
fn wait_with<T: Send>(
    py: Python<'_>,
    receiver: &Receiver<T>,
    stop: &Stop,
    is_hasty: bool,
) -> PyResult<T> {
    let mut raised: Option<PyErr> = None;
    loop {
        let patience = if raised.is_some() { GRACE } else { INTERVAL };
        match py.detach(|| receiver.recv_timeout(patience)) {
            Ok(message) => return raised.map_or(Ok(message), Err),
            Err(RecvTimeoutError::Timeout) => {
                if let Some(raised) = raised.take_if(|_| is_hasty) {
                    return Err(raised);
                }
            }
            Err(RecvTimeoutError::Disconnected) => {
                let ended = Failure(Error::internal("a thread", "it ended before its work"));
                return Err(raised.unwrap_or_else(|| ended.into()));
            }
        }
        if let Err(error) = py.check_signals() {
            stop.set();
            raised = Some(error);
        }
    }
}

/// Waits for the last message, at most [`GRACE`] unless `is_patient` is set.
pub fn settle<T: Send>(py: Python<'_>, receiver: &Receiver<T>, is_patient: bool) {
    let _ = py.detach(|| match is_patient {
        true => receiver.recv().ok(),
        false => receiver.recv_timeout(GRACE).ok(),
    });
}

/// Feeds a pipeline with an input that takes one place, waiting for room without the GIL. Returns
/// `false` if nothing takes the results any more.
pub fn feed<I: Send>(py: Python<'_>, feed: &mut Feed<I>, input: I) -> PyResult<bool> {
    let mut input = input;
    loop {
        let end = Instant::now() + INTERVAL;
        input = match py.detach(|| feed.send_while(input, 1, &|| Instant::now() < end)) {
            Ok(()) => return Ok(true),
            Err(_) if feed.is_closed() => return Ok(false),
            Err(input) => input,
        };
        py.check_signals()?;
    }
}

fn is_main_thread(py: Python<'_>) -> PyResult<bool> {
    let threading = py.import("threading")?;
    let main = threading.call_method0("main_thread")?.getattr("ident")?;
    threading.call_method0("get_ident")?.eq(main)
}

/// Does work that cannot be ended early, on a thread that a signal leaves behind.
pub fn apart<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> cento::Result<T> + Send + 'static,
) -> PyResult<T> {
    if !is_main_thread(py)? {
        return short(py, work);
    }
    let (sender, receiver) = bounded(1);
    std::thread::spawn(move || {
        let _ = sender.send(Error::catch("a call from Python", work));
    });
    loop {
        match py.detach(|| receiver.recv_timeout(INTERVAL)) {
            Ok(done) => return Ok(done.map_err(Failure)?),
            Err(RecvTimeoutError::Timeout) => py.check_signals()?,
            Err(RecvTimeoutError::Disconnected) => {
                return Err(Failure(Error::internal("a thread", "it ended before its work")).into());
            }
        }
    }
}

/// Takes the next message, waiting without the GIL. Returns `None` when no sender is left.
pub fn receive<T: Send>(py: Python<'_>, receiver: &Receiver<T>) -> PyResult<Option<T>> {
    loop {
        match py.detach(|| receiver.recv_timeout(INTERVAL)) {
            Ok(message) => return Ok(Some(message)),
            Err(RecvTimeoutError::Timeout) => py.check_signals()?,
            Err(RecvTimeoutError::Disconnected) => return Ok(None),
        }
    }
}
