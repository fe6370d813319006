//! What is wrong with a zip archive, and what to do about it.

use std::io::{self, Read};

use zip::result::ZipError;

/// How to read the parts of a split archive.
const PARTS: &str = "join the parts with `zip -s 0 NAME.zip --out WHOLE.zip`, and name that file";

/// Compression methods that cento does not read, by number.
const METHODS: [(u16, &str); 5] =
    [(1, "Shrink"), (6, "Implode"), (9, "Deflate64"), (14, "LZMA"), (98, "PPMd")];

/// Describes a fault of a zip archive or of a file in it, as a clause. The messages of the reader
/// are written for those who know the format.
pub fn described(error: &ZipError) -> String {
    match error {
        ZipError::Io(error) => error.to_string(),
        ZipError::UnsupportedArchive(ZipError::PASSWORD_REQUIRED) | ZipError::InvalidPassword => {
            "it is encrypted; unpack it with its password, and name the files".to_owned()
        }
        // The reader has words for these faults, and no kinds.
        ZipError::InvalidArchive(words) if words.starts_with("Multi-disk") => {
            format!("it is one of several parts of a zip archive; {PARTS}")
        }
        ZipError::InvalidArchive(words) if words.contains("Could not find EOCD") => {
            "it is cut short or damaged: the list of its files, at its end, is missing; copy or \
             download it again"
                .to_owned()
        }
        // The reader's reason has names of its types.
        ZipError::InvalidArchive(_) => {
            "it is damaged: the list of its files cannot be read; copy or download it again"
                .to_owned()
        }
        ZipError::CompressionMethodNotSupported(number) => {
            let name = METHODS.iter().find(|(method, _)| method == number);
            let method = name.map_or(format!("method {number}"), |(_, name)| (*name).to_owned());
            format!("it is compressed by {method}, which is not read; unpack it, and name the file")
        }
        error => error.to_string(),
    }
}

/// Makes the error for an archive that cannot be read.
pub fn unreadable(error: ZipError) -> io::Error {
    let what = described(&error);
    match error {
        ZipError::Io(error) => error,
        error => io::Error::new(io::Error::from(error).kind(), what),
    }
}

/// Reads a file in an archive, and describes its faults.
pub struct CheckedFile<R>(pub R);

impl<R: Read> Read for CheckedFile<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer).map_err(|error| {
            let zip = error.get_ref().and_then(|inner| inner.downcast_ref::<ZipError>());
            let what = match zip.map(described) {
                Some(what) => what,
                None if error.to_string() == "Invalid checksum" => {
                    "it is damaged: its checksum is not that of its bytes".to_owned()
                }
                None => return error,
            };
            io::Error::new(error.kind(), what)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Cursor, Write};
    use zip::ZipArchive;
    use zip::write::{SimpleFileOptions, ZipWriter};

    fn archive() -> Vec<u8> {
        let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
        zip.start_file("a.txt", SimpleFileOptions::default()).unwrap();
        zip.write_all("words of a text\n".repeat(40).as_bytes()).unwrap();
        zip.finish().unwrap().into_inner()
    }

    /// Returns the place of this mark in the archive.
    fn place(archive: &[u8], mark: &[u8]) -> usize {
        archive.windows(mark.len()).position(|bytes| bytes == mark).unwrap()
    }

    /// Opens an archive and its file. Returns why one of them cannot be read.
    fn fault(archive: &[u8]) -> String {
        let mut archive = match ZipArchive::new(Cursor::new(archive)) {
            Ok(archive) => archive,
            Err(error) => return unreadable(error).to_string(),
        };
        let file = match archive.by_index(0) {
            Ok(file) => file,
            Err(error) => return described(&error),
        };
        CheckedFile(file).read_to_end(&mut Vec::new()).unwrap_err().to_string()
    }

    #[test]
    fn a_zip_archive_that_cannot_be_read_says_which_and_what_to_do() {
        let whole = archive();
        let cut = &whole[..whole.len() / 2];
        assert!(fault(cut).contains("it is cut short or damaged"), "{}", fault(cut));
        let mut parts = whole.clone();
        let end = place(&whole, b"PK\x05\x06");
        parts[end + 4] = 1;
        assert!(fault(&parts).contains("join the parts with `zip -s 0"), "{}", fault(&parts));
        let directory = place(&whole, b"PK\x01\x02");
        let mut encrypted = whole.clone();
        (encrypted[6], encrypted[directory + 8]) = (whole[6] | 1, whole[directory + 8] | 1);
        assert!(fault(&encrypted).contains("it is encrypted; unpack it"), "{}", fault(&encrypted));
        let mut method = whole.clone();
        (method[8], method[directory + 10]) = (9, 9);
        assert!(fault(&method).contains("compressed by Deflate64"), "{}", fault(&method));
        let mut sum = whole.clone();
        sum[directory + 16] ^= 1;
        assert!(fault(&sum).contains("its checksum is not that of its bytes"), "{}", fault(&sum));
        let mut listed = whole.clone();
        listed[directory] = b'X';
        assert!(
            fault(&listed).contains("it is damaged: the list of its files cannot be read"),
            "{}",
            fault(&listed)
        );
    }
}
