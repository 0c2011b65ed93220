//! `bench-refresh TREE PASSES SKILLS`: opens a registry on the tree, which must find SKILLS of them, then refreshes it
//! PASSES times with nothing changed and prints the nanoseconds of each pass.
//!
//! The one place of the benchmark that calls the library; [`open`] and [`refresh`] are all it needs of it. It is a
//! program of its own because it must look like an embedder's process, and because a registry of 100,000 skills inside
//! the runner would add to the memory of everything the runner starts.

use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use prowess::{Policy, Preset, Registry};

fn open(root: PathBuf) -> io::Result<Registry> {
    Registry::open(Policy::from_preset(Preset::Standard).with_roots([root])).map_err(io::Error::other)
}

/// Whether it found that nothing changed.
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
    let found = registry.snapshot().enabled().count();
    if found != skills {
        return Err(io::Error::other(format!("{found} skills instead of {skills}")));
    }
    for _ in 0..passes {
        let start = Instant::now();
        let unchanged = refresh(&registry);
        let took = start.elapsed();
        if !unchanged {
            return Err(io::Error::other("the tree changed"));
        }
        writeln!(io::stdout(), "{}", took.as_nanos())?;
    }
    Ok(())
}
