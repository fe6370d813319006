//! The file of the withdrawals: lines of JSON, then the footer of a component.

use cento_api::Withdrawal;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// The version of the lines.
const VERSION: u32 = 1;

/// The magic at the end of a tantivy component.
const FOOTER_MAGIC: u32 = 1337;

/// The first line, with the version.
#[derive(Serialize, Deserialize)]
struct WithdrawalHead {
    cento_withdrawals: u32,
}

/// Parses the withdrawals. Each is returned with the offset of its line.
///
/// # Errors
/// When a line is not a withdrawal: the offset of the line, and the reason as a clause.
pub fn read(bytes: &[u8]) -> Result<Vec<(usize, Withdrawal)>, (usize, String)> {
    let mut lines = bytes.split_inclusive(|&byte| byte == b'\n');
    let head = lines.next().unwrap_or_default();
    match serde_json::from_slice::<WithdrawalHead>(head) {
        Ok(WithdrawalHead { cento_withdrawals: VERSION }) => {}
        Ok(WithdrawalHead { cento_withdrawals: other }) => {
            return Err((0, format!("it has version {other}, which this cento cannot read")));
        }
        Err(error) => return Err((0, error.to_string())),
    }
    let mut at = head.len();
    let mut all = Vec::new();
    for line in lines {
        let withdrawal = serde_json::from_slice(line).map_err(|e| (at, e.to_string()))?;
        all.push((at, withdrawal));
        at += line.len();
    }
    Ok(all)
}

/// Serializes the withdrawals into the bytes of the file.
pub fn write<'a>(all: impl Iterator<Item = &'a Withdrawal>) -> Vec<u8> {
    let mut bytes = Vec::new();
    let line = |bytes: &mut Vec<u8>, json: serde_json::Result<Vec<u8>>| {
        bytes.extend(json.expect("its keys are names"));
        bytes.push(b'\n');
    };
    line(&mut bytes, serde_json::to_vec(&WithdrawalHead { cento_withdrawals: VERSION }));
    all.for_each(|withdrawal| line(&mut bytes, serde_json::to_vec(withdrawal)));
    let version = tantivy::version();
    let footer = json!({"version": version, "crc": crc32fast::hash(&bytes)}).to_string();
    bytes.extend(footer.as_bytes());
    bytes.extend(u32::try_from(footer.len()).expect("it is short").to_le_bytes());
    bytes.extend(FOOTER_MAGIC.to_le_bytes());
    bytes
}
