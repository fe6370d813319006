//! Which process is writing to an index?
//!
//! Linux lists the holders of locks in /proc/locks, and other systems have no such list. The lock
//! file does not hold the number of the process, because the file stays after a kill, and a later
//! process may get the same number.

use std::path::Path;

use cento_api::ServiceFile;

/// The files that a writer, a follower and a push lock.
const LOCKS: [&str; 3] = [".tantivy-writer.lock", ".mirror.lock", ".remote.lock"];

/// Returns a description of the process that writes to the index at `path`, or `None` if unknown.
pub fn described(path: &Path) -> Option<String> {
    let process = LOCKS.iter().find_map(|name| process_of(&path.join(name)))?;
    let service = ServiceFile::of(path).filter(|service| service.pid == process);
    Some(match (service, command_of(process)) {
        (Some(service), _) => format!("it is the service {} (process {process})", service.url),
        (None, Some(command)) => format!("it is `{command}` (process {process})"),
        (None, None) => format!("it is process {process}"),
    })
}

/// Returns the number of the process that holds the lock of this file.
#[cfg(target_os = "linux")]
fn process_of(file: &Path) -> Option<u32> {
    use std::os::unix::fs::MetadataExt;
    let found = file.metadata().ok()?;
    let device = found.dev();
    let major = ((device >> 8) & 0xfff) | ((device >> 32) & 0xffff_f000);
    let minor = (device & 0xff) | ((device >> 12) & 0xffff_ff00);
    let file = format!("{major:02x}:{minor:02x}:{}", found.ino());
    let locks = std::fs::read_to_string("/proc/locks").ok()?;
    let holder = locks.lines().find_map(|line| {
        // `1: FLOCK  ADVISORY  WRITE 4711 fe:00:1234 0 EOF`. A process that waits has an arrow.
        let mut words = line.split_ascii_whitespace().skip(1);
        let is_held = words.next() == Some("FLOCK") && words.nth(1) == Some("WRITE");
        let process = words.next()?.parse().ok()?;
        (is_held && words.next() == Some(&*file)).then_some(process)
    });
    // A process of another container has no number here.
    holder.filter(|process| *process > 0)
}

#[cfg(not(target_os = "linux"))]
fn process_of(_file: &Path) -> Option<u32> {
    None
}

/// Returns the program of a process, and its verb. Further arguments could be secret.
fn command_of(process: u32) -> Option<String> {
    let line = std::fs::read(format!("/proc/{process}/cmdline")).ok()?;
    let mut words = line.split(|byte| *byte == 0).map(String::from_utf8_lossy);
    let program = words.next().filter(|program| !program.is_empty())?;
    let name = Path::new(&*program).file_name()?.to_string_lossy().into_owned();
    let is_verb = |word: &str| word.bytes().all(|byte| byte.is_ascii_lowercase());
    let verb = words.next().filter(|word| name == "cento" && !word.is_empty() && is_verb(word));
    Some(verb.map_or(name.clone(), |verb| format!("{name} {verb}")))
}
