//! Keeps SIGHUP ignored where it is ignored.

/// Calls `set`, which sets handlers of signals, but keeps SIGHUP ignored if it is: `nohup` starts a
/// program so, and a handler would end the program with its terminal after all.
pub fn set_handlers<T>(set: impl FnOnce() -> T) -> T {
    #[cfg(unix)]
    {
        let before = hangup(libc::SIG_IGN);
        if before != libc::SIG_IGN {
            hangup(before);
        }
        let done = set();
        if before == libc::SIG_IGN {
            hangup(before);
        }
        done
    }
    #[cfg(not(unix))]
    set()
}

/// Sets what SIGHUP does, and returns what it did before.
#[cfg(unix)]
#[expect(unsafe_code, reason = "no crate tells whether a signal is ignored")]
fn hangup(action: libc::sighandler_t) -> libc::sighandler_t {
    // SAFETY: the action either ignores the signal, or is the previous action.
    unsafe { libc::signal(libc::SIGHUP, action) }
}
