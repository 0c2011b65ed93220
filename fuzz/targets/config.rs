//! Bytes from libFuzzer to [`prowess_fuzz::config`].
#![cfg_attr(fuzzing, no_main)]

prowess_fuzz::target!(config);
