//! What does the process do that reads Parquet and Arrow files?

use std::fs::File;
use std::io::{self, BufWriter, Write};

use super::{Frame, Reading, Request, TABLE_MEMORY_BYTES_MAX, copy, rows};
use crate::limits;

/// Answers one request, in JSON, about the file that is standard input.
///
/// Limits the process for good: it is of no use for anything else.
///
/// # Errors
/// When the request is none, the system sets no limits, or the output cannot be written; when rows cannot
/// be copied, with the reason.
pub fn serve(request: &str, input: File, output: File) -> io::Result<()> {
    let request: Request = serde_json::from_str(request).map_err(io::Error::other)?;
    limits::set(TABLE_MEMORY_BYTES_MAX, matches!(request, Request::Copy { .. }))?;
    limits::set_for_next()?;
    match request {
        Request::Read(reading) => read(&reading, input, BufWriter::new(output)),
        Request::Copy { selection, text, annotates } => {
            copy::copy(input, output, &selection, &text, annotates).map_err(io::Error::other)
        }
    }
}

fn read(reading: &Reading, input: File, mut output: impl Write) -> io::Result<()> {
    let mut last = 0;
    let end = rows::read(reading, input, &mut |kind, number, bytes| {
        last = number;
        write_frame(&mut output, kind, number, bytes)
    });
    match end {
        Ok(()) => write_frame(&mut output, Frame::End, 0, b""),
        Err(rows::Fault::Refused(what)) => {
            write_frame(&mut output, Frame::Refused, 0, what.as_bytes())
        }
        Err(rows::Fault::Failed(what)) => {
            write_frame(&mut output, Frame::Failed, 0, what.as_bytes())
        }
        Err(rows::Fault::Output(error)) => return Err(error),
    }?;
    output.flush()
}

fn write_frame(output: &mut impl Write, kind: Frame, number: u64, bytes: &[u8]) -> io::Result<()> {
    output.write_all(&[kind as u8])?;
    output.write_all(&number.to_le_bytes())?;
    output.write_all(&(bytes.len() as u64).to_le_bytes())?;
    output.write_all(bytes)
}
