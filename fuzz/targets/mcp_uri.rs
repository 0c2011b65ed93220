//! Bytes from libFuzzer to [`prowess_fuzz::mcp_uri`].
#![cfg_attr(fuzzing, no_main)]

prowess_fuzz::target!(mcp_uri);
