//! Reads the files in an archive.
//!
//! Files in an archive are documents, like files in a directory. The name of a document is the path
//! of the archive, a slash, and the name in the archive.
//!
//! An unreadable entry does not affect other entries. In a zip archive, the directory has the
//! position of every entry. In a tar archive, entries follow each other. If a tar header is
//! damaged, the reader searches for the next block that is a valid header.

mod zip_fault;
mod zip_names;

use std::collections::{BTreeSet, HashSet};
use std::io::{self, BufReader, Read, Seek};
use std::ops::ControlFlow;

use self::zip_fault::{CheckedFile, described, unreadable};
use super::compressed::Unpacking;
use super::format::has_ending;
use super::names;
use cento::hash::hash_bytes;

/// An entry of an archive.
pub enum Entry<'a> {
    /// A regular file, with a reader of its contents.
    File(&'a mut dyn Read),
    /// A web page, with a reader of its contents, and a file name that fits its media type.
    Page(&'a mut dyn Read, &'static str),
    /// An entry that is skipped on purpose. The reason is a clause.
    LeftOut(&'static str),
    /// A link or a special file.
    Other,
    /// An unreadable file. The reason is a clause.
    Bad(String),
    /// A nameless part of the archive that is skipped, as a clause.
    Lost(String),
    /// A directory without entries.
    EmptyDirectory,
}

/// Called with the name and contents of each entry. Directories are reported only if they are
/// empty, and at the end, because only then this is known.
pub type Each<'a> = &'a mut dyn FnMut(&str, Entry<'_>) -> ControlFlow<()>;

/// The maximum length of a name, in bytes. No system opens longer paths, and hostile archives have
/// names of any length, with a directory for every two bytes.
const NAME_BYTES_MAX: u64 = 4096;

/// The number of letters shown of a longer name of a zip entry, as in a tar archive.
const NAMED_CHARS: usize = 100;

/// The maximum size of a pax extended header, in bytes.
const FIELDS_BYTES_MAX: u64 = 1 << 20;

/// The size of the blocks of a tar archive, in bytes.
const BLOCK_BYTES: usize = 512;

/// Visits the files of a tar archive in their order. Concatenated archives are all read.
///
/// # Errors
/// When the stream is not a tar archive, or ends too early.
pub fn tar(stream: impl Read, each: Each<'_>) -> io::Result<ControlFlow<()>> {
    let mut empty = EmptyDirectories::default();
    match entries_of_tar(stream, &mut empty, each)? {
        ControlFlow::Continue(()) => Ok(empty.give(each)),
        flow => Ok(flow),
    }
}

fn entries_of_tar(
    mut stream: impl Read,
    empty: &mut EmptyDirectories,
    each: Each<'_>,
) -> io::Result<ControlFlow<()>> {
    // Fields that extension headers set for the next entry.
    let mut next = EntryFields::default();
    let (mut gap, mut zeros, mut headers) = (0, 0, 0u64);
    let mut header = tar::Header::new_old();
    loop {
        let len = read_up_to(&mut stream, header.as_mut_bytes())?;
        let is_at_end = len < BLOCK_BYTES;
        let is_zero = header.as_bytes().iter().all(|&byte| byte == 0);
        let size = if is_at_end || is_zero { None } else { size_of(&header) };
        let ends_gap = gap > 0 && (size.is_some() || (headers > 0 && (is_at_end || is_zero)));
        if ends_gap {
            let what = format!("{gap} bytes in it belong to no entry and are skipped");
            gap = 0;
            if each("", Entry::Lost(what)).is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        if is_at_end {
            return match headers {
                0 if gap > 0 || len > 0 => Err(io::Error::other("it is not a tar archive")),
                // A complete archive ends with two zero blocks.
                _ if zeros == 0 && (headers > 0 || len > 0) => Err(cut_short()),
                _ => Ok(ControlFlow::Continue(())),
            };
        }
        if is_zero {
            zeros += 1;
            continue;
        }
        let Some(size) = size else {
            // Any bytes may follow the end of an archive.
            gap += if zeros < 2 { BLOCK_BYTES as u64 } else { 0 };
            continue;
        };
        headers += 1;
        zeros = 0;
        let kind = header.entry_type();
        if kind.is_gnu_longname() || kind.is_pax_local_extensions() {
            let mut body = Body { stream: &mut stream, left: size };
            if kind.is_gnu_longname() {
                next.long_name(&mut body, size)?;
            } else {
                next.extensions(&mut body, size)?;
            }
            pass_over(body, size)?;
            continue;
        }
        // Global fields and targets of links are not needed.
        if kind.is_pax_global_extensions() || kind.is_gnu_longlink() {
            pass_over(Body { stream: &mut stream, left: size }, size)?;
            continue;
        }
        let fields = std::mem::take(&mut next);
        let name = fields.name.unwrap_or_else(|| header.path_bytes().into_owned());
        let name = names::escaped(&name);
        let name = below_archive(&name);
        let size = fields.size.unwrap_or(size);
        let mut is_extended =
            header.as_gnu().is_some_and(|header| kind.is_gnu_sparse() && header.is_extended());
        while is_extended {
            let mut block = [0; BLOCK_BYTES];
            stream.read_exact(&mut block)?;
            is_extended = block[504] == 1;
        }
        let mut body = Body { stream: &mut stream, left: size };
        let is_file = kind.is_file() || kind.is_contiguous();
        empty.note(name, kind.is_dir() || name.ends_with('/'));
        let flow = match fields.fault {
            Some(fault) => each(name, Entry::Bad(fault)),
            None if kind.is_dir() || (is_file && name.ends_with('/')) => ControlFlow::Continue(()),
            None if leads_out(name) => each(name, Entry::Bad(LEADS_OUT.into())),
            None if is_file => each(name, Entry::File(&mut body)),
            None => each(name, Entry::Other),
        };
        if flow.is_break() {
            return Ok(flow);
        }
        pass_over(body, size)?;
    }
}

/// Why an entry whose name has `..` is not read.
const LEADS_OUT: &str = "its name leads out of the archive";

/// Returns whether a name contains `..`, and may lead out of the archive.
fn leads_out(name: &str) -> bool {
    name.split('/').any(|part| part == "..")
}

/// Removes leading slashes, which would make the name absolute. Programs that unpack archives do
/// the same.
fn below_archive(name: &str) -> &str {
    name.trim_start_matches('/')
}

/// Returns the size of an entry, if this block is a header.
fn size_of(header: &tar::Header) -> Option<u64> {
    let bytes = header.as_bytes();
    let sum = |bytes: &[u8]| bytes.iter().map(|&byte| u32::from(byte)).sum::<u32>();
    // The checksum counts itself as spaces.
    let expected = sum(&bytes[..148]) + 8 * u32::from(b' ') + sum(&bytes[156..]);
    let is_sound = header.cksum().is_ok_and(|found| found == expected);
    header.entry_size().ok().filter(|_| is_sound)
}

/// Fields of an entry from the extension headers before the entry.
#[derive(Default)]
struct EntryFields {
    name: Option<Vec<u8>>,
    size: Option<u64>,
    /// Why the entry cannot be read.
    fault: Option<String>,
}

impl EntryFields {
    fn long_name(&mut self, body: &mut impl Read, size: u64) -> io::Result<()> {
        if size > NAME_BYTES_MAX {
            self.fault =
                Some(format!("its name has {size} bytes; the maximum is {NAME_BYTES_MAX}"));
            return Ok(());
        }
        let bytes = whole(body, size)?;
        let name = bytes.split(|&byte| byte == 0).next().unwrap_or_default();
        self.name = Some(name.to_vec());
        Ok(())
    }

    fn extensions(&mut self, body: &mut impl Read, size: u64) -> io::Result<()> {
        if size > FIELDS_BYTES_MAX {
            self.fault = Some(format!(
                "its extended header has {size} bytes; the maximum is {FIELDS_BYTES_MAX}"
            ));
            return Ok(());
        }
        let bytes = whole(body, size)?;
        let mut rest = bytes.as_slice();
        // Some programs pad the header with zeros.
        while rest.first().is_some_and(|&byte| byte != 0) {
            let Some((key, value, after)) = extension(rest) else {
                self.fault = Some("its extended header is damaged".into());
                return Ok(());
            };
            rest = after;
            match key {
                b"path" => self.name = Some(value.to_vec()),
                b"size" => self.size = String::from_utf8_lossy(value).parse().ok(),
                _ => {}
            }
        }
        if self.name.as_ref().is_some_and(|name| name.len() as u64 > NAME_BYTES_MAX) {
            self.name = None;
            self.fault = Some(format!("its name has more than {NAME_BYTES_MAX} bytes"));
        }
        Ok(())
    }
}

/// Returns the key and value of the first record `LENGTH KEY=VALUE\n`, and the bytes after the
/// record.
fn extension(bytes: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let space = memchr::memchr(b' ', bytes)?;
    let length: usize = std::str::from_utf8(&bytes[..space]).ok()?.parse().ok()?;
    let record = bytes.get(space + 1..length)?.strip_suffix(b"\n")?;
    let equals = memchr::memchr(b'=', record)?;
    Some((&record[..equals], &record[equals + 1..], &bytes[length..]))
}

fn whole(body: &mut impl Read, size: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(size as usize);
    body.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The contents of an entry. A stream that ends before `left` bytes is an error.
pub struct Body<R> {
    /// The stream of the whole archive.
    pub stream: R,
    /// The number of bytes still to come.
    pub left: u64,
}

impl<R: Read> Read for Body<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let len = self.left.min(buffer.len() as u64) as usize;
        if len == 0 {
            return Ok(0);
        }
        match self.stream.read(&mut buffer[..len])? {
            0 => Err(cut_short()),
            read => {
                self.left -= read as u64;
                Ok(read)
            }
        }
    }
}

/// Skips to the block after an entry of this size.
fn pass_over(mut body: Body<impl Read>, size: u64) -> io::Result<()> {
    io::copy(&mut body, &mut io::sink())?;
    let padding = (BLOCK_BYTES as u64 - size % BLOCK_BYTES as u64) % BLOCK_BYTES as u64;
    io::copy(&mut body.stream.take(padding), &mut io::sink())?;
    Ok(())
}

fn read_up_to(stream: &mut impl Read, block: &mut [u8]) -> io::Result<usize> {
    let mut len = 0;
    while len < block.len() {
        match stream.read(&mut block[len..]) {
            Ok(0) => break,
            Ok(read) => len += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(len)
}

/// Returns the error for an archive that ends too early.
pub fn cut_short() -> io::Error {
    io::Error::new(io::ErrorKind::UnexpectedEof, "it is cut short: its end is missing")
}

/// File-name extensions of WARC files.
const WARC_FILES: &[&str] = &[".warc", ".warc.gz"];

/// The directory of a WACZ file with the WARC files.
pub const WEB_PAGES: &str = "archive/";

/// The kind of a zip file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ZipForm {
    /// A document of an office program, or an e-book.
    Document,
    /// A file that is not read. The kind is a clause.
    Unread(&'static str),
    /// An archive of a Java program.
    Java,
    /// A web archive (WACZ): WARC files in [`WEB_PAGES`], and files about them.
    Web,
    /// An archive of ordinary files.
    Archive,
}

/// Returns the kind of a zip file. The directory decides, because parts may come in any order.
///
/// # Errors
/// When the directory cannot be read.
pub fn form_of_zip(file: impl Read + Seek) -> io::Result<ZipForm> {
    let mut archive = zip::ZipArchive::new(BufReader::new(file)).map_err(unreadable)?;
    let has = |name: &str| archive.index_for_name(name).is_some();
    let has_in = |dir: &str| archive.file_names().flatten().any(|name| name.starts_with(dir));
    if has("[Content_Types].xml") {
        return Ok(match has_in("xl/") && !has_in("word/") && !has_in("ppt/") {
            true => ZipForm::Unread("it is an Excel document (.xlsx); export it as .csv"),
            false => ZipForm::Document,
        });
    }
    if has("META-INF/container.xml") || has("word/document.xml") {
        return Ok(ZipForm::Document);
    }
    let is_warc = |name: &str| name.starts_with(WEB_PAGES) && has_ending(name, WARC_FILES);
    if has("datapackage.json") && archive.file_names().flatten().any(|name| is_warc(&name)) {
        return Ok(ZipForm::Web);
    }
    let is_java = has("META-INF/MANIFEST.MF");
    let mut mimetype = String::new();
    if let Ok(entry) = archive.by_name("mimetype") {
        // A type that is not UTF-8 stays empty.
        let _ = entry.take(NAME_BYTES_MAX).read_to_string(&mut mimetype);
    }
    Ok(match mimetype.trim() {
        "application/epub+zip" => ZipForm::Document,
        kind if kind.starts_with("application/vnd.oasis.opendocument.spreadsheet") => {
            ZipForm::Unread("it is an OpenDocument spreadsheet; export it as .csv")
        }
        kind if kind.starts_with("application/vnd.oasis.opendocument.") => ZipForm::Document,
        _ if is_java => ZipForm::Java,
        _ => ZipForm::Archive,
    })
}

/// Visits the files of a zip archive in the order of the directory. Contents shared by several
/// entries are read once.
///
/// # Errors
/// When the file is not a zip archive, the directory is damaged, or the unpacked contents are out
/// of proportion to the size of the archive.
pub fn zip(mut file: impl Read + Seek, each: Each<'_>) -> io::Result<ControlFlow<()>> {
    let unpacking = Unpacking::of(file.seek(io::SeekFrom::End(0))?);
    let mut places = HashSet::new();
    let mut archive = zip::ZipArchive::new(BufReader::new(file)).map_err(unreadable)?;
    if archive.has_duplicate_names() {
        let what = "several files in it have the same name, and only the last of them is read";
        if each("", Entry::Lost(what.into())).is_break() {
            return Ok(ControlFlow::Break(()));
        }
    }
    let mut empty = EmptyDirectories::default();
    for (at, name) in zip_names::of(&mut archive).into_iter().enumerate() {
        if name.len() as u64 > NAME_BYTES_MAX {
            let bytes = name.len();
            let what = format!("its name has {bytes} bytes; the maximum is {NAME_BYTES_MAX}");
            let start: String = name.chars().take(NAMED_CHARS).collect();
            if each(below_archive(&names::escaped(start.as_bytes())), Entry::Bad(what)).is_break() {
                return Ok(ControlFlow::Break(()));
            }
            continue;
        }
        let name = names::escaped(name.as_bytes());
        let name = below_archive(&name);
        empty.note(name, name.ends_with('/'));
        let flow = match archive.by_index(at) {
            Ok(entry) if entry.is_dir() || name.ends_with('/') => continue,
            Ok(_) if leads_out(name) => each(name, Entry::Bad(LEADS_OUT.into())),
            Ok(entry) if !places.insert(entry.header_start()) => each(
                name,
                Entry::Bad("another file of the archive has the same contents in it".into()),
            ),
            Ok(entry) if entry.is_file() => {
                let flow = each(name, Entry::File(&mut unpacking.unpacked(CheckedFile(entry))));
                unpacking.check()?;
                flow
            }
            Ok(_) => each(name, Entry::Other),
            Err(error) => each(name, Entry::Bad(described(&error))),
        };
        if flow.is_break() {
            return Ok(flow);
        }
    }
    Ok(empty.give(each))
}

/// The directories of an archive without entries.
#[derive(Debug, Default)]
struct EmptyDirectories {
    /// Directories without entries so far.
    empty: BTreeSet<String>,
    /// Hashes of directories with entries. Hashes suffice, and the names of all directories along a
    /// deep path would take quadratic memory.
    filled: HashSet<u64>,
}

/// The maximum number of remembered directories, because an archive may have any number.
const DIRECTORIES_MAX: usize = 100_000;

fn hash_of(name: &str) -> u64 {
    hash_bytes(name.as_bytes())
}

impl EmptyDirectories {
    /// Notes an entry of this name.
    fn note(&mut self, name: &str, is_directory: bool) {
        let name = name.trim_end_matches('/');
        let mut above = name;
        while let Some((dir, _)) = above.rsplit_once('/') {
            self.empty.remove(dir);
            if self.filled.len() >= DIRECTORIES_MAX || !self.filled.insert(hash_of(dir)) {
                break;
            }
            above = dir;
        }
        let is_known = self.filled.contains(&hash_of(name)) || self.filled.len() >= DIRECTORIES_MAX;
        if is_directory && !name.is_empty() && !is_known && self.empty.len() < DIRECTORIES_MAX {
            self.empty.insert(name.to_owned());
        }
    }

    fn give(self, each: Each<'_>) -> ControlFlow<()> {
        let named = self.empty.iter().filter(|name| !leads_out(name));
        named.into_iter().try_for_each(|name| each(name, Entry::EmptyDirectory))
    }
}
