//! The `cento` command: see [`cento::cli`].

use std::process::ExitCode;

fn main() -> ExitCode {
    cento::cli::main()
}
