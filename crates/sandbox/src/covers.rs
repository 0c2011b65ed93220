//! Whether a skill's `allowed-tools` cover running a script. This counts where the policy says
//! [`Required`](prowess::policy::AllowedTools::Required): a skill that lists tools then runs only what these cover.
//!
//! `skills.run`, `Bash` and `*` cover every script. `Bash(PATTERN)` covers a script if the pattern is the command that
//! one would type in the skill's folder: `scripts/x.py`, `./scripts/x.py` or `python3 scripts/x.py`, with the arguments.
//! A pattern that ends in `:*` or ` *` covers whatever begins with it, at the end of a word; one that ends in `*` covers
//! whatever begins with it.

/// Names under which a tool that runs commands or scripts is known.
const ALL: [&str; 7] = ["*", "skills.run", "skills_run", "Bash", "bash", "Shell", "shell"];

/// Whether any of the tools covers a script with its arguments.
pub(super) fn covers(
    tools: &[impl AsRef<str>],
    interpreter: &str,
    script: &str,
    arguments: &[String],
) -> bool {
    let rest: String = arguments.iter().map(|argument| format!(" {argument}")).collect();
    let plain = [script.to_owned(), format!("./{script}")];
    let run = plain.iter().map(|path| format!("{interpreter} {path}"));
    let commands: Vec<String> = run.chain(plain.iter().cloned()).map(|command| command + &rest).collect();
    tools.iter().any(|tool| commands.iter().any(|command| is_covered(tool.as_ref(), command)))
}

fn is_covered(tool: &str, command: &str) -> bool {
    let Some((name, pattern)) = tool.strip_suffix(')').and_then(|tool| tool.split_once('(')) else {
        return ALL.contains(&tool);
    };
    if !ALL.contains(&name) || name == "*" {
        return false;
    }
    if let Some(prefix) = pattern.strip_suffix(":*").or_else(|| pattern.strip_suffix(" *")) {
        return command.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '));
    }
    match pattern.strip_suffix('*') {
        Some(prefix) => command.starts_with(prefix),
        None => command == pattern,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn covered(tool: &str) -> bool {
        covers(&["Read", tool], "python3", "scripts/x.py", &["a".to_owned(), "b".to_owned()])
    }

    #[test]
    fn s004_23_allowed_tools_cover_a_script_or_do_not() {
        for tool in [
            "Bash",
            "*",
            "skills.run",
            "skills_run",
            "Bash(*)",
            "Bash(python3:*)",
            "Bash(python3 *)",
            "Bash(scripts/x.py:*)",
            "Bash(./scripts/x.py:*)",
            "Bash(python3 scripts/x.py:*)",
            "Bash(scripts/*)",
            "Bash(scripts/x.py a b)",
            "Bash(python3 ./scripts/x.py a:*)",
        ] {
            assert!(covered(tool), "{tool}");
        }
        for tool in [
            "Read",
            "Bash(git:*)",
            "Bash(python:*)",
            "Bash(scripts/x.py)",
            "Bash(scripts/y.py:*)",
            "Read(*)",
            "Bash(scripts/x.py a)",
            "Bash()",
            "BashX",
            "skills.activate",
            "Bash(scripts/x.p:*)",
        ] {
            assert!(!covered(tool), "{tool}");
        }
    }
}
