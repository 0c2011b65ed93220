//! Bytes from libFuzzer to [`prowess_fuzz::route_vectors`].
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| prowess_fuzz::route_vectors(bytes));
