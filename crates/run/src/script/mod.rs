//! The scripts of skills, run in a sandbox.
//!
//! | module | subject |
//! |---|---|
//! | `gate`, `covers` | whether a script may run: the user's word, and the skill's own |
//! | `interpreter`, `locate` | what runs it, and where that lies |
//! | `stage` | the verified files, laid out for one run |
//! | [`sandbox`] | what can be enforced, and enforcing it |
//! | `helper` | Prowess, started again to be confined |
//! | `watch` | output, time, and what a script takes |
//! | [`log`] | what was run |
//!
//! What must always hold: the bytes that were hashed and judged are the bytes that run; a script that cannot be confined
//! does not run; and when [`run`] returns, nothing of it is left, neither processes nor files.

mod covers;
mod error;
mod gate;
#[cfg(target_os = "linux")]
mod helper;
mod interpreter;
mod limits;
mod locate;
pub mod log;
mod options;
mod processes;
mod ran;
pub mod sandbox;
mod stage;
mod status;
mod watch;

use std::ffi::OsString;
use std::time::Instant;

use prowess::Skill;
use prowess::resource;

pub use error::RunError;
pub use gate::{Variable, entry, is_allowed, is_any_allowed, network, variables};
#[cfg(target_os = "linux")]
pub use helper::helper_main;
pub use limits::Limits;
pub use options::{Cancel, Consent, Helper, Input, Network, OnOutput, Options, Protection};
pub use ran::{Limit, Ran, Stream};
pub use sandbox::{SandboxError, Tier};
pub use status::{Status, status};

use interpreter::Runner;
use log::{End, Record};
use sandbox::{Enforced, Task, unused_user};
use stage::Stage;

/// Where programs are looked up inside.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// There is nothing to become where there is no sandbox.
#[cfg(not(target_os = "linux"))]
pub fn helper_main() {}

/// Runs a script of a skill and waits until it and everything it started has ended.
///
/// ```no_run
/// use prowess::{Policy, Registry};
/// use prowess_run::script::{Consent, Options, helper_main, run};
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
    let outcome = prepared.run(&mut options);
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

/// A script that is confined and begins when it is told to, for those who talk to it while it runs. What must be kept
/// until it has ended is in [`Started::stage`].
pub fn start(
    skill: &Skill,
    script: &str,
    arguments: &[String],
    options: Options<'_>,
) -> Result<Started, RunError> {
    let prepared = prepare(skill, script, arguments, &options)?;
    let record = prepared.record(skill, arguments.len());
    if let Some(path) = &options.log {
        log::append(path, &record).map_err(|why| RunError::Log { path: path.display().to_string(), why })?;
    }
    let (enforced, remarks) = prepared.enforce(&options)?;
    let running = enforced.spawn().map_err(|error| RunError::Sandbox(vec![error]))?;
    Ok(Started { running, remarks, _stage: prepared.stage })
}

/// A script that runs, with whoever started it talking to it. Dropping it ends it.
#[derive(Debug)]
pub struct Started {
    /// The script.
    pub running: sandbox::Running,
    /// Why no better protection was to be had.
    pub remarks: Vec<String>,
    _stage: Stage,
}

/// Everything that is known before anything is confined.
struct Prepared {
    script: String,
    digest: String,
    tree: String,
    program: std::path::PathBuf,
    arguments: Vec<String>,
    readable: Vec<std::path::PathBuf>,
    environment: Vec<(String, OsString)>,
    network: Network,
    user: Option<u32>,
    stage: Stage,
}

fn prepare(
    skill: &Skill,
    script: &str,
    arguments: &[String],
    options: &Options<'_>,
) -> Result<Prepared, RunError> {
    let (policy, world) = (options.policy, options.world);
    gate::arguments(arguments)?;
    // Whoever may not use the skill learns that first, and not whether its scripts would be allowed.
    let material = resource::material(skill)?;
    gate::consent(skill, policy, world, options.consent)?;
    let (script, file) = material.file(script)?;
    let runner = interpreter::runner(&script, &file.bytes)?;
    let user = unused_user().map_err(|error| RunError::Sandbox(vec![error]))?;
    let located = locate_runner(&script, &runner, world, user)?;
    let tools = skill.manifest().and_then(|manifest| manifest.allowed_tools());
    if let Some(tools) = tools
        && !covers::covers(tools, &located.name, &script, arguments)
    {
        return Err(RunError::AllowedTools {
            skill: prowess::format::hidden::shown(&skill.name()).into_owned(),
            script,
            allowed: tools.iter().map(|tool| prowess::format::hidden::shown(tool).into_owned()).collect(),
        });
    }
    let digest = file.digest();
    let stage = Stage::new(&sandbox::scratch_parent(), &material, user)
        .map_err(|why| RunError::Io { what: "the scratch folder cannot be made", why })?;
    let at = stage.skill.join(&script);
    let (program, mut all) = match located.program {
        Some(program) => (program, located.arguments),
        None => (at.clone(), Vec::new()),
    };
    if program != at {
        all.push(at.display().to_string());
    }
    all.extend(arguments.iter().cloned());
    let network = options.network.unwrap_or_else(|| gate::network(skill, policy, world));
    let mut environment = own_environment(&stage, &program);
    let granted = gate::granted(skill, policy, world, &options.environment);
    environment.extend(granted);
    Ok(Prepared {
        digest,
        tree: material.tree,
        script,
        program,
        arguments: all,
        readable: located.needs,
        environment,
        network,
        user,
        stage,
    })
}

