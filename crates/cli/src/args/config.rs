//! The arguments of `prowess config`.

use clap::Subcommand;

use crate::scope::ScopeArgs;

// The arguments of `prowess config`.
#[derive(Debug, clap::Args)]
pub(crate) struct ConfigArgs {
    #[command(subcommand)]
    pub(crate) command: Option<ConfigCommand>,
}

// The subcommands of `prowess config`.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum ConfigCommand {
    /// Set a value in a configuration file; comments and order are kept
    Set(ConfigSetArgs),
    /// Remove settings from a configuration file
    Unset(ConfigUnsetArgs),
    /// Edit a configuration file in your editor; it is saved only if it is valid
    Edit(ConfigEditArgs),
}

// The arguments of `prowess config set`.
#[derive(Debug, clap::Args)]
#[command(mut_arg("user", |user| user.help("Change the configuration of the current user (default)")))]
pub(crate) struct ConfigSetArgs {
    /// Setting, such as catalog.format
    pub(crate) key: String,
    /// Value; several values are a list
    #[arg(required = true, value_name = "VALUE", allow_negative_numbers = true)]
    pub(crate) values: Vec<String>,
    #[command(flatten)]
    pub(crate) scope: ScopeArgs,
}

// The arguments of `prowess config unset`.
#[derive(Debug, clap::Args)]
#[command(mut_arg("user", |user| user.help("Change the configuration of the current user (default)")))]
pub(crate) struct ConfigUnsetArgs {
    /// Settings
    #[arg(required = true, value_name = "KEY")]
    pub(crate) keys: Vec<String>,
    #[command(flatten)]
    pub(crate) scope: ScopeArgs,
}

// The arguments of `prowess config edit`.
#[derive(Debug, clap::Args)]
#[command(mut_arg("user", |user| user.help("Edit the configuration of the current user (default)")))]
pub(crate) struct ConfigEditArgs {
    #[command(flatten)]
    pub(crate) scope: ScopeArgs,
}
