//! Loads the configuration of a command, and discovers its skills.

use std::path::PathBuf;

use prowess::{HostEnv, Policy, Registry};
use prowess_config::{ConfigInputs, ConfigLayer, Configuration, SettingOrigin};
use prowess_mcp::host::McpRemoteSources;
use prowess_server::LoadError;

use crate::args::GlobalArgs;
use crate::failure::Failure;
use crate::output::{Output, clean_path};
use crate::progress;

/// The configuration and environment of a command.
pub(crate) struct CommandContext {
    pub(crate) host_env: HostEnv,
    /// The inputs of the configuration, to load it again.
    pub(crate) inputs: ConfigInputs,
    /// The directories of `--root`.
    pub(crate) roots: Vec<PathBuf>,
    pub(crate) configuration: Configuration,
    /// The MCP servers that provide skills. They are contacted only when needed.
    pub(crate) sources: McpRemoteSources,
}

impl CommandContext {
    /// Loads the configuration from options, environment and files, and prints its diagnostics. Errors in the user's
    /// configuration are a failure; those in a project's configuration are not.
    pub(crate) fn load(global: &GlobalArgs, output: &mut Output) -> Result<Self, Failure> {
        let context = Self::load_unchecked(global)?;
        let diagnostics = &context.configuration.diagnostics;
        if !diagnostics.is_empty() {
            crate::output::print_diagnostics(output, diagnostics);
        }
        if let Some(failure) = context.configuration_failure(output) {
            return Err(failure.hint("run `prowess config` to see the effective settings"));
        }
        context.prune_mcp_caches();
        Ok(context)
    }

    /// Removes the caches of MCP servers that are no longer in the user's configuration. Does nothing if options or
    /// environment variables replace that configuration.
    fn prune_mcp_caches(&self) {
        let preset = self.configuration.settings.iter().find(|setting| setting.key == "preset");
        let is_user_preset = preset.is_none_or(|setting| {
            matches!(
                setting.origin,
                SettingOrigin::Preset(_) | SettingOrigin::File { layer: ConfigLayer::User, .. }
            )
        });
        if is_user_preset && self.roots.is_empty() && self.inputs.file.is_none() {
            prowess_mcp::host::prune_caches(&self.configuration.mcp_sources, &self.host_env);
        }
    }

    /// Returns the failure for a configuration with errors. With `--json` it contains the first error; otherwise the errors
    /// have been printed already.
    pub(crate) fn configuration_failure(&self, output: &Output) -> Option<Failure> {
        let first = self.configuration.first_error()?;
        let details = match output.json() {
            // The path of a variable is its name.
            true if !first.path.is_absolute() => format!(": {}", first.diagnostic.message),
            true => format!(": {}: {}", clean_path(&first.path), first.diagnostic.message),
            false => String::new(),
        };
        Some(Failure::usage(format!("the configuration is invalid{details}")))
    }

    /// Loads the configuration like [`CommandContext::load`] and returns its first error, for servers that reload it.
    pub(crate) fn load_checked(global: &GlobalArgs) -> Result<Self, LoadError> {
        let mut context = Self::load_unchecked(global)
            .map_err(|failure| LoadError::Configuration(failure.into_message()))?;
        context.configuration = context.configuration.into_result()?;
        Ok(context)
    }

    /// Loads the configuration without reporting its errors, for commands that show them themselves.
    pub(crate) fn load_unchecked(global: &GlobalArgs) -> Result<Self, Failure> {
        let host = host_env(global)?;
        let inputs = ConfigInputs {
            host: host.clone(),
            preset: global.preset,
            file: global.config.as_ref().map(absolute).transpose()?,
            environment: environment(),
        };
        let mut configuration = prowess_config::load(&inputs);
        let roots = global.root.iter().map(absolute).collect::<Result<Vec<_>, _>>()?;
        if !roots.is_empty() {
            configuration = configuration.with_roots(roots.iter().cloned());
        }
        let sources = McpRemoteSources::new(&configuration.mcp_sources, &host, std::env::vars_os());
        Ok(Self { host_env: host, inputs, roots, configuration, sources })
    }

    pub(crate) fn policy(&self) -> &Policy {
        &self.configuration.policy
    }

    /// Discovers all skills, including those of MCP servers, and shows progress if it takes long.
    pub(crate) fn registry(&self, global: &GlobalArgs) -> Registry {
        progress::with_scan_progress(global, "scanning", |progress| {
            let remote_sources =
                if self.policy().enabled { self.sources.remote_sources() } else { Vec::new() };
            Registry::open_with_sources(
                self.policy().clone(),
                self.host_env.clone(),
                remote_sources,
                progress,
            )
        })
    }

    /// Like [`CommandContext::registry`], but contacts MCP servers only if one of the names can belong to them.
    pub(crate) fn registry_for(&self, global: &GlobalArgs, names: &[&str]) -> Registry {
        if names.iter().any(|name| name.contains('/')) {
            return self.registry(global);
        }
        progress::with_scan_progress(global, "scanning", |progress| {
            Registry::open_in(self.policy().clone(), self.host_env.clone(), progress)
        })
    }
}

/// Fails if the path of a global option does not exist, so that a typo is not mistaken for an empty directory. A home
/// directory from a variable need not exist: it may be created later.
pub(crate) fn require_paths(global: &GlobalArgs) -> Result<(), Failure> {
    let directories = global
        .root
        .iter()
        .map(|root| (root, "--root", "pass an existing directory that contains skills"))
        .chain(global.project.iter().map(|path| (path, "--project", "pass an existing directory")))
        .chain(global.home.iter().map(|path| (path, "--home", "pass an existing directory")));
    for (path, flag, hint) in directories {
        require_path(path, flag, true).map_err(|failure| failure.hint(hint))?;
    }
    match &global.config {
        Some(path) => require_path(path, "--config", false)
            .map_err(|failure| failure.hint("pass an existing file, or omit the option")),
        None => Ok(()),
    }
}

fn require_path(path: &PathBuf, flag: &str, directory: bool) -> Result<(), Failure> {
    let path = absolute(path)?;
    let reason = match std::fs::metadata(&path) {
        Ok(metadata) if metadata.is_dir() == directory => return Ok(()),
        Ok(_) if directory => "not a directory".to_owned(),
        Ok(_) => "is a directory".to_owned(),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => "does not exist".to_owned(),
        Err(error) => error.kind().to_string(),
    };
    Err(Failure::usage(format!("cannot open {} ({flag}): {reason}", clean_path(&path))))
}

fn host_env(global: &GlobalArgs) -> Result<HostEnv, Failure> {
    let mut host_env = HostEnv::from_process()?;
    if let Some(project) = &global.project {
        let canonical = std::fs::canonicalize(project).ok().filter(|canonical| canonical.is_dir());
        host_env.project = canonical.ok_or_else(|| {
            Failure::usage(format!("project {} is not a directory", clean_path(project))).hint(
                "set --project or PROWESS_PROJECT to a directory, or omit both to use the current directory",
            )
        })?;
    }
    if let Some(home) = &global.home {
        host_env.home = Some(absolute(home)?);
    }
    Ok(host_env)
}

fn absolute(path: &PathBuf) -> Result<PathBuf, Failure> {
    std::path::absolute(path).map_err(|_| Failure::usage("the path is empty"))
}

/// Returns the environment variables that the configuration reads.
fn environment() -> Vec<(String, String)> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.to_string_lossy().into_owned())))
        .filter(|(name, _)| name.starts_with("PROWESS_") || name.starts_with("SKILLS_"))
        .collect()
}
