//! The file with the withdrawals, which the list of segments contains.
//!
//! tantivy does not know the file, which is written and removed here and never collected.

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

    /// Reads a component that need not be listed, verifies the checksum in its footer, and returns
    /// the content before the footer.
    ///
    /// # Errors
    /// When the component cannot be read, or does not match.
    pub fn read_checked(&self, name: &str) -> io::Result<OwnedBytes> {
        let file = self.open_unchecked(Path::new(name)).map_err(io::Error::other)?;
        verify_body(name, file.clone())?;
        footer(name, file)?.1.read_bytes()
    }

    /// Durably writes a file with withdrawals, which the next commit lists instead of the previous
    /// file. `None` makes the next commit list no file. If the commit `removes` documents, no list
    /// before that commit contains the file.
    ///
    /// # Errors
    /// When the file cannot be written.
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

    /// Ends the change of withdrawals after its commit, and removes the previous file.
    pub fn end_change_of_withdrawals(&self, before: Option<&str>) {
        *locked(&self.state.withdrawals) = None;
        let Some(before) = before.filter(|before| !self.is_listed(Path::new(before))) else {
            return;
        };
        // A reader holds the list while it opens the files of an older commit.
        let removed = match self.hold_list() {
            Ok(_held) => self.delete(Path::new(before)).map_err(|e| e.to_string()),
            Err(error) => Err(error.to_string()),
        };
        // The next writer removes the file.
        if let Err(error) = removed {
            log::warn!("cannot remove {before}: {error}");
        }
    }
}
