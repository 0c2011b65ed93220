//! `bench-refresh TREE PASSES`: opens a registry on the tree, then refreshes it PASSES times with nothing changed and
//! prints the nanoseconds of each pass.
//!
//! The one place of the benchmark that calls the library; [`open`] and [`refresh`] are all it needs of it. It is a
//! program of its own because it must look like an embedder's process, and because a registry of 100,000 skills inside
//! the runner would add to the memory of everything the runner starts.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use prowess::Registry;

fn open(root: &Path) -> io::Result<Registry> {
    Registry::open([root]).map_err(io::Error::other)
}

fn refresh(registry: &mut Registry) -> io::Result<()> {
    registry.refresh().map(drop).map_err(io::Error::other)
}

fn main() -> io::Result<()> {
    let usage = || io::Error::other("bench-refresh TREE PASSES");
    let mut args = std::env::args().skip(1);
    let root = args.next().map(PathBuf::from).ok_or_else(usage)?;
    let passes: u32 = args.next().and_then(|passes| passes.parse().ok()).ok_or_else(usage)?;
    let mut registry = open(&root)?;
    for _ in 0..passes {
        let start = Instant::now();
        refresh(&mut registry)?;
        writeln!(io::stdout(), "{}", start.elapsed().as_nanos())?;
    }
    Ok(())
}
