//! Bytes from libFuzzer to [`prowess_fuzz::audit`].
#![cfg_attr(fuzzing, no_main)]

prowess_fuzz::target!(audit);
