//! Packs the relative relocations of the binary (`DT_RELR`) if the C library supports it.
//!
//! The loader applies tens of thousands of relocations at each start; packing them saves 1.5 MB. This requires glibc
//! 2.36: a packed binary does not start with an older version.

#![allow(clippy::print_stdout, reason = "build scripts communicate with cargo through standard output")]

use std::env::var;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is_native = var("HOST").is_ok_and(|host| var("TARGET").is_ok_and(|target| host == target));
    let is_glibc = var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "linux")
        && var("CARGO_CFG_TARGET_ENV").is_ok_and(|env| env == "gnu");
    if is_native && is_glibc && glibc_version().is_some_and(|version| version >= (2, 36)) {
        println!("cargo::rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
}

/// Returns the version of glibc, or `None` for another C library.
fn glibc_version() -> Option<(u32, u32)> {
    let output = Command::new("getconf").arg("GNU_LIBC_VERSION").output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let (major, minor) = text.trim().strip_prefix("glibc ")?.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}
