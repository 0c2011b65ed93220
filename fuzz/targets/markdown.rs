//! Bytes from libFuzzer to [`prowess_fuzz::markdown`].
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| prowess_fuzz::markdown(bytes));
