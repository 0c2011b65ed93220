//! Bytes from libFuzzer to [`prowess_fuzz::well_known`].
#![cfg_attr(fuzzing, no_main)]

prowess_fuzz::target!(well_known);
