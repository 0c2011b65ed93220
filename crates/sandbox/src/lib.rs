//! The scripts of skills, run in a sandbox.
//!
//! | module | subject |
//! |---|---|
//! | `gate`, `covers` | whether a script may run: the user's word, and the skill's own |
//! | `interpreter`, `locate` | what runs it, and where that lies |
//! | `prepare` | all of that together |
//! | `stage` | the verified files, laid out for one run |
//! | `start` | a script that is left running, for those who talk to it |
//! | [`sandbox`] | what can be enforced, and enforcing it |
//! | `helper` | Prowess, started again to be confined |
//! | `watch` | output and time |
//! | `meter` | memory, processes and files that a script takes |
//! | [`log`] | what was run |
//!
//! What must always hold: the bytes that were hashed and judged are the bytes that run; a script that cannot be confined
//! does not run; and when [`run`] returns, nothing of it is left, neither processes nor files.

#![cfg_attr(
    any(not(target_os = "linux"), prowess_portable),
    allow(dead_code, reason = "much of it is for those who have a sandbox")
)]

mod covers;
mod error;
mod gate;
#[cfg(all(target_os = "linux", not(prowess_portable)))]
mod helper;
mod interpreter;
mod locate;
pub mod log;
mod meter;
mod options;
mod prepare;
mod processes;
mod ran;
pub mod sandbox;
mod stage;
mod start;
mod status;
mod watch;
#[cfg(all(target_os = "linux", not(prowess_portable)))]
mod wire;

use std::time::Instant;

use prowess::Skill;
pub use prowess::policy::RunLimits as Limits;

pub use error::RunError;
pub use gate::consent;
pub use gate::{Variable, entry, is_allowed, is_any_allowed, network, variables};
#[cfg(all(target_os = "linux", not(prowess_portable)))]
pub use helper::helper_main;
pub use interpreter::runner;
pub use options::{Cancel, Consent, Helper, Input, Network, OnOutput, Options, Protection};
pub use ran::{Limit, Ran, Stream, Tier};
pub use sandbox::SandboxError;
pub use start::{Ready, Started, ready};
pub use status::{Status, status};

use log::{End, Record};
use prepare::prepare;

/// There is nothing to become where there is no sandbox.
#[cfg(any(not(target_os = "linux"), prowess_portable))]
pub fn helper_main() {}

/// Runs a script of a skill and waits until it and everything it started has ended.
///
/// ```no_run
/// use prowess::{Policy, Registry};
/// use prowess_sandbox::{Consent, Options, helper_main, run};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// helper_main();   // first thing: this program is also the sandbox's helper
/// let registry = Registry::open(Policy::default())?;
/// let snapshot = registry.snapshot();
/// let skill = snapshot.get("skills-system-validation").ok_or("it is bundled")?;
/// let mut options = Options::of(&registry);
/// options.consent = Consent::Given;
/// let ran = run(skill, "scripts/echo.sh", &[], options)?;
/// assert!(ran.stdout_text().contains("PROWESS_SCRIPT_MARKER_"));
/// # Ok(())
/// # }
/// ```
pub fn run(
    skill: &Skill,
    script: &str,
    arguments: &[String],
    mut options: Options<'_>,
) -> Result<Ran, RunError> {
    let begun = Instant::now();
    let prepared = prepare(skill, script, arguments, &options)?;
    let mut record = prepared.record(skill, arguments.len());
    let log = options.log.take();
    let recorded = |record: &Record| match &log {
        Some(path) => {
            log::append(path, record).map_err(|why| RunError::Log { path: path.display().to_string(), why })
        }
        None => Ok(()),
    };
    recorded(&record)?;
    let unrecorded = grants_recorded(skill, &options);
    let mut outcome = prepared.run(&mut options);
    if let Ok(outcome) = &mut outcome {
        outcome.remarks.extend(unrecorded);
    }
    record.end = Some(match &outcome {
        Ok(outcome) => {
            record.sandbox = Some(outcome.tier.to_string());
            outcome.end(begun)
        }
        Err(error) => End { error: Some(error.to_string()), ..End::default() },
    });
    let recorded = recorded(&record);
    let outcome = outcome?;
    recorded?;
    Ok(outcome.ran(begun, record))
}

/// Sees to it that the lock of an installed skill says what the user grants to it, and says why it cannot. Each run has
/// its own record besides, without which it does not begin.
fn grants_recorded(skill: &Skill, options: &Options<'_>) -> Option<String> {
    let granted = prowess::grants::granted(skill, &options.policy.run, options.world);
    let recorded = prowess::lock::record(skill, &granted, options.world);
    recorded.err().map(|error| format!("the lock cannot be told what is granted: {error}"))
}

struct Outcome {
    seen: watch::Seen,
    tier: Tier,
    remarks: Vec<String>,
}

impl Outcome {
    fn end(&self, begun: Instant) -> End {
        End {
            exit_code: self.seen.exit_code,
            signal: self.seen.signal,
            truncated: self.seen.limits_hit.contains(&Limit::Output),
            timed_out: self.seen.limits_hit.contains(&Limit::Time),
            limits_hit: self.seen.limits_hit.iter().map(ToString::to_string).collect(),
            left_behind: self.seen.left_behind,
            duration_ms: milliseconds(begun),
            error: None,
        }
    }

    fn ran(self, begun: Instant, record: Record) -> Ran {
        Ran {
            exit_code: self.seen.exit_code,
            signal: self.seen.signal,
            truncated: self.seen.limits_hit.contains(&Limit::Output),
            timed_out: self.seen.limits_hit.contains(&Limit::Time),
            cancelled: self.seen.cancelled,
            stdout: self.seen.stdout,
            stderr: self.seen.stderr,
            duration_ms: milliseconds(begun),
            sandbox: self.tier,
            limits_hit: self.seen.limits_hit,
            left_behind: self.seen.left_behind,
            digest: record.digest,
            tree: record.tree,
            remarks: self.remarks,
        }
    }
}

fn milliseconds(begun: Instant) -> u64 {
    u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX)
}
