//! Bytes from libFuzzer to [`prowess_fuzz::route_index`].
#![cfg_attr(fuzzing, no_main)]

prowess_fuzz::target!(route_index);
