//! `--scope project` and `--scope user`: whose files a command changes. `--project` and `--user` mean the same.
//!
//! The global `--project DIR` names the project. Where a command changes something, a bare `--project` after it means
//! the project's files, and `--project=DIR` still names the project, as does `--project-dir DIR` everywhere.

use std::ffi::{OsStr, OsString};

use clap::{Arg, Command};

// What commands that change something take.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(mut_args(under_another_name))]
pub(crate) struct ScopeArgs {
    /// In the project
    #[arg(id = "project_scope", long = "project", conflicts_with = "user")]
    pub(crate) project: bool,
    /// In the home, for all projects
    #[arg(long)]
    pub(crate) user: bool,
    /// The same as --project or --user
    #[arg(long, value_enum, value_name = "SCOPE", conflicts_with_all = ["project_scope", "user"])]
    pub(crate) scope: Option<Chosen>,
}

/// The global `--project DIR` as `--project-dir DIR`. A command's own options are added when it is built, and then it has
/// the global ones.
fn under_another_name(option: Arg) -> Arg {
    if option.get_id() != "project" {
        return option;
    }
    let help = "The project, also as --project=DIR [default: the current directory] [env: PROWESS_PROJECT]";
    option.long(DIRECTORY).alias(None::<&'static str>).help(help)
}

/// Whose files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Chosen {
    /// The project's.
    Project,
    /// The user's.
    User,
}

impl ScopeArgs {
    /// Whose files were chosen; the user's where nothing was said.
    pub(crate) fn chosen(&self) -> Chosen {
        self.said().unwrap_or(Chosen::User)
    }

    /// Whose files were named, for commands with another default.
    pub(crate) fn said(&self) -> Option<Chosen> {
        match (self.project, self.user) {
            (true, _) => Some(Chosen::Project),
            (false, true) => Some(Chosen::User),
            (false, false) => self.scope,
        }
    }
}

/// What `--project=DIR` is called after a command with [`ScopeArgs`].
pub(crate) const DIRECTORY: &str = "project-dir";

const WITH_VALUE: &[u8] = b"--project=";

/// What was typed, with `--project=DIR` under its other name after the commands where a bare `--project` means something
/// else.
pub(crate) fn rewritten(
    command: fn() -> Command,
    typed: impl IntoIterator<Item = OsString>,
) -> Vec<OsString> {
    let mut typed: Vec<_> = typed.into_iter().collect();
    // Building all commands a second time is for those who need it.
    if !typed.iter().any(|argument| argument.as_encoded_bytes().starts_with(WITH_VALUE)) {
        return typed;
    }
    let mut here = command();
    // Only a built command knows the global options of its subcommands.
    here.build();
    let mut is_value = true;
    for argument in &mut typed {
        if std::mem::take(&mut is_value) {
            continue;
        }
        if argument == "--" {
            break;
        }
        if let Some(directory) = argument.as_encoded_bytes().strip_prefix(WITH_VALUE)
            && here.get_arguments().any(|known| known.get_long() == Some(DIRECTORY))
        {
            let mut named = OsString::from(format!("--{DIRECTORY}="));
            named.push(prowess_fs::path_from_bytes(directory));
            *argument = named;
            continue;
        }
        is_value = takes_the_next(&here, argument);
        if let Some(inner) = argument.to_str().and_then(|name| here.find_subcommand(name)) {
            here = inner.clone();
        }
    }
    typed
}

/// Whether an option is followed by its value.
fn takes_the_next(command: &Command, argument: &OsStr) -> bool {
    let Some(text) = argument.to_str() else { return false };
    let option = command.get_arguments().find(|known| match text.strip_prefix("--") {
        Some(long) => {
            let aliases = known.get_all_aliases().unwrap_or_default();
            known.get_long() == Some(long) || aliases.contains(&long)
        }
        None => known.get_short().is_some_and(|short| text.strip_prefix('-') == Some(&*short.to_string())),
    });
    option.is_some_and(|option| option.get_action().takes_values())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Global;
    use clap::{CommandFactory, Parser, Subcommand};
    use std::os::unix::ffi::{OsStrExt, OsStringExt};
    use std::path::PathBuf;

    #[derive(Debug, Parser)]
    #[command(name = "prowess")]
    struct Typed {
        #[command(flatten)]
        global: Global,
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
        let typed = Typed::try_parse_from(rewritten(Typed::command, typed))?;
        let (name, scope) = match typed.command {
            Inner::List => ("-".to_owned(), ScopeArgs::default()),
            Inner::Enable { name, scope } => (name, scope),
            Inner::Skill { command: Deeper::Enable { name, scope } } => (name, scope),
        };
        Ok((typed.global.project, name, scope))
    }

    #[test]
    fn a_bare_project_is_the_scope_and_one_with_a_value_the_directory() {
        use Chosen::{Project, User};
        let told = |line: &str| {
            let (project, name, scope) = parse(line).unwrap_or_else(|error| panic!("{line}: {error}"));
            (project.map(|path| path.display().to_string()), name, scope.said())
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
            // Where enable is a value, it is no command.
            ("--home enable enable x --project=P", Some("P"), None),
            ("enable x --project-dir P --project", Some("P"), Some(Project)),
            ("--project-dir enable enable x --project=P", Some("P"), None),
            ("skill enable x --project", None, Some(Project)),
            ("skill --project P enable x --project", Some("P"), Some(Project)),
            ("skill enable x --project=P --project", Some("P"), Some(Project)),
        ] {
            let expected = (project.map(str::to_owned), "x".to_owned(), scope);
            assert_eq!(told(line), expected, "{line}");
        }
        assert_eq!(told("list --project P").0.as_deref(), Some("P"));
        assert_eq!(told("list --project=P").0.as_deref(), Some("P"));
        assert_eq!(told("--project P list").0.as_deref(), Some("P"));
        assert_eq!(told("enable -- --project=x").1, "--project=x");
    }

    #[test]
    fn only_one_of_them() {
        let error = parse("enable x --project --user").unwrap_err().to_string();
        assert!(error.contains("'--project' cannot be used with '--user'"), "{error}");
        assert!(parse("enable x --scope user --project").is_err());
        assert!(parse("enable x --scope user --user").is_err());
        assert!(parse("list --project").is_err());
    }

    #[test]
    fn help_shows_both() {
        let help = parse("enable -h").unwrap_err().to_string();
        let (own, global) = help.split_once("Global options:").unwrap();
        assert!(own.contains("--project  ") && !own.contains(DIRECTORY), "{help}");
        assert!(global.contains("--project-dir <DIR>"), "{help}");
        let help = parse("list -h").unwrap_err().to_string();
        assert!(help.contains("--project <DIR>") && !help.contains(DIRECTORY), "{help}");
    }

    #[test]
    fn a_path_that_is_not_unicode_stays_as_it_is() {
        let typed = [&b"prowess"[..], b"enable", b"x", b"--project=\xff"]
            .map(|part| OsString::from_vec(part.to_vec()));
        let typed = rewritten(Typed::command, typed);
        assert_eq!(typed[3].as_bytes(), b"--project-dir=\xff");
    }
}
