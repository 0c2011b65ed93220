//! Checks whether the `allowed-tools` of a skill cover a script. With
//! [`Required`](prowess::policy::AllowedTools::Required), a skill that lists tools only runs scripts that they cover.
//!
//! `skills.run`, `Bash` and `*` cover every script. `Bash(PATTERN)` covers a script if the pattern is the command that
//! one would type in the skill's directory: `scripts/x.py`, `./scripts/x.py` or `python3 scripts/x.py`, with arguments.
//! A pattern that ends in `:*` or ` *` covers commands that start with it, followed by the end of a word; one that ends
//! in `*` covers all commands that start with it.

/// Names of tools that run commands or scripts.
const RUN_TOOLS: [&str; 7] = ["*", "skills.run", "skills_run", "Bash", "bash", "Shell", "shell"];

/// Returns `true` if any of the tools covers the script with its arguments.
pub(super) fn covers(
    tools: &[impl AsRef<str>],
    interpreter: &str,
    script: &str,
    arguments: &[String],
) -> bool {
    let argument_text: String = arguments.iter().map(|argument| format!(" {argument}")).collect();
    let paths = [script.to_owned(), format!("./{script}")];
    let run = paths.iter().map(|path| format!("{interpreter} {path}"));
    let commands: Vec<String> =
        run.chain(paths.iter().cloned()).map(|command| command + &argument_text).collect();
    tools.iter().any(|tool| commands.iter().any(|command| is_covered(tool.as_ref(), command)))
}

fn is_covered(tool: &str, command: &str) -> bool {
    let Some((name, pattern)) = tool.strip_suffix(')').and_then(|tool| tool.split_once('(')) else {
        return RUN_TOOLS.contains(&tool);
    };
    if !RUN_TOOLS.contains(&name) || name == "*" {
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
