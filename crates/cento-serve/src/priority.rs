//! Who goes first when processors are short?

/// Lets other threads of the process go before this one and those that it starts. Where the system
/// cannot do that, nothing happens.
pub fn give_way() {
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::setpriority_process(None, NICENESS) {
        tracing::warn!(%error, "the priority of ingest threads cannot be lowered");
    }
}

/// At 10 a thread gets a tenth of what one that searches gets, if both want all.
#[cfg(target_os = "linux")]
const NICENESS: i32 = 10;
