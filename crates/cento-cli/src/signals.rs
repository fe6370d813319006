//! Signals from the system to a service.
//!
//! SIGTERM and Ctrl-C stop the service. SIGHUP makes the service reload the settings that can
//! change, as in other services. If the terminal was closed, SIGHUP stops the service.

use super::hangup::set_handlers;
use cento::Stop;

/// Returns a handle that is set at a request to stop, and calls `asked` then; a second request ends
/// the process immediately. Calls `reload` at a request to read again, which without `reload` means
/// to stop.
#[cfg(unix)]
pub fn stop_flag(asked: impl Fn() + Send + 'static, reload: Option<Box<dyn Fn() + Send>>) -> Stop {
    use std::io::IsTerminal;

    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;

    let stop = Stop::new();
    let flag = stop.clone();
    let has_terminal = || std::io::stdin().is_terminal() || std::io::stderr().is_terminal();
    let had_terminal = has_terminal();
    let handle = move |mut signals: Signals| {
        for signal in &mut signals {
            let is_closed = had_terminal && !has_terminal();
            match &reload {
                Some(reload) if signal == SIGHUP && !is_closed => reload(),
                _ if flag.is_set() => std::process::exit(130),
                _ => {
                    flag.set();
                    asked();
                }
            }
        }
    };
    let signals = set_handlers(|| Signals::new([SIGINT, SIGTERM, SIGHUP]));
    let started = signals.and_then(|signals| {
        let thread = std::thread::Builder::new().name("signals".into());
        thread.spawn(move || handle(signals))
    });
    if let Err(error) = started {
        tracing::warn!(%error, "Ctrl-C will end the process immediately");
    }
    stop
}

/// Returns the handle on systems without SIGHUP.
#[cfg(not(unix))]
pub fn stop_flag(asked: impl Fn() + Send + 'static, reload: Option<Box<dyn Fn() + Send>>) -> Stop {
    // Keeps the sender alive, because reloading ends when the last sender is dropped.
    std::mem::forget(reload);
    super::progress::stop_flag_and(asked)
}
