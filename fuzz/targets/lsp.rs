//! Bytes from libFuzzer to [`prowess_fuzz::lsp`].
#![cfg_attr(fuzzing, no_main)]

prowess_fuzz::target!(lsp);
