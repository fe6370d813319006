//! The system calls that a worker may make.
//!
//! A worker needs memory, threads, the time, and its open streams. A filter of system calls
//! (seccomp) forbids everything else: opening files, connections, programs, processes, and turning
//! memory into code. A file that takes control of a parser can therefore only read requests and
//! write answers. The filter lists allowed calls, so that calls of newer kernels are forbidden,
//! too. A forbidden call fails as if it did not exist, and libraries fall back as on an older
//! system.

#[cfg(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64")
))]
pub use filter::enter;

/// Does nothing, because only Linux on these processors has the filter.
///
/// # Errors
/// Never.
#[cfg(not(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64")
)))]
pub fn enter() -> std::io::Result<()> {
    Ok(())
}

#[cfg(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64")
))]
mod filter {
    use std::io;

    use libc::c_long;
    use seccompiler::{
        BpfProgram, Error, SeccompAction, SeccompCmpArgLen as Len, SeccompCmpOp as Is,
        SeccompCondition, SeccompFilter, SeccompRule, TargetArch, apply_filter_all_threads,
    };

    #[cfg(target_arch = "x86_64")]
    const ARCH: TargetArch = TargetArch::x86_64;
    #[cfg(target_arch = "aarch64")]
    const ARCH: TargetArch = TargetArch::aarch64;
    #[cfg(target_arch = "riscv64")]
    const ARCH: TargetArch = TargetArch::riscv64;

    /// System calls that are allowed with any arguments.
    const ALLOWED: [c_long; 33] = [
        // Reading and writing open streams.
        libc::SYS_read,
        libc::SYS_readv,
        libc::SYS_pread64,
        libc::SYS_write,
        libc::SYS_writev,
        libc::SYS_pwrite64,
        libc::SYS_lseek,
        libc::SYS_fstat,
        libc::SYS_fsync,
        libc::SYS_fdatasync,
        libc::SYS_close,
        // Allocating and freeing memory.
        libc::SYS_brk,
        libc::SYS_mremap,
        libc::SYS_munmap,
        libc::SYS_madvise,
        // Running and ending threads.
        libc::SYS_futex,
        libc::SYS_set_robust_list,
        libc::SYS_rseq,
        libc::SYS_gettid,
        libc::SYS_getpid,
        libc::SYS_sched_yield,
        libc::SYS_sched_getaffinity,
        libc::SYS_rt_sigaction,
        libc::SYS_rt_sigprocmask,
        libc::SYS_rt_sigreturn,
        libc::SYS_sigaltstack,
        libc::SYS_exit,
        libc::SYS_exit_group,
        // Reading the time and random numbers.
        libc::SYS_clock_gettime,
        libc::SYS_clock_nanosleep,
        libc::SYS_nanosleep,
        libc::SYS_restart_syscall,
        libc::SYS_getrandom,
    ];

    /// Permanently forbids all other system calls in every thread of this process.
    ///
    /// # Errors
    /// When the system refuses the filter.
    pub fn enter() -> io::Result<()> {
        apply_filter_all_threads(&program()?).map_err(plain)
    }

    /// Returns the filter.
    ///
    /// # Errors
    /// Never, with the lists of this file.
    pub(super) fn program() -> io::Result<BpfProgram> {
        let own = u64::from(std::process::id());
        let rule = |argument, len, is, value| {
            let condition = SeccompCondition::new(argument, len, is, value)?;
            SeccompRule::new(vec![condition])
        };
        let bits = |bits: i32| u64::from(bits.unsigned_abs());
        let no_code = || rule(2, Len::Dword, Is::MaskedEq(bits(libc::PROT_EXEC)), 0);
        let copies = bits(libc::F_DUPFD_CLOEXEC);
        let thread = bits(libc::CLONE_THREAD);
        let conditional = [
            (libc::SYS_mmap, no_code()),
            (libc::SYS_mprotect, no_code()),
            // Duplicating the descriptor of an open stream.
            (libc::SYS_fcntl, rule(1, Len::Dword, Is::Eq, copies)),
            // Threads, but no processes. A filter cannot see the arguments of `clone3`, so this
            // call fails, and libraries fall back to `clone`.
            (libc::SYS_clone, rule(0, Len::Qword, Is::MaskedEq(thread), thread)),
            // Limits of this process, which zero denotes.
            (libc::SYS_prlimit64, rule(0, Len::Dword, Is::Eq, 0)),
            // Killing this process by a signal, so that the exit status shows an abort.
            (libc::SYS_tgkill, rule(0, Len::Dword, Is::Eq, own)),
        ];
        let mut rules: std::collections::BTreeMap<i64, Vec<SeccompRule>> =
            ALLOWED.map(|call| (call, Vec::new())).into();
        for (call, rule) in conditional {
            rules.insert(call, vec![rule.map_err(io::Error::other)?]);
        }
        let forbidden = SeccompAction::Errno(libc::ENOSYS.unsigned_abs());
        let filter = SeccompFilter::new(rules, forbidden, SeccompAction::Allow, ARCH);
        filter.and_then(BpfProgram::try_from).map_err(io::Error::other)
    }

    /// Returns an error of the system without the library's wrapping.
    fn plain(error: Error) -> io::Error {
        match error {
            Error::Prctl(error) | Error::Seccomp(error) => error,
            error => io::Error::other(error),
        }
    }
}

#[cfg(test)]
#[cfg(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64")
))]
mod tests {
    use std::fs::File;
    use std::io::{self, Read};
    use std::net::{TcpListener, TcpStream, UdpSocket};
    use std::os::unix::net::UnixStream;
    use std::process::Command;

    #[test]
    fn a_confined_thread_has_no_files_connections_or_programs() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x");
        std::fs::write(&path, "open").unwrap();
        let mut open = File::open(&path).unwrap();
        let confined = std::thread::spawn(move || {
            // Confines only this thread, because the test process has other threads.
            seccompiler::apply_filter(&super::filter::program().unwrap()).unwrap();
            let tried: [io::Result<()>; 10] = [
                std::fs::read("/proc/self/exe").map(drop),
                std::fs::write(&path, "x"),
                std::fs::remove_file(&path),
                std::fs::metadata("/").map(drop),
                std::fs::read_dir("/").map(drop),
                TcpStream::connect(address).map(drop),
                TcpListener::bind("127.0.0.1:0").map(drop),
                UdpSocket::bind("127.0.0.1:0").map(drop),
                UnixStream::pair().map(drop),
                Command::new("/bin/true").spawn().map(drop),
            ];
            // Parsers need memory, threads and open streams.
            let sum = std::thread::spawn(|| vec![1u8; 8 << 20].iter().map(|&x| x as usize).sum());
            let mut read = String::new();
            open.try_clone().unwrap().read_to_string(&mut read).unwrap();
            assert_eq!(open.read(&mut [0]).unwrap(), 0, "it shares its place with its copy");
            (tried.map(|tried| tried.map_err(|e| e.raw_os_error())), sum.join().unwrap(), read)
        });
        let (tried, sum, read): (_, usize, _) = confined.join().unwrap();
        assert_eq!(tried, [Err(Some(libc::ENOSYS)); 10]);
        assert_eq!((sum, read.as_str()), (8 << 20, "open"));
        // The main thread is not confined.
        assert!(std::fs::metadata("/").is_ok());
    }
}
