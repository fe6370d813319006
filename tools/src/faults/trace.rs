//! Parses the system calls of a process from the output of `strace -f -xx`.
//!
//! A call that was interrupted by a call of another thread takes two lines, and its effect may
//! happen at any moment between the two lines. Failed calls are omitted because they changed
//! nothing.

use std::collections::HashMap;

use crate::Result;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// A call begins. The next [`Event::End`] of the same thread ends the call.
    Begin(Call),
    /// The call of the thread in the first field returned the value in the second field.
    End(u32, i64),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    pub thread: u32,
    pub name: String,
    /// The arguments as printed by strace, with quoted strings encoded.
    pub args: Vec<String>,
}

impl Call {
    /// Returns the number in argument `at`, such as a file descriptor.
    ///
    /// # Errors
    /// When the argument is missing or not a number.
    pub fn number(&self, at: usize) -> Result<i64> {
        let text = self.arg(at)?;
        text.parse().map_err(|_| format!("{}: `{text}` is no number", self.name).into())
    }

    /// Returns the string in argument `at`.
    ///
    /// # Errors
    /// When the argument is missing or truncated.
    pub fn bytes(&self, at: usize) -> Result<Vec<u8>> {
        unquote(self.arg(at)?)
    }

    /// Returns argument `at`.
    ///
    /// # Errors
    /// When the call has fewer arguments.
    pub fn arg(&self, at: usize) -> Result<&str> {
        let found = self.args.get(at).map(String::as_str);
        found.ok_or_else(|| format!("{} has no argument {at}: {:?}", self.name, self.args).into())
    }

    /// Returns whether argument `at` contains `flag`, alone or among other flags.
    pub fn has(&self, at: usize, flag: &str) -> bool {
        self.args.get(at).is_some_and(|arg| arg.split('|').any(|given| given == flag))
    }
}

/// Decodes the bytes of `"\x61\x62"`.
fn unquote(quoted: &str) -> Result<Vec<u8>> {
    let inner = quoted.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    let failed = || format!("`{quoted}` is no whole string");
    let inner = inner.ok_or_else(failed)?;
    let byte = |hex: &str| u8::from_str_radix(hex, 16).map_err(|_| failed().into());
    inner.split("\\x").skip(1).map(byte).collect()
}

/// Joins the buffers of `[{iov_base="\x61", iov_len=1}, ...]`.
///
/// # Errors
/// When a buffer was truncated.
pub fn buffers(list: &str) -> Result<Vec<u8>> {
    let mut all = Vec::new();
    for part in list.split("iov_base=").skip(1) {
        let end = part.get(1..).and_then(|rest| rest.find('"')).ok_or("a buffer has no end")? + 2;
        all.extend(unquote(&part[..end])?);
    }
    Ok(all)
}

/// Returns the events of a log in order.
///
/// # Errors
/// When a line does not have the form that strace writes with these options.
pub fn parse(log: &str) -> Result<Vec<Event>> {
    let mut open: HashMap<u32, (Call, String)> = HashMap::new();
    let mut events: Vec<Option<Event>> = Vec::new();
    let mut begun: HashMap<u32, usize> = HashMap::new();
    for line in log.lines() {
        let failed = || format!("this is no line of strace: {line:.120}");
        let (thread, rest) = line.split_once(' ').ok_or_else(failed)?;
        let thread: u32 = thread.parse().map_err(|_| failed())?;
        let rest = rest.trim_start();
        // strace detaches from a thread in the middle of a call when the traced process is being
        // killed. The call has no outcome, like a call that is never resumed.
        let is_detached = rest.ends_with("<detached ...>");
        if rest.starts_with("---") || rest.starts_with("+++") || is_detached {
            continue;
        }
        let (call, end) = if let Some(rest) = rest.strip_prefix("<... ") {
            let end = rest.split_once(" resumed>").ok_or_else(failed)?.1;
            let (mut call, begin) = open.remove(&thread).ok_or_else(failed)?;
            // The two lines together contain a list of arguments.
            let whole = format!("{begin}{end}");
            let (args, end) = arguments(&whole).ok_or_else(failed)?;
            call.args = args;
            (call, end.to_owned())
        } else {
            let (name, rest) = rest.split_once('(').ok_or_else(failed)?;
            let mut call = Call { thread, name: name.to_owned(), args: Vec::new() };
            begun.insert(thread, events.len());
            events.push(None);
            if let Some(begin) = rest.strip_suffix("<unfinished ...>") {
                open.insert(thread, (call, begin.trim_end().to_owned()));
                continue;
            }
            let (args, end) = arguments(rest).ok_or_else(failed)?;
            call.args = args;
            (call, end.to_owned())
        };
        let returned = end.trim_start().strip_prefix('=').ok_or_else(failed)?.trim_start();
        let Some(value) = number(returned.split(' ').next().unwrap_or_default()) else { continue };
        if value >= 0 {
            let at = begun[&thread];
            events[at] = Some(Event::Begin(call));
            events.push(Some(Event::End(thread, value)));
        }
    }
    Ok(events.into_iter().flatten().collect())
}

