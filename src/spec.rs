//! The name(key=value) syntax of scheme and analyser specifications.