/// What runs a script, found.
struct Found {
    name: String,
    /// None where the script is a program itself.
    program: Option<std::path::PathBuf>,
    arguments: Vec<String>,
    needs: Vec<std::path::PathBuf>,
}

fn locate_runner(
    script: &str,
    runner: &Runner,
    world: &prowess::Surroundings,
    user: Option<u32>,
) -> Result<Found, RunError> {
    let Runner::Interpreter { names, arguments } = runner else {
        return Ok(Found {
            name: script.to_owned(),
            program: None,
            arguments: Vec::new(),
            needs: Vec::new(),
        });
    };
    let mut absent = locate::Absent::Nowhere;
    for name in names {
        match locate::locate(name, &world.path, user) {
            Ok(located) => {
                return Ok(Found {
                    name: name.clone(),
                    program: Some(located.program),
                    arguments: arguments.clone(),
                    needs: located.needs,
                });
            }
            Err(locate::Absent::Nowhere) => {}
            Err(out_of_reach) => absent = out_of_reach,
        }
    }
    let name = names.first().cloned().unwrap_or_default();
    Err(RunError::Missing {
        script: prowess::format::hidden::shown(script).into_owned(),
        install: interpreter::install(&name),
        name: prowess::format::hidden::shown(&name).into_owned(),
        why: absent.why(),
    })
}

fn own_environment(stage: &Stage, program: &std::path::Path) -> Vec<(String, OsString)> {
    let scratch = stage.scratch.clone().into_os_string();
    let mut path = OsString::from(PATH);
    // What a script starts by name is what runs it.
    if let Some(folder) =
        program.parent().filter(|folder| !PATH.split(':').any(|known| folder.as_os_str() == known))
    {
        path = folder.as_os_str().to_owned();
        path.push(":");
        path.push(PATH);
    }
    let own = [("PATH", path), ("LANG", "C.UTF-8".into()), ("HOME", scratch.clone()), ("TMPDIR", scratch)];
    own.map(|(name, value)| (name.to_owned(), value)).to_vec()
}

impl Prepared {
    fn record(&self, skill: &Skill, arguments: usize) -> Record {
        Record {
            skill: skill.name().into_owned(),
            scope: skill.root().scope().as_str().to_owned(),
            script: self.script.clone(),
            arguments,
            digest: self.digest.clone(),
            tree: self.tree.clone(),
            interpreter: self.program.display().to_string(),
            network: self.network == Network::On,
            env: self.environment.iter().skip(4).map(|(name, _)| name.clone()).collect(),
            ..log::begun()
        }
    }

    /// The best protection that can be had, and why no better one could.
    fn enforce(&self, options: &Options<'_>) -> Result<(Enforced, Vec<String>), RunError> {
        let task = Task {
            program: self.program.clone(),
            arguments: self.arguments.clone(),
            environment: self.environment.clone(),
            skill: &self.stage.skill,
            scratch: &self.stage.scratch,
            readable: self.readable.clone(),
            limits: &options.limits,
            network: self.network,
            input: options.input.clone(),
            user: self.user,
        };
        let ways = match options.protection {
            Protection::Required => sandbox::ways(&options.helper, None),
            Protection::Only(tier) => sandbox::ways(&options.helper, Some(tier)),
            Protection::Unsafe => vec![sandbox::unprotected(&options.helper)],
        };
        let mut failed = Vec::new();
        for way in ways {
            match way.enforce(&task) {
                Ok(enforced) => return Ok((enforced, failed.iter().map(SandboxError::to_string).collect())),
                Err(error) => failed.push(error),
            }
        }
        Err(RunError::Sandbox(failed))
    }

    fn run(self, options: &mut Options<'_>) -> Result<Outcome, RunError> {
        let (enforced, remarks) = self.enforce(options)?;
        let running = enforced.spawn().map_err(|error| RunError::Sandbox(vec![error]))?;
        let tier = running.tier();
        let seen = watch::watch(
            running,
            &options.limits,
            &self.stage.scratch,
            &options.cancel,
            &mut options.on_output,
        )
        .map_err(|why| RunError::Io { what: "the script cannot be watched", why })?;
        match seen.not_started {
            Some(why) => Err(RunError::NotStarted(why)),
            None => Ok(Outcome { seen, tier, remarks }),
        }
    }
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
            digest: record.digest,
            tree: record.tree,
            remarks: self.remarks,
        }
    }
}

fn milliseconds(begun: Instant) -> u64 {
    u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX)
}
