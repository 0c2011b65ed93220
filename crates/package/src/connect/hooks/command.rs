//! The command line of the hook.

use prowess::shell::quote;

/// The command that a client runs for each message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookCommand {
    /// The program.
    pub program: String,
    /// Its arguments, which start with `hook prompt --client NAME`.
    pub args: Vec<String>,
}

/// What follows the program in every command line of the hook.
const ARGUMENTS: &str = " hook prompt --client ";

impl HookCommand {
    /// Returns the command for a client, with additional options.
    pub fn new(program: &str, client: &str, options: &[String]) -> Self {
        let mut args = ["hook", "prompt", "--client", client].map(str::to_owned).to_vec();
        args.extend(options.iter().cloned());
        Self { program: program.to_owned(), args }
    }

    /// Returns the program and its arguments.
    pub(super) fn words(&self) -> Vec<&str> {
        std::iter::once(&self.program).chain(&self.args).map(String::as_str).collect()
    }

    /// Returns the command line for a shell.
    ///
    /// ```
    /// use prowess_package::connect::hooks::HookCommand;
    ///
    /// let command = HookCommand::new("/my tools/prowess", "codex", &[]);
    /// assert_eq!(command.shell(), "'/my tools/prowess' hook prompt --client codex");
    /// ```
    pub fn shell(&self) -> String {
        self.words().into_iter().map(quote).collect::<Vec<_>>().join(" ")
    }

    /// Returns a command line that succeeds and prints nothing if the program is missing or is killed, for clients that
    /// would reject the message otherwise.
    pub(super) fn fail_safe_shell(&self) -> String {
        self.shell() + " 2>/dev/null || :"
    }
}

/// Returns `true` if a command line runs our hook.
pub(super) fn is_ours(command: &str) -> bool {
    let Some((program, _)) = command.split_once(ARGUMENTS) else { return false };
    let program = program.trim().trim_matches(['\'', '"']);
    program.rsplit(['/', '\\']).next() == Some("prowess")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_hook_is_recognised() {
        for (program, options) in [("prowess", &[][..]), ("/my tools/prowess", &["--root", "/a b"])] {
            let options: Vec<String> = options.iter().map(|option| (*option).to_owned()).collect();
            let command = HookCommand::new(program, "gemini-cli", &options);
            assert!(is_ours(&command.shell()) && is_ours(&command.fail_safe_shell()), "{command:?}");
        }
        for other in ["prowess mcp", "other hook prompt --client codex", "echo prowess hook prompt", ""] {
            assert!(!is_ours(other), "{other}");
        }
    }
}
