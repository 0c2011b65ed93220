//! Bytes from libFuzzer to [`prowess_fuzz::mcp_uri`].
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| prowess_fuzz::mcp_uri(bytes));
