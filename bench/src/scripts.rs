//! `cargo run --release -p prowess-bench --bin bench-scripts`: the cost of the sandbox in each tier, compared with a plain process.

use std::io::{self, Write};
use std::process::Command;
use std::time::{Duration, Instant};

use prowess::{Policy, Registry};
use prowess_sandbox::{Consent, Protection, RunOptions, SandboxTier, helper_main, run};

const ROUNDS: usize = 41;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    helper_main();
    let registry = Registry::open(Policy::default())?;
    let snapshot = registry.snapshot();
    let skill = snapshot.get("skills-system-validation").ok_or("the bundled skill is missing")?;
    let dir = std::env::temp_dir().join(format!("bench-scripts-{}", std::process::id()));
    std::fs::create_dir_all(&dir)?;
    let script = dir.join("echo.sh");
    std::fs::write(&script, prowess::resources::read_bytes(skill, "scripts/echo.sh")?.bytes)?;
    let bare = median(|| drop(Command::new("/bin/sh").arg(&script).output()));
    let mut out = io::stdout();
    writeln!(out, "bare      {bare:>8.2?}")?;
    for (name, protection) in [
        ("tier 1", Protection::Only(SandboxTier::Tier1)),
        ("tier 2", Protection::Only(SandboxTier::Tier2)),
        ("no tier", Protection::Unsafe),
    ] {
        let once = || {
            let mut options = RunOptions::from_registry(&registry);
            (options.consent, options.protection, options.log) = (Consent::Given, protection, None);
            run(skill, "scripts/echo.sh", &[], options)
        };
        match once() {
            Ok(_) => {
                let time = median(|| drop(once()));
                writeln!(out, "{name:9} {time:>8.2?}  {:>8.2?} more", time.saturating_sub(bare))?;
            }
            Err(error) => writeln!(out, "{name:9} {error}")?,
        }
    }
    std::fs::remove_dir_all(dir)?;
    Ok(())
}

/// Returns the median time.
fn median(mut work: impl FnMut()) -> Duration {
    let mut times: Vec<_> = (0..ROUNDS)
        .map(|_| {
            let start = Instant::now();
            work();
            start.elapsed()
        })
        .collect();
    times.sort();
    times[ROUNDS / 2]
}