fn number(text: &str) -> Option<i64> {
    match text.strip_prefix("0x") {
        Some(hex) => i64::from_str_radix(hex, 16).ok(),
        None => text.parse().ok(),
    }
}

/// Splits the arguments before the closing bracket from the text after the bracket.
fn arguments(text: &str) -> Option<(Vec<String>, &str)> {
    let (mut depth, mut is_quoted, mut from) = (0, false, 0);
    let mut found = Vec::new();
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'"' => is_quoted = !is_quoted,
            _ if is_quoted => {}
            b'[' | b'{' | b'(' => depth += 1,
            b')' if depth == 0 => {
                found.push(text[from..at].trim().to_owned());
                return Some((found, &text[at + 1..]));
            }
            b']' | b'}' | b')' => depth -= 1,
            b',' if depth == 0 => {
                found.push(text[from..at].trim().to_owned());
                from = at + 1;
            }
            _ => {}
        }
    }
    None
}

/// Returns a text as strace writes it with `-xx`.
#[cfg(test)]
pub fn in_hex(text: &str) -> String {
    text.bytes().map(|byte| format!("\\x{byte:02x}")).collect()
}

/// Returns a log with plain strings as strace writes it with `-xx`.
#[cfg(test)]
pub fn with_hex_strings(log: &str) -> String {
    let parts = log.split('"').enumerate().map(|(i, part)| match i % 2 {
        0 => part.to_owned(),
        _ => format!("\"{}\"", in_hex(part)),
    });
    parts.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(thread: u32, name: &str, args: &[&str]) -> Event {
        let args = args.iter().map(|&arg| arg.into()).collect();
        Event::Begin(Call { thread, name: name.into(), args })
    }

    #[test]
    fn a_call_that_failed_is_left_out() {
        let log = "7 mkdir(\"\\x61\", 0777) = -1 EEXIST (File exists)\n7 close(3)   = 0\n";
        assert_eq!(parse(log).unwrap(), [call(7, "close", &["3"]), Event::End(7, 0)]);
    }

    #[test]
    fn an_interrupted_call_begins_before_later_calls() {
        let log = "1 fsync(3 <unfinished ...>\n\
                   2 write(4, \"\\x61\", 1) = 1\n\
                   1 <... fsync resumed>)             = 0\n";
        let expected = [
            call(1, "fsync", &["3"]),
            call(2, "write", &["4", "\"\\x61\"", "1"]),
            Event::End(2, 1),
            Event::End(1, 0),
        ];
        assert_eq!(parse(log).unwrap(), expected);
    }

    #[test]
    fn a_call_that_strace_let_go_of_has_no_outcome() {
        let log = "1 close(3) = 0\n\
                   1 fsync(4 <unfinished ...>\n\
                   2 futex(0x7f, FUTEX_WAIT, 2, NULL <detached ...>\n\
                   1 <... fsync resumed> <detached ...>\n";
        assert_eq!(parse(log).unwrap(), [call(1, "close", &["3"]), Event::End(1, 0)]);
    }

    #[test]
    fn arguments_on_two_lines_are_one_list() {
        let log = "1 read(3,  <unfinished ...>\n1 <... read resumed>\"\\x61\\x62\", 16) = 2\n";
        let events = parse(log).unwrap();
        assert_eq!(events[0], call(1, "read", &["3", "\"\\x61\\x62\"", "16"]));
    }

    #[test]
    fn brackets_flags_and_comments_are_parsed() {
        let log = "1 writev(3, [{iov_base=\"\\x61\", iov_len=1}, {iov_base=\"\\x62\\x63\", \
                   iov_len=2}], 2) = 3\n1 fcntl(3, F_GETFD) = 0x1 (flags FD_CLOEXEC)\n\
                   1 openat(AT_FDCWD, \"\\x61\", O_RDWR|O_CREAT, 0666) = 4 (DELAYED)\n\
                   1 --- SIGINT {si_signo=SIGINT} ---\n1 exit_group(0) = ?\n";
        let events = parse(log).unwrap();
        let [Event::Begin(writev), Event::End(1, 3), _, Event::End(1, 1), Event::Begin(open), _] =
            &events[..]
        else {
            panic!("{events:?}")
        };
        assert_eq!(buffers(writev.arg(1).unwrap()).unwrap(), b"abc");
        assert_eq!(open.bytes(1).unwrap(), b"a");
        assert!(open.has(2, "O_CREAT") && !open.has(2, "O_EXCL"));
    }

    #[test]
    fn a_string_that_was_cut_is_an_error() {
        assert!(unquote("\"\\x61\"...").is_err());
        assert_eq!(unquote("\"\"").unwrap(), b"");
    }
}
