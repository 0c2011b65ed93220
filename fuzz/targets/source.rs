//! Bytes from libFuzzer to [`prowess_fuzz::source`].
#![cfg_attr(fuzzing, no_main)]

prowess_fuzz::target!(source);
