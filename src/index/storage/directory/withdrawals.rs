//! The file with the withdrawals of an index, which the list of segments names.
//!
//! It is not tantivy's: it is written and removed here, and no commit of tantivy collects it.

use std::io;
use std::path::Path;

use tantivy::Directory;
use tantivy::directory::OwnedBytes;
use tantivy::directory::error::OpenReadError;
use tantivy::index::SegmentId;

use super::super::component::{footer, verify_body};
use super::super::seal::{self, META, WITHDRAWALS, WithdrawalsChange};
use super::{IndexDirectory, locked};

impl IndexDirectory {
    /// Returns the name of the file with the withdrawals, according to the list of segments that
    /// was last read or written.
    pub fn withdrawals(&self) -> Option<String> {
        seal::withdrawals_of(&locked(&self.state.listed)).map(str::to_owned)
    }

    /// Reads a component that its list may not name, compares it with the checksum in its footer,
    /// and returns all before that.
    ///
    /// # Errors
    /// When it cannot be read, or does not fit.
    pub fn read_checked(&self, name: &str) -> io::Result<OwnedBytes> {
        let file = self.open_unchecked(Path::new(name)).map_err(io::Error::other)?;
        verify_body(name, file.clone())?;
        footer(name, file)?.1.read_bytes()
    }

    /// Writes a file with the withdrawals, durably, which the next commit names in the place of the
    /// one before; with `None` it names none any more. If the
    /// commit `removes` documents, no list before it names the file.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn change_withdrawals(&self, bytes: Option<&[u8]>, removes: bool) -> io::Result<()> {
        let failed = |e: OpenReadError| io::Error::other(e);
        let list = Directory::atomic_read(self, Path::new(META)).map_err(failed)?;
        let from = seal::opstamp_of(&list)? + u64::from(removes);
        let file = bytes.map(|bytes| {
            let segment = SegmentId::generate_random().uuid_string();
            let name = format!("{segment}.{WITHDRAWALS}");
            self.replace(Path::new(&name), bytes).map(|()| name)
        });
        let file = file.transpose()?;
        *locked(&self.state.withdrawals) = Some(WithdrawalsChange { file, from });
        Ok(())
    }

    /// Ends the change of the withdrawals after its commit, and removes the file before.
    pub fn end_change_of_withdrawals(&self, before: Option<&str>) {
        *locked(&self.state.withdrawals) = None;
        let Some(before) = before.filter(|before| !self.is_listed(Path::new(before))) else {
            return;
        };
        // A reader holds this while it opens the files of a commit before.
        let removed = match self.hold_list() {
            Ok(_held) => self.delete(Path::new(before)).map_err(|e| e.to_string()),
            Err(error) => Err(error.to_string()),
        };
        // The next writer removes it.
        if let Err(error) = removed {
            log::warn!("cannot remove {before}: {error}");
        }
    }
}
