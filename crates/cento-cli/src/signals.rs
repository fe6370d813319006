//! What does the system ask of a service?
//!
//! SIGTERM and Ctrl-C ask it to stop. SIGHUP asks it to read again what can change, as of other services; of
//! one in a terminal that was closed it asks to stop.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Returns a flag that is set when the process is asked to stop, and calls `asked` then; a second request ends it
/// at once. Calls `reload` when it is asked to read again, which without it means to stop.
#[cfg(unix)]
pub fn stop_flag(
    asked: impl Fn() + Send + 'static,
    reload: Option<Box<dyn Fn() + Send>>,
) -> Arc<AtomicBool> {
    use std::io::IsTerminal;
    use std::sync::atomic::Ordering;

    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;

    let stop = Arc::new(AtomicBool::new(false));
    let flag = stop.clone();
    let has_terminal = || std::io::stdin().is_terminal() || std::io::stderr().is_terminal();
    let had_terminal = has_terminal();
    let handle = move |mut signals: Signals| {
        for signal in &mut signals {
            let is_closed = had_terminal && !has_terminal();
            match &reload {
                Some(reload) if signal == SIGHUP && !is_closed => reload(),
                _ if flag.swap(true, Ordering::Relaxed) => std::process::exit(130),
                _ => asked(),
            }
        }
    };
    let started = Signals::new([SIGINT, SIGTERM, SIGHUP]).and_then(|signals| {
        let thread = std::thread::Builder::new().name("signals".into());
        thread.spawn(move || handle(signals))
    });
    if let Err(error) = started {
        tracing::warn!(%error, "Ctrl-C will end the process immediately");
    }
    stop
}

/// The same where there is no SIGHUP.
#[cfg(not(unix))]
pub fn stop_flag(
    asked: impl Fn() + Send + 'static,
    reload: Option<Box<dyn Fn() + Send>>,
) -> Arc<AtomicBool> {
    // The tokens are read again for as long as somebody could ask for it.
    std::mem::forget(reload);
    super::progress::stop_flag_and(asked)
}
