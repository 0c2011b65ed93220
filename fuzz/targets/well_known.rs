//! Bytes from libFuzzer to [`prowess_fuzz::well_known`].
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| prowess_fuzz::well_known(bytes));
