//! From a skill and a path to everything that has to be known before anything is confined.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use prowess::format::hidden;
use prowess::policy::AllowedTools;
use prowess::{Skill, Surroundings, resource};

use super::error::RunError;
use super::interpreter::{self, Runner};
use super::log::{self, Record};
use super::meter::Meter;
use super::options::{Feed, Means, Network, Options, Protection};
use super::sandbox::{self, Enforced, SandboxError, Task, unused_user};
use super::stage::Stage;
use super::{Outcome, covers, gate, locate, watch};

/// Where programs are looked up inside.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// Everything that is known before anything is confined.
pub(super) struct Prepared {
    script: String,
    digest: String,
    pub(super) tree: String,
    program: PathBuf,
    arguments: Vec<String>,
    readable: Vec<PathBuf>,
    environment: Vec<(String, OsString)>,
    network: Network,
    user: Option<u32>,
    pub(super) stage: Stage,
}

pub(super) fn prepare(
    skill: &Skill,
    script: &str,
    arguments: &[String],
    options: &Options<'_>,
) -> Result<Prepared, RunError> {
    let (policy, world) = (options.policy, options.world);
    gate::arguments(arguments, &options.limits)?;
    // Whoever may not use the skill learns that first, and not whether its scripts would be allowed.
    let material = resource::material(skill)?;
    gate::consent(skill, options)?;
    let (script, file) = material.file(script)?;
    let runner = interpreter::runner(&script, &file.bytes)?;
    let user = unused_user().map_err(|error| RunError::Sandbox(vec![error]))?;
    let located = locate_runner(&script, &runner, world, user)?;
    let tools = match policy.run.allowed_tools {
        AllowedTools::Required => skill.manifest().and_then(|manifest| manifest.allowed_tools()),
        AllowedTools::Advisory => None,
    };
    if let Some(tools) = tools
        && !covers::covers(tools, &located.name, &script, arguments)
    {
        return Err(RunError::AllowedTools {
            skill: hidden::shown(&skill.name()).into_owned(),
            script,
            allowed: tools.iter().map(|tool| hidden::shown(tool).into_owned()).collect(),
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
    program: Option<PathBuf>,
    arguments: Vec<String>,
    needs: Vec<PathBuf>,
}

fn locate_runner(
    script: &str,
    runner: &Runner,
    world: &Surroundings,
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
        script: hidden::shown(script).into_owned(),
        install: interpreter::install(&name),
        name: hidden::shown(&name).into_owned(),
        why: absent.why(),
    })
}

fn own_environment(stage: &Stage, program: &Path) -> Vec<(String, OsString)> {
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
    pub(super) fn record(&self, skill: &Skill, arguments: usize) -> Record {
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

    /// What measures the script while it runs.
    pub(super) fn meter(&self) -> Meter {
        Meter::new(&self.stage.scratch, self.network)
    }

    /// The best protection that can be had, and why no better one could.
    pub(super) fn enforce(&self, means: &Means) -> Result<(Enforced, Vec<String>), RunError> {
        let task = Task {
            program: self.program.clone(),
            arguments: self.arguments.clone(),
            environment: self.environment.clone(),
            skill: &self.stage.skill,
            scratch: &self.stage.scratch,
            readable: self.readable.clone(),
            limits: &means.limits,
            network: self.network,
            input: means.feed.clone(),
            user: self.user,
        };
        let ways = match means.protection {
            Protection::Required => sandbox::ways(&means.helper, None),
            Protection::Only(tier) => sandbox::ways(&means.helper, Some(tier)),
            Protection::Unsafe => vec![sandbox::unprotected(&means.helper)],
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

    pub(super) fn run(self, options: &mut Options<'_>) -> Result<Outcome, RunError> {
        let means = options.means(Feed::Given(options.input.clone()));
        let (enforced, remarks) = self.enforce(&means)?;
        let running = enforced.spawn().map_err(|error| RunError::Sandbox(vec![error]))?;
        let tier = running.tier();
        let seen =
            watch::watch(running, &options.limits, self.meter(), &options.cancel, &mut options.on_output)
                .map_err(|why| RunError::Io { what: "the script cannot be watched", why })?;
        match seen.not_started {
            Some(why) => Err(RunError::NotStarted(why)),
            None => Ok(Outcome { seen, tier, remarks }),
        }
    }
}
