//! Tools for those who work on cento.

fn main() {}
