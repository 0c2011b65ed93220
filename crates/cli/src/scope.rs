//! `--scope project` and `--scope user`, with the short forms `--project` and `--user`: the scope that a command changes.
//!
//! The global option `--project DIR` sets the project directory. After a command that has a scope, a bare `--project`
//! selects the project scope, while `--project=DIR` still sets the directory, as does `--project-dir DIR` everywhere.

use std::ffi::{OsStr, OsString};

use clap::{Arg, Command};

// The options that select a scope.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(mut_args(rename_project_option))]
pub(crate) struct ScopeArgs {
    /// Apply to the project
    #[arg(id = "project_scope", long = "project", conflicts_with = "user")]
    pub(crate) project: bool,
    /// Apply to the current user
    #[arg(long)]
    pub(crate) user: bool,
    /// Scope: same as --project or --user
    #[arg(long, value_enum, value_name = "SCOPE", conflicts_with_all = ["project_scope", "user"])]
    pub(crate) scope: Option<ScopeChoice>,
}

/// Renames the global `--project DIR` to `--project-dir DIR`. Deferred commands get their own options after the global
/// ones, so the option exists by then.
fn rename_project_option(option: Arg) -> Arg {
    if option.get_id() != "project" {
        return option;
    }
    let help =
        "Project directory, also --project=DIR [default: the current directory] [env: PROWESS_PROJECT]";
    option.long(PROJECT_DIR).alias(None::<&'static str>).help(help)
}

/// The scope that a command changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ScopeChoice {
    /// The project.
    Project,
    /// The current user.
    User,
}

impl ScopeArgs {
    /// Returns the scope, which defaults to the user.
    pub(crate) fn or_user(&self) -> ScopeChoice {
        self.explicit().unwrap_or(ScopeChoice::User)
    }

    /// Returns the scope if it was given.
    pub(crate) fn explicit(&self) -> Option<ScopeChoice> {
        match (self.project, self.user) {
            (true, _) => Some(ScopeChoice::Project),
            (false, true) => Some(ScopeChoice::User),
            (false, false) => self.scope,
        }
    }
}

/// The name of the option for the project directory after a command with [`ScopeArgs`].
pub(crate) const PROJECT_DIR: &str = "project-dir";

const PROJECT_WITH_VALUE: &[u8] = b"--project=";

/// Replaces `--project=DIR` by `--project-dir=DIR` after commands that have a scope.
pub(crate) fn rewrite_project_option(
    command: fn() -> Command,
    typed: impl IntoIterator<Item = OsString>,
) -> Vec<OsString> {
    let mut typed: Vec<_> = typed.into_iter().collect();
    // Avoid building all commands a second time.
    if !typed.iter().any(|argument| argument.as_encoded_bytes().starts_with(PROJECT_WITH_VALUE)) {
        return typed;
    }
    let mut parser = command();
    // Subcommands get the global options only when they are built.
    parser.build();
    let mut is_value = true;
    for argument in &mut typed {
        if std::mem::take(&mut is_value) {
            continue;
        }
        if argument == "--" {
            break;
        }
        if let Some(directory) = argument.as_encoded_bytes().strip_prefix(PROJECT_WITH_VALUE)
            && parser.get_arguments().any(|option| option.get_long() == Some(PROJECT_DIR))
        {
            let mut renamed = OsString::from(format!("--{PROJECT_DIR}="));
            renamed.push(prowess_fs::path_from_bytes(directory));
            *argument = renamed;
            continue;
        }
        is_value = takes_next_argument(&parser, argument);
        if let Some(inner) = argument.to_str().and_then(|name| parser.find_subcommand(name)) {
            parser = inner.clone();
        }
    }
    typed
}

