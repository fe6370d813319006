//! The default memory of a run.
//!
//! A container is a control group with a limit, and the kernel ends what exceeds it, without a
//! word. So the default follows the limits of the groups that this process is in, and the memory of
//! the machine.

use std::path::{Component, Path};

use super::output;
use super::terminal::note;

/// The default where there is plenty.
const DEFAULT_BYTES: usize = 512 << 20;

/// Minimum default: with less memory, hardly a document can be added.
const LEAST_BYTES: usize = 16 << 20;

/// Minimum memory outside the budget, for merges and the allocator's reserve.
const UNCOUNTED_BYTES: u64 = 128 << 20;

/// The default is one part in `SHARE` of the remaining memory, because documents of the maximum
/// length that `add` accepts take several times the budget.
const SHARE: u64 = 4;

/// Returns the requested size or the default. Reports a default below the usual size, and a
/// requested size above the available memory.
pub fn or_default(asked: Option<usize>) -> usize {
    or_default_saying(asked, |said| note!("cento: {said}"))
}

/// Returns the memory to use as [`or_default`] does, and reports by `say`.
pub fn or_default_saying(asked: Option<usize>, say: impl FnOnce(&str)) -> usize {
    let Some(limit) = limit_below(Path::new("/")) else { return asked.unwrap_or(DEFAULT_BYTES) };
    if let Some(said) = said_of(asked, limit) {
        say(&said);
    }
    asked.unwrap_or_else(|| default_for(limit))
}

/// Returns a message about the requested or default memory, if the user should know.
fn said_of(asked: Option<usize>, limit: u64) -> Option<String> {
    let bytes = asked.unwrap_or_else(|| default_for(limit)) as u64;
    let (memory, all) = (output::bytes(bytes), output::bytes(limit));
    match asked {
        None if bytes < DEFAULT_BYTES as u64 => {
            Some(format!("--memory is {memory}, because this container or machine has {all}"))
        }
        Some(_) if bytes > limit / 2 => Some(format!(
            "--memory is {memory}, and this container or machine has {all}: the system may end the \
             process; give at most half of it"
        )),
        _ => None,
    }
}

/// Returns the default without a message.
pub fn default_bytes() -> usize {
    limit_below(Path::new("/")).map_or(DEFAULT_BYTES, default_for)
}

fn default_for(limit: u64) -> usize {
    let rest = limit.saturating_sub(UNCOUNTED_BYTES);
    let share = usize::try_from(rest / SHARE).unwrap_or(usize::MAX);
    share.clamp(LEAST_BYTES, DEFAULT_BYTES)
}

/// Returns the minimum of the machine's memory and the limits of this process's control groups,
/// read from files below `root`. `None` if the files are not in Linux format.
fn limit_below(root: &Path) -> Option<u64> {
    let groups = std::fs::read_to_string(root.join("proc/self/cgroup")).unwrap_or_default();
    let limits = groups.lines().flat_map(|line| limits_of(root, line));
    limits.chain(machine_bytes(root)).min()
}

/// Returns the limits of a control group and its ancestors. A line is `number:controllers:path`. In
/// version 2 of control groups, the number is 0 and controllers are empty.
fn limits_of(root: &Path, line: &str) -> Vec<u64> {
    let mut parts = line.splitn(3, ':');
    let (Some(number), Some(controllers), Some(path)) = (parts.next(), parts.next(), parts.next())
    else {
        return Vec::new();
    };
    let is_memory = controllers.split(',').any(|name| name == "memory");
    let (mounts, file): (&[&str], &str) = match (number, controllers) {
        ("0", "") => (&["sys/fs/cgroup", "sys/fs/cgroup/unified"], "memory.max"),
        _ if is_memory => (&["sys/fs/cgroup/memory"], "memory.limit_in_bytes"),
        _ => return Vec::new(),
    };
    // In a container, the path may be valid only outside, and the mount point is the group.
    let is_name = |part: &Component<'_>| matches!(part, Component::Normal(_));
    let path: std::path::PathBuf = Path::new(path).components().filter(is_name).collect();
    let groups = mounts.iter().flat_map(|mount| {
        path.ancestors().map(move |group| root.join(mount).join(group).join(file))
    });
    // `max` is not a number.
    groups.filter_map(|file| std::fs::read_to_string(file).ok()?.trim().parse().ok()).collect()
}

fn machine_bytes(root: &Path) -> Option<u64> {
    let memory = std::fs::read_to_string(root.join("proc/meminfo")).ok()?;
    let total = memory.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kib: u64 = total.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1 << 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MACHINE: (&str, &str) = ("proc/meminfo", "MemTotal:       16384 kB\nMemFree: 1 kB\n");

    #[track_caller]
    fn check(files: &[(&str, &str)], expected: Option<u64>) {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = dir.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        assert_eq!(limit_below(dir.path()), expected, "{files:?}");
    }

    #[test]
    fn the_least_limit_of_all_groups_counts() {
        let second = ("proc/self/cgroup", "0::/a/b/c\n");
        check(&[], None);
        check(&[MACHINE, second], Some(16 << 20));
        check(&[MACHINE, second, ("sys/fs/cgroup/a/b/memory.max", "max\n")], Some(16 << 20));
        let outer = ("sys/fs/cgroup/a/memory.max", "5000\n");
        check(&[MACHINE, second, outer, ("sys/fs/cgroup/a/b/c/memory.max", "9000\n")], Some(5000));
        check(&[second, ("sys/fs/cgroup/a/b/c/memory.max", "max\n"), outer], Some(5000));
    }

    #[test]
    fn a_container_sees_its_own_group_as_the_root() {
        let own = ("sys/fs/cgroup/memory.max", "7000\n");
        check(&[("proc/self/cgroup", "0::/docker/0123\n"), own], Some(7000));
        check(&[("proc/self/cgroup", "0::/../../system.slice\n"), own], Some(7000));
        check(&[("proc/self/cgroup", "0::/\n"), own], Some(7000));
    }

    #[test]
    fn the_first_version_of_control_groups_has_limits_too() {
        let groups = "12:cpu,cpuacct:/x\n5:memory:/docker/1\n1:name=systemd:/x\n0::/x\n";
        let unlimited = ("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
        let own = ("sys/fs/cgroup/memory/docker/1/memory.limit_in_bytes", "268435456\n");
        let first = ("proc/self/cgroup", groups);
        check(&[first, unlimited, own], Some(256 << 20));
        check(&[MACHINE, first, unlimited], Some(16 << 20));
        check(&[("proc/self/cgroup", "nothing\n\n::\n5:memory\n")], None);
    }

    #[test]
    fn the_default_leaves_room_for_uncounted_memory() {
        assert_eq!(default_for(256 << 20), 32 << 20);
        assert_eq!(default_for(1 << 30), 224 << 20);
        assert_eq!(default_for(64 << 30), DEFAULT_BYTES);
        assert_eq!(default_for(1 << 20), LEAST_BYTES);
        assert_eq!(or_default(Some(5)), 5);
    }

    #[test]
    fn a_budget_that_does_not_fit_is_reported() {
        let said = |asked, limit| said_of(asked, limit).unwrap_or_default();
        assert!(
            said(None, 256 << 20)
                .contains("--memory is 33.55 MB, because this container or machine has 268.44 MB")
        );
        assert!(said(Some(200 << 20), 256 << 20).contains("at most half of it"));
        assert_eq!(said(Some(64 << 20), 256 << 20) + &said(None, 8 << 30), "");
    }
}
