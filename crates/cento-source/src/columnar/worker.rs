//! The main function of the process that reads Parquet and Arrow files.

use std::fs::File;
use std::io::{self, BufWriter, Write};

use cento::Refusal;

use super::REASONS;
use super::input::Input;
use super::{Frame, Request, TABLE_MEMORY_BYTES_MAX, TableRequest, copy, rows};
use crate::worker::{confine, set_for_next};

/// Returns a stream of this process as a file, because parts are read in any order, which the
/// streams of the standard library do not support.
#[cfg(unix)]
fn own(stream: &impl std::os::fd::AsFd) -> io::Result<File> {
    Ok(stream.as_fd().try_clone_to_owned()?.into())
}

/// Returns a stream of this process as a file.
#[cfg(windows)]
fn own(stream: &impl std::os::windows::io::AsHandle) -> io::Result<File> {
    Ok(stream.as_handle().try_clone_to_owned()?.into())
}

/// Answers one request, in JSON, about the file that is standard input.
///
/// The process is limited and confined for good, so it cannot do anything else afterwards.
///
/// # Errors
/// When the request is invalid, the system sets no limits, or the output cannot be written. Also
/// when rows cannot be copied, or the system refuses to confine the process, with the reason.
pub fn serve(request: &str) -> io::Result<()> {
    let (input, output) = (own(&io::stdin())?, own(&io::stdout())?);
    let request: Request = serde_json::from_str(request).map_err(io::Error::other)?;
    match request {
        Request::Read(reading) => {
            let input = Input::new(input)?;
            let confined = confine(TABLE_MEMORY_BYTES_MAX, false);
            set_for_next()?;
            read(confined, &reading, input, BufWriter::new(output))
        }
        Request::Copy { selection, text, annotation } => {
            let (input, selection) = (Input::new(input)?, File::open(selection)?);
            confine(TABLE_MEMORY_BYTES_MAX, true).map_err(io::Error::other)?;
            set_for_next()?;
            copy::copy(input, output, &selection, &text, annotation).map_err(io::Error::other)
        }
    }
}

fn read(
    confined: Result<(), String>,
    reading: &TableRequest,
    input: Input,
    mut output: impl Write,
) -> io::Result<()> {
    let end = confined.map_err(rows::Fault::Failed).and_then(|()| {
        rows::read(reading, input, &mut |kind, number, bytes| {
            write_frame(&mut output, kind, number, bytes)
        })
    });
    match end {
        Ok(()) => write_frame(&mut output, Frame::End, 0, b""),
        Err(rows::Fault::Refused(refusal)) => {
            let Refusal { reason, what } = refusal;
            // Counted from 1, because 0 means that there is no reason.
            let number = REASONS.iter().position(|known| reason == Some(*known));
            let number = number.map_or(0, |at| at as u64 + 1);
            write_frame(&mut output, Frame::Refused, number, what.as_bytes())
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
