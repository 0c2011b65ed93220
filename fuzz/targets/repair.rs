//! Bytes from libFuzzer to [`prowess_fuzz::repair`].
#![cfg_attr(fuzzing, no_main)]

prowess_fuzz::target!(repair);
