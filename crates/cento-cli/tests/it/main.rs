//! The real binary and the service as users meet them. A single test binary, because each test
//! binary links everything.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod abilities;
mod access;
// The examples use a Linux shell and tools.
#[cfg(target_os = "linux")]
mod book;
mod browser;
mod browser_submissions;
mod browser_tables;
mod census;
mod classes;
mod cli;
mod cli_add;
mod cli_boilerplate;
mod cli_info;
mod cli_join;
mod cli_keyed;
mod cli_merge;
mod cli_options;
mod cli_pairs;
mod cli_remote;
mod cli_search;
mod cli_train;
mod common;
mod compressed;
#[cfg(all(
    any(feature = "office", feature = "parquet"),
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64")
))]
mod confined;
mod cut_boilerplate;
mod cut_passages;
mod decontaminate;
mod dedup;
mod dedup_choice;
#[cfg(feature = "pdf")]
mod documents;
mod documents_of;
mod doors;
mod editions;
mod exchanged;
mod families;
mod follow;
mod forms;
mod fuzz_replay;
#[cfg(feature = "tls")]
mod https;
mod intake;
mod kinds_of_reuse;
mod limits;
mod lineage;
mod lists;
mod mistakes;
mod nginx;
mod nginx_page;
mod node_page;
#[cfg(target_os = "linux")]
mod observed;
mod of_files;
mod one_number;
mod outputs;
mod preference;
mod presets;
mod programs;
mod readers;
mod recovered;
mod reference;
mod reports;
mod serve;
mod service;
mod service_config;
mod submission_names;
// Workers are processes of the command.
#[cfg(feature = "office")]
mod service_files;
mod service_log;
mod several;
mod submissions;
mod tables;
#[cfg(feature = "parquet")]
mod tables_copied;
mod tables_of_lists;
mod text_fields;
mod tune;
mod unreadable;
mod watches;
mod withdraw;
