//! Bytes from libFuzzer to [`prowess_fuzz::skill_md`].
#![cfg_attr(fuzzing, no_main)]

prowess_fuzz::target!(skill_md);
