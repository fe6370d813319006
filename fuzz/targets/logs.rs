#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| cento_fuzz::logs(data));
