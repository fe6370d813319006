//! How does a long call leave Python running, and end at Ctrl-C?
//!
//! Python handles signals on its main thread, when code of Python runs there. So what may take long is done
//! on another thread, while the main thread waits without the GIL and looks for signals every few
//! hundredths of a second. Other threads get no signals: they do their work themselves.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use cento::Error;
use crossbeam::channel::{Receiver, RecvTimeoutError, SendTimeoutError, Sender, bounded};
use pyo3::prelude::*;

use crate::error::Failure;

/// How often a waiting thread looks for signals.
const INTERVAL: Duration = Duration::from_millis(50);

/// Tells a computation to end.
pub type Flag = Arc<AtomicBool>;

/// Does what takes no longer than it takes to notice: without the GIL, on this thread.
pub fn short<T: Send>(
    py: Python<'_>,
    work: impl FnOnce() -> cento::Result<T> + Send,
) -> PyResult<T> {
    let done = py.detach(|| Error::catch("a call from Python", work));
    Ok(done.map_err(Failure)?)
}

/// Does what may take long: without the GIL, and ends soon after a signal whose handler raises.
pub fn long<T: Send>(
    py: Python<'_>,
    work: impl FnOnce(&Flag) -> cento::Result<T> + Send,
) -> PyResult<T> {
    let stop = Flag::default();
    if !is_main_thread(py)? {
        return short(py, || work(&stop));
    }
    let (sender, receiver) = bounded(1);
    std::thread::scope(|scope| {
        let flag = &stop;
        scope.spawn(move || {
            let _ = sender.send(Error::catch("a call from Python", || work(flag)));
        });
        let done = wait(py, &receiver, flag)?;
        Ok(done.map_err(Failure)?)
    })
}

/// Takes the next message; waits for it without the GIL. If a signal comes first, sets `stop`, waits all the same, so that
/// nothing goes on behind the caller's back, and raises what the handler raised.
pub fn wait<T: Send>(py: Python<'_>, receiver: &Receiver<T>, stop: &AtomicBool) -> PyResult<T> {
    let mut raised = None;
    loop {
        match py.detach(|| receiver.recv_timeout(INTERVAL)) {
            Ok(message) => return raised.map_or(Ok(message), Err),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                let ended = Failure(Error::internal("a thread", "it ended before its work"));
                return Err(raised.unwrap_or_else(|| ended.into()));
            }
        }
        if let Err(error) = py.check_signals() {
            stop.store(true, Ordering::Relaxed);
            raised = Some(error);
        }
    }
}

/// Sends a message; waits for room without the GIL. `false` if nobody takes messages any more.
pub fn send<T: Send>(py: Python<'_>, sender: &Sender<T>, message: T) -> PyResult<bool> {
    let mut message = message;
    loop {
        message = match py.detach(|| sender.send_timeout(message, INTERVAL)) {
            Ok(()) => return Ok(true),
            Err(SendTimeoutError::Disconnected(_)) => return Ok(false),
            Err(SendTimeoutError::Timeout(message)) => message,
        };
        py.check_signals()?;
    }
}

fn is_main_thread(py: Python<'_>) -> PyResult<bool> {
    let threading = py.import("threading")?;
    let main = threading.call_method0("main_thread")?.getattr("ident")?;
    threading.call_method0("get_ident")?.eq(main)
}

/// Does what cannot be ended early on a thread of its own, which is left behind when a signal comes.
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

/// Takes the next message; waits for it without the GIL. None when there is nobody left to send one.
pub fn receive<T: Send>(py: Python<'_>, receiver: &Receiver<T>) -> PyResult<Option<T>> {
    loop {
        match py.detach(|| receiver.recv_timeout(INTERVAL)) {
            Ok(message) => return Ok(Some(message)),
            Err(RecvTimeoutError::Timeout) => py.check_signals()?,
            Err(RecvTimeoutError::Disconnected) => return Ok(None),
        }
    }
}