/// Returns `true` if the argument is an option whose value is the next argument.
fn takes_next_argument(command: &Command, argument: &OsStr) -> bool {
    let Some(text) = argument.to_str() else { return false };
    let option = command.get_arguments().find(|candidate| match text.strip_prefix("--") {
        Some(long) => {
            let aliases = candidate.get_all_aliases().unwrap_or_default();
            candidate.get_long() == Some(long) || aliases.contains(&long)
        }
        None => {
            candidate.get_short().is_some_and(|short| text.strip_prefix('-') == Some(&*short.to_string()))
        }
    });
    option.is_some_and(|option| option.get_action().takes_values())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::GlobalArgs;
    use clap::{CommandFactory, Parser, Subcommand};
    use std::os::unix::ffi::{OsStrExt, OsStringExt};
    use std::path::PathBuf;

    #[derive(Debug, Parser)]
    #[command(name = "prowess")]
    struct TestArgs {
        #[command(flatten)]
        global: GlobalArgs,
        #[command(subcommand)]
        command: Inner,
    }

    #[derive(Debug, Subcommand)]
    #[command(defer = true)]
    enum Inner {
        List,
        Enable {
            name: String,
            #[command(flatten)]
            scope: ScopeArgs,
        },
        Skill {
            #[command(subcommand)]
            command: Deeper,
        },
    }

    #[derive(Debug, Subcommand)]
    #[command(defer = true)]
    enum Deeper {
        Enable {
            name: String,
            #[command(flatten)]
            scope: ScopeArgs,
        },
    }

    fn parse(line: &str) -> Result<(Option<PathBuf>, String, ScopeArgs), clap::Error> {
        let typed = std::iter::once("prowess").chain(line.split(' ')).map(OsString::from);
        let typed = TestArgs::try_parse_from(rewrite_project_option(TestArgs::command, typed))?;
        let (name, scope) = match typed.command {
            Inner::List => ("-".to_owned(), ScopeArgs::default()),
            Inner::Enable { name, scope } => (name, scope),
            Inner::Skill { command: Deeper::Enable { name, scope } } => (name, scope),
        };
        Ok((typed.global.project, name, scope))
    }

    #[test]
    fn a_bare_project_is_the_scope_and_one_with_a_value_the_directory() {
        use ScopeChoice::{Project, User};
        let parsed = |line: &str| {
            let (project, name, scope) = parse(line).unwrap_or_else(|error| panic!("{line}: {error}"));
            (project.map(|path| path.display().to_string()), name, scope.explicit())
        };
        for (line, project, scope) in [
            ("enable x", None, None),
            ("enable x --user", None, Some(User)),
            ("enable x --project", None, Some(Project)),
            ("enable --project x", None, Some(Project)),
            ("enable x --scope project", None, Some(Project)),
            ("enable x --scope user", None, Some(User)),
            ("enable x --project=P --scope user", Some("P"), Some(User)),
            ("--project P enable x --scope project", Some("P"), Some(Project)),
            ("enable x --project=P", Some("P"), None),
            ("enable x --project=P --project", Some("P"), Some(Project)),
            ("--project P enable x --project", Some("P"), Some(Project)),
            ("--project=P enable x --project", Some("P"), Some(Project)),
            ("--project P enable x --user", Some("P"), Some(User)),
            ("--project P enable x --project=Q", Some("Q"), None),
            // Here the first `enable` is a value, not a command.
            ("--home enable enable x --project=P", Some("P"), None),
            ("enable x --project-dir P --project", Some("P"), Some(Project)),
            ("--project-dir enable enable x --project=P", Some("P"), None),
            ("skill enable x --project", None, Some(Project)),
            ("skill --project P enable x --project", Some("P"), Some(Project)),
            ("skill enable x --project=P --project", Some("P"), Some(Project)),
        ] {
            let expected = (project.map(str::to_owned), "x".to_owned(), scope);
            assert_eq!(parsed(line), expected, "{line}");
        }
        assert_eq!(parsed("list --project P").0.as_deref(), Some("P"));
        assert_eq!(parsed("list --project=P").0.as_deref(), Some("P"));
        assert_eq!(parsed("--project P list").0.as_deref(), Some("P"));
        assert_eq!(parsed("enable -- --project=x").1, "--project=x");
    }

    #[test]
    fn scope_options_conflict() {
        let error = parse("enable x --project --user").unwrap_err().to_string();
        assert!(error.contains("'--project' cannot be used with '--user'"), "{error}");
        assert!(parse("enable x --scope user --project").is_err());
        assert!(parse("enable x --scope user --user").is_err());
        assert!(parse("list --project").is_err());
    }

    #[test]
    fn help_shows_both_options() {
        let help = parse("enable -h").unwrap_err().to_string();
        let (local, global) = help.split_once("Global options:").unwrap();
        assert!(local.contains("--project  ") && !local.contains(PROJECT_DIR), "{help}");
        assert!(global.contains("--project-dir <DIR>"), "{help}");
        let help = parse("list -h").unwrap_err().to_string();
        assert!(help.contains("--project <DIR>") && !help.contains(PROJECT_DIR), "{help}");
    }

    #[test]
    fn non_unicode_paths_are_kept() {
        let typed = [&b"prowess"[..], b"enable", b"x", b"--project=\xff"]
            .map(|part| OsString::from_vec(part.to_vec()));
        let typed = rewrite_project_option(TestArgs::command, typed);
        assert_eq!(typed[3].as_bytes(), b"--project-dir=\xff");
    }
}
