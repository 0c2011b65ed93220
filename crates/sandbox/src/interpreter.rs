//! Determines what runs a file: its `#!` line or its extension.

/// How to run a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Runner {
    /// The file is a program.
    Executable,
    /// The first available of these interpreters, with arguments before the file.
    Interpreter { names: Vec<String>, arguments: Vec<String> },
}

/// The interpreter of a file is unknown.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("cannot determine how to run {script}: it has no #! line and no known extension")]
pub struct UnknownRunnerError {
    /// The file, escaped.
    pub script: String,
}

impl UnknownRunnerError {
    /// Returns what to do about the error.
    pub fn hint(&self) -> &'static str {
        "add a first line such as #!/usr/bin/env python3"
    }
}

/// The maximum length of a `#!` line.
const LINE_MAX: usize = 256;

/// Determines how to run a file from its name and content.
pub fn detect_runner(script: &str, bytes: &[u8]) -> Result<Runner, UnknownRunnerError> {
    if bytes.starts_with(b"\x7fELF") {
        return Ok(Runner::Executable);
    }
    from_shebang(bytes).or_else(|| from_extension(script)).ok_or_else(|| UnknownRunnerError {
        script: prowess::format::hidden::escape_for_display(script).into_owned(),
    })
}

/// Parses `#!/bin/sh -e`, `#!/usr/bin/env python3` or `#!/usr/bin/env -S deno run`. Only the name is used; the
/// interpreter is looked up in `PATH`.
fn from_shebang(bytes: &[u8]) -> Option<Runner> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let line = bytes.strip_prefix(b"#!")?;
    let line = line.split(|byte| *byte == b'\n').next()?;
    let line = std::str::from_utf8(line.get(..LINE_MAX).unwrap_or(line)).ok()?;
    let mut words = line.split_whitespace().map(str::to_owned).peekable();
    let mut name = base_name(&words.next()?)?;
    if name == "env" {
        // Options and variables of env do not affect the interpreter.
        while words.peek().is_some_and(|word| word.starts_with('-') || word.contains('=')) {
            words.next();
        }
        name = base_name(&words.next()?)?;
    }
    Some(Runner::Interpreter { names: alternatives(&name), arguments: words.collect() })
}

fn base_name(path: &str) -> Option<String> {
    let name = path.rsplit('/').next()?;
    (!name.is_empty() && name != "." && name != "..").then(|| name.to_owned())
}

/// Returns the names to try for an interpreter.
fn alternatives(name: &str) -> Vec<String> {
    match name {
        "python" => vec!["python3".to_owned(), "python".to_owned()],
        "nodejs" => vec!["node".to_owned(), "nodejs".to_owned()],
        name => vec![name.to_owned()],
    }
}

fn from_extension(script: &str) -> Option<Runner> {
    let (_, extension) = script.rsplit('/').next()?.rsplit_once('.')?;
    let (names, arguments): (&[&str], &[&str]) = match extension.to_ascii_lowercase().as_str() {
        "sh" => (&["sh"], &[]),
        "bash" => (&["bash"], &[]),
        "zsh" => (&["zsh"], &[]),
        "fish" => (&["fish"], &["--no-config"]),
        "py" => (&["python3", "python"], &[]),
        "js" | "mjs" | "cjs" => (&["node", "bun"], &[]),
        "ts" | "mts" | "cts" => (&["bun", "node"], &[]),
        "rb" => (&["ruby"], &[]),
        "pl" => (&["perl"], &[]),
        "php" => (&["php"], &[]),
        "lua" => (&["lua", "lua5.4", "lua5.3"], &[]),
        "r" => (&["Rscript"], &[]),
        "ps1" => (&["pwsh"], &["-NoProfile", "-NonInteractive", "-File"]),
        "awk" => (&["awk"], &["-f"]),
        "tcl" => (&["tclsh"], &[]),
        "jl" => (&["julia"], &[]),
        _ => return None,
    };
    let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
    Some(Runner::Interpreter { names: owned(names), arguments: owned(arguments) })
}

/// Returns how to install a missing interpreter.
pub(super) fn install_hint(name: &str) -> String {
    let package = match name {
        "python" | "python3" => "python3",
        "node" | "nodejs" => "nodejs",
        "Rscript" => "r-base-core",
        "lua" => "lua5.4",
        "php" => "php-cli",
        "awk" => "gawk",
        "tclsh" => "tcl",
        "bun" => return "install Bun (https://bun.sh) and add it to PATH".to_owned(),
        "deno" => return "install Deno (https://deno.com) and add it to PATH".to_owned(),
        "pwsh" => return "install PowerShell and add pwsh to PATH".to_owned(),
        "julia" => return "install Julia and add it to PATH".to_owned(),
        other => other,
    };
    format!("install it; on Debian, run: apt-get install {package}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn detected(script: &str, bytes: &str) -> Option<(String, Vec<String>)> {
        match detect_runner(script, bytes.as_bytes()).ok()? {
            Runner::Executable => Some((String::new(), Vec::new())),
            Runner::Interpreter { names, arguments } => Some((names.join("|"), arguments)),
        }
    }

    #[test]
    fn the_shebang_takes_precedence_over_the_extension() {
        let command = |script: &str, bytes: &str| {
            detected(script, bytes)
                .map(|(names, arguments)| format!("{names} {}", arguments.join(" ")).trim().to_owned())
        };
        for (script, bytes, expected) in [
            ("x.sh", "#!/usr/bin/env python3\n", "python3"),
            ("x", "#!/bin/bash -eu\n", "bash -eu"),
            ("x", "#! /usr/bin/env -S deno run -A\r\n", "deno run -A"),
            ("x", "#!/usr/bin/env A=1 node\n", "node"),
            ("x", "\u{feff}#!/usr/bin/python\nx", "python3|python"),
            ("scripts/x.py", "print(1)", "python3|python"),
            ("x.R", "1", "Rscript"),
            ("x.awk", "1", "awk -f"),
            ("x", "\u{7f}ELF", ""),
        ] {
            assert_eq!(command(script, bytes).as_deref(), Some(expected), "{script} {bytes:?}");
        }
        for (script, bytes) in
            [("x", "echo"), ("SKILL.md", "# x"), ("x", "#!\n"), ("x", "#!/usr/bin/env\n"), ("a.b/c", "")]
        {
            assert_eq!(detected(script, bytes), None, "{script} {bytes:?}");
        }
    }
}
