//! What runs a file: its `#!` line, or its ending.

use super::error::RunError;

/// What runs a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Runner {
    /// The file is a program.
    Itself,
    /// One of these interpreters, the first that is there, with arguments before the file.
    Interpreter { names: Vec<String>, arguments: Vec<String> },
}

/// The longest `#!` line that is looked at.
const LINE_MAX: usize = 256;

/// What runs a file of this name and with these bytes.
pub fn runner(script: &str, bytes: &[u8]) -> Result<Runner, RunError> {
    if bytes.starts_with(b"\x7fELF") {
        return Ok(Runner::Itself);
    }
    by_first_line(bytes).or_else(|| by_ending(script)).ok_or_else(|| RunError::NoInterpreter {
        script: prowess::format::hidden::shown(script).into_owned(),
    })
}

/// `#!/bin/sh -e`, `#!/usr/bin/env python3`, `#!/usr/bin/env -S deno run`. Only the name counts: where the interpreter
/// lies is looked up.
fn by_first_line(bytes: &[u8]) -> Option<Runner> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let line = bytes.strip_prefix(b"#!")?;
    let line = line.split(|byte| *byte == b'\n').next()?;
    let line = std::str::from_utf8(line.get(..LINE_MAX).unwrap_or(line)).ok()?;
    let mut words = line.split_whitespace().map(str::to_owned).peekable();
    let mut name = base_name(&words.next()?)?;
    if name == "env" {
        // Its options and variables say nothing about the interpreter.
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

/// Python is python3 wherever it is still kept.
fn alternatives(name: &str) -> Vec<String> {
    match name {
        "python" => vec!["python3".to_owned(), "python".to_owned()],
        "nodejs" => vec!["node".to_owned(), "nodejs".to_owned()],
        name => vec![name.to_owned()],
    }
}

fn by_ending(script: &str) -> Option<Runner> {
    let (_, ending) = script.rsplit('/').next()?.rsplit_once('.')?;
    let (names, arguments): (&[&str], &[&str]) = match ending.to_ascii_lowercase().as_str() {
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

/// What to install for an interpreter that is missing.
pub(super) fn install(name: &str) -> String {
    let package = match name {
        "python" | "python3" => "python3",
        "node" | "nodejs" => "nodejs",
        "Rscript" => "r-base-core",
        "lua" => "lua5.4",
        "php" => "php-cli",
        "awk" => "gawk",
        "tclsh" => "tcl",
        "bun" => return "install Bun (bun.sh), and see that it is in PATH".to_owned(),
        "deno" => return "install Deno (deno.com), and see that it is in PATH".to_owned(),
        "pwsh" => return "install PowerShell, and see that pwsh is in PATH".to_owned(),
        "julia" => return "install Julia, and see that it is in PATH".to_owned(),
        other => other,
    };
    format!("install it, on Debian with: apt-get install {package}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(script: &str, bytes: &str) -> Option<(String, Vec<String>)> {
        match runner(script, bytes.as_bytes()).ok()? {
            Runner::Itself => Some((String::new(), Vec::new())),
            Runner::Interpreter { names, arguments } => Some((names.join("|"), arguments)),
        }
    }

    #[test]
    fn the_first_line_counts_more_than_the_ending() {
        let told = |script: &str, bytes: &str| {
            of(script, bytes)
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
            assert_eq!(told(script, bytes).as_deref(), Some(expected), "{script} {bytes:?}");
        }
        for (script, bytes) in
            [("x", "echo"), ("SKILL.md", "# x"), ("x", "#!\n"), ("x", "#!/usr/bin/env\n"), ("a.b/c", "")]
        {
            assert_eq!(of(script, bytes), None, "{script} {bytes:?}");
        }
    }
}
