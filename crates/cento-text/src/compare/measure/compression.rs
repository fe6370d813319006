//! Measures by compression: the size that two texts save when compressed together.

mod compressors;

use super::family::Family;

const FINKEL: &str = "Finkel, Zaslavsky, Monostori and Schmidt 2002, section 4.3";

/// Measures of the saving when some compressor compresses both texts together.
const COMPRESSION: Family = Family {
    source: FINKEL,
    costs: "slow",
    steps: |a, b| 20 * (a.text.len() + b.text.len()) as u64,
    ..Family::PLAIN
};

pub(super) const GZIP: Family = Family {
    name: "gzip",
    summary: "what compressing both texts together by gzip saves, which forgets after 32 KiB",
    example: "gzip",
    purpose: "any data; unrelated texts have 0.1 to 0.3",
    similarity: |texts| compressors::similarity(texts, compressors::gzip),
    ..COMPRESSION
};

pub(super) const BZIP2: Family = Family {
    name: "bzip2",
    summary: "what compressing both texts together by bzip2 saves",
    example: "bzip2",
    purpose: "any data; unrelated texts have 0.1 to 0.3",
    similarity: |texts| compressors::similarity(texts, compressors::bzip2),
    ..COMPRESSION
};

pub(super) const PPM: Family = Family {
    name: "ppm",
    summary: "what compressing both texts together by PPMd saves",
    example: "ppm",
    purpose: "any data; unrelated texts have 0.1 to 0.3",
    similarity: |texts| compressors::similarity(texts, compressors::ppm),
    ..COMPRESSION
};
