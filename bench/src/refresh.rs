//! `bench-refresh TREE PASSES SKILLS`: opens a registry on the tree, which must contain SKILLS skills, refreshes it PASSES times
//! without changes, and prints the nanoseconds of each pass.
//!
//! It is a separate program like one that embeds the library, and because a registry of 100,000 skills in the runner would
//! increase the measured memory of all its children.

use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use prowess::{Policy, Preset, Registry};

fn open(root: PathBuf) -> io::Result<Registry> {
    Registry::open(Policy::from_preset(Preset::Standard).with_roots([root])).map_err(io::Error::other)
}

/// Refreshes the registry. Returns `true` if nothing changed.
fn refresh(registry: &Registry) -> bool {
    Arc::ptr_eq(&registry.snapshot(), &registry.refresh())
}

fn main() -> io::Result<()> {
    let usage = || io::Error::other("bench-refresh TREE PASSES SKILLS");
    let mut args = std::env::args().skip(1);
    let root = args.next().map(PathBuf::from).ok_or_else(usage)?;
    let passes: u32 = args.next().and_then(|passes| passes.parse().ok()).ok_or_else(usage)?;
    let skills: usize = args.next().and_then(|skills| skills.parse().ok()).ok_or_else(usage)?;
    let registry = open(root)?;
    let count = registry.snapshot().enabled().count();
    if count != skills {
        return Err(io::Error::other(format!("{count} skills instead of {skills}")));
    }
    for _ in 0..passes {
        let start = Instant::now();
        let unchanged = refresh(&registry);
        let elapsed = start.elapsed();
        if !unchanged {
            return Err(io::Error::other("the tree changed"));
        }
        writeln!(io::stdout(), "{}", elapsed.as_nanos())?;
    }
    Ok(())
}
