//! From flags, environment and files to a registry.

use std::path::PathBuf;

use prowess::{Policy, Registry, Surroundings};
use prowess_config::{Configuration, Inputs, Layer, Origin};
use prowess_mcp::host::Sources;
use prowess_server::LoadError;

use crate::args::Global;
use crate::failure::Failure;
use crate::output::{Output, clean_path};
use crate::progress;

/// What every command works with.
pub(crate) struct Context {
    pub(crate) surroundings: Surroundings,
    /// What the configuration was read from, to read it again.
    pub(crate) inputs: Inputs,
    /// The directories of `--root`.
    pub(crate) roots: Vec<PathBuf>,
    pub(crate) configuration: Configuration,
    /// The servers that skills are taken from. None is asked before it has to be.
    pub(crate) sources: Sources,
}

impl Context {
    /// Reads flags, environment and files. A configuration of the user's that is wrong is a failure; a project's is a
    /// remark.
    pub(crate) fn load(global: &Global, output: &mut Output) -> Result<Self, Failure> {
        let context = Self::load_leniently(global)?;
        let diagnostics = &context.configuration.diagnostics;
        if !diagnostics.is_empty() {
            crate::output::print_located(output, diagnostics);
        }
        if let Some(failure) = context.wrong(output) {
            return Err(failure.hint("prowess config shows what is in force"));
        }
        context.prune_mcp_caches();
        Ok(context)
    }

    /// Removes the caches of MCP servers that the user's configuration no longer names. One that is replaced for this call,
    /// or by the preset of a project, says nothing about which servers the user has.
    fn prune_mcp_caches(&self) {
        let preset = self.configuration.settings.iter().find(|setting| setting.key == "preset");
        let users_own = preset.is_none_or(|setting| {
            matches!(setting.origin, Origin::Preset(_) | Origin::File { layer: Layer::User, .. })
        });
        if users_own && self.roots.is_empty() && self.inputs.file.is_none() {
            prowess_mcp::host::prune(&self.configuration.mcp_sources, &self.surroundings);
        }
    }

    /// That the configuration has errors. People have read them by then; a program reads the first here.
    pub(crate) fn wrong(&self, output: &Output) -> Option<Failure> {
        let first = self.configuration.first_error()?;
        let what = match output.json() {
            // A variable has a name, but no path.
            true if !first.path.is_absolute() => format!(": {}", first.diagnostic.message),
            true => format!(": {}: {}", clean_path(&first.path), first.diagnostic.message),
            false => String::new(),
        };
        Some(Failure::call(format!("the configuration is wrong{what}")))
    }

    /// Reads flags, environment and files as [`Context::load`] does, for a program that has a valid configuration already and
    /// keeps it where this fails.
    pub(crate) fn load_strictly(global: &Global) -> Result<Self, LoadError> {
        let mut context = Self::load_leniently(global)
            .map_err(|failure| LoadError::Configuration(failure.into_message()))?;
        context.configuration = context.configuration.check()?;
        Ok(context)
    }

    /// The same without complaining, for the commands that report on the configuration itself.
    pub(crate) fn load_leniently(global: &Global) -> Result<Self, Failure> {
        let surroundings = surroundings(global)?;
        let inputs = Inputs {
            surroundings: surroundings.clone(),
            preset: global.preset,
            file: global.config.as_ref().map(absolute).transpose()?,
            environment: environment(),
        };
        let mut configuration = prowess_config::load(&inputs);
        let roots = global.root.iter().map(absolute).collect::<Result<Vec<_>, _>>()?;
        if !roots.is_empty() {
            configuration = configuration.with_roots(roots.iter().cloned());
        }
        let sources = Sources::new(&configuration.mcp_sources, &surroundings, std::env::vars_os());
        Ok(Self { surroundings, inputs, roots, configuration, sources })
    }

    pub(crate) fn policy(&self) -> &Policy {
        &self.configuration.policy
    }

    /// Scans, showing how far it is if that takes long. Servers are asked for their skills, too.
    pub(crate) fn registry(&self, global: &Global) -> Registry {
        progress::during(global, "scanning", |progress| {
            let supplies = if self.policy().enabled { self.sources.supplies() } else { Vec::new() };
            Registry::open_with(self.policy().clone(), self.surroundings.clone(), supplies, progress)
        })
    }

    /// The same for skills of these names. No server is asked for a name that none of its skills can have.
    pub(crate) fn registry_of(&self, global: &Global, names: &[&str]) -> Registry {
        if names.iter().any(|name| name.contains('/')) {
            return self.registry(global);
        }
        progress::during(global, "scanning", |progress| {
            Registry::open_in(self.policy().clone(), self.surroundings.clone(), progress)
        })
    }
}

/// Fails where a path of a global flag does not exist, in every command: what it would have held must not be taken for
/// nothing. A home that is named by a variable need not exist: programs are started with one before anything is in it.
pub(crate) fn require_paths(global: &Global) -> Result<(), Failure> {
    let directories = global
        .root
        .iter()
        .map(|root| (root, "--root", "name an existing directory of skills"))
        .chain(global.project.iter().map(|path| (path, "--project", "name an existing directory")))
        .chain(global.home.iter().map(|path| (path, "--home", "name an existing directory")));
    for (path, flag, hint) in directories {
        require(path, flag, true).map_err(|failure| failure.hint(hint))?;
    }
    match &global.config {
        Some(path) => require(path, "--config", false)
            .map_err(|failure| failure.hint("name an existing file, or leave the flag out")),
        None => Ok(()),
    }
}

fn require(path: &PathBuf, flag: &str, directory: bool) -> Result<(), Failure> {
    let path = absolute(path)?;
    let why = match std::fs::metadata(&path) {
        Ok(found) if found.is_dir() == directory => return Ok(()),
        Ok(_) if directory => "it is not a directory".to_owned(),
        Ok(_) => "it is a directory".to_owned(),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => "it does not exist".to_owned(),
        Err(error) => error.kind().to_string(),
    };
    Err(Failure::call(format!("cannot open {} given with {flag}: {why}", clean_path(&path))))
}

fn surroundings(global: &Global) -> Result<Surroundings, Failure> {
    let mut world = Surroundings::of_process()?;
    if let Some(project) = &global.project {
        let found = std::fs::canonicalize(project).ok().filter(|found| found.is_dir());
        world.project = found.ok_or_else(|| {
            Failure::call(format!("the project {} is no directory", clean_path(project)))
                .hint("name one with --project or PROWESS_PROJECT, or none for the current directory")
        })?;
    }
    if let Some(home) = &global.home {
        world.home = Some(absolute(home)?);
    }
    Ok(world)
}

fn absolute(path: &PathBuf) -> Result<PathBuf, Failure> {
    std::path::absolute(path).map_err(|_| Failure::call("an empty path is no directory"))
}

/// The variables that the configuration knows.
fn environment() -> Vec<(String, String)> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.to_string_lossy().into_owned())))
        .filter(|(name, _)| name.starts_with("PROWESS_") || name.starts_with("SKILLS_"))
        .collect()
}
