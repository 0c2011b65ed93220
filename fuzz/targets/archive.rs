//! Bytes from libFuzzer to [`prowess_fuzz::archive`].
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| prowess_fuzz::archive(bytes));
