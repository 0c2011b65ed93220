//! The arguments of `prowess env`.

// The arguments of `prowess env`.
#[derive(Debug, clap::Args)]
pub(crate) struct EnvArgs {
    #[command(subcommand)]
    pub(crate) command: Option<EnvCommand>,
}

// The subcommands of `prowess env`.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum EnvCommand {
    /// Install the packages that the scripts of a skill need
    #[command(
        after_help = "Packages come from inline script metadata, requirements.txt, pyproject.toml or package-lock.json; \
        otherwise they are inferred from imports, and you are asked before anything is fetched.\n\n\
        The lock file of an installed skill pins the packages, so that others build the same.\n\n\
        Only wheels are installed, so no code of a package runs while it is installed. Only the package index is reachable.\n\n\
        Exit codes: 0 success, 1 not confirmed or not available, 2 usage or environment error"
    )]
    Build {
        /// Skill name
        name: String,
        /// Install inferred packages without asking
        #[arg(long, short)]
        yes: bool,
        /// Resolve the packages again, even if the lock file of the skill pins them
        #[arg(long)]
        upgrade: bool,
    },
    /// List the environments
    List {
        /// Compare the contents of all files with their recorded digests
        #[arg(long)]
        verify: bool,
    },
    /// Remove the environments of a skill, unless other skills use them, or an environment by its id
    Remove {
        /// Skill name, or the id of an environment or its first characters
        name: String,
    },
    /// Remove environments that are damaged, unused for a time, or belong to skills that no longer exist
    Prune {
        /// Keep environments that were used in this many days
        #[arg(long, default_value_t = 90, value_name = "DAYS", value_parser = clap::value_parser!(u32).range(0..=10_000))]
        days: u32,
    },
}
