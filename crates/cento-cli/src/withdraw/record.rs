//! The record of a withdrawal, as a file.

use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use cento::hash::Digest;
use cento::index::hex_of;
use cento::runtime::replace;
use cento::{Error, Result};
use cento_collections::withdraw::Withdrawal;

/// The version of a record.
const VERSION: u32 = 1;

/// A record with a checksum: the XXH3-128 of the withdrawal's bytes in the file.
#[derive(Serialize, Deserialize)]
struct WithdrawalLine {
    cento_withdrawal: u32,
    checksum: String,
    withdrawal: Box<RawValue>,
}

/// Writes a record durably.
///
/// # Errors
/// When writing or syncing fails.
pub fn write(path: &Path, withdrawal: &Withdrawal) -> Result<()> {
    let withdrawal = serde_json::value::to_raw_value(withdrawal).expect("its keys are names");
    let checksum = hex_of(Digest::of(withdrawal.get().as_bytes()));
    let record = WithdrawalLine { cento_withdrawal: VERSION, checksum, withdrawal };
    let json = serde_json::to_string(&record).expect("its keys are names") + "\n";
    replace::file(path, json.as_bytes()).map_err(|e| Error::io("write", path, e))
}

/// Reads a record and verifies the checksum.
///
/// # Errors
/// When the file cannot be read, is not a record, or was changed.
pub fn read(path: &Path) -> Result<Withdrawal> {
    let refused = |what: String| Error::input(path.display().to_string(), what);
    let json = std::fs::read_to_string(path).map_err(|e| Error::io("read", path, e))?;
    let none = |e: serde_json::Error| refused(format!("it is no record of a withdrawal: {e}"));
    let WithdrawalLine { cento_withdrawal, checksum, withdrawal } =
        serde_json::from_str(&json).map_err(none)?;
    if cento_withdrawal != VERSION {
        return Err(refused(format!("it has version {cento_withdrawal}, which is unknown")));
    }
    if hex_of(Digest::of(withdrawal.get().as_bytes())) != checksum {
        return Err(refused("it was changed: it does not match its checksum".into()));
    }
    serde_json::from_str(withdrawal.get()).map_err(none)
}
