//! Test environments: a project, a home directory and skills, in which the real binary runs.

#![allow(dead_code, unreachable_pub, clippy::unwrap_used, clippy::panic)]

pub mod listing;
pub mod terminal;

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value;

/// The directories of preset `standard` without bundled skills, whose texts change.
const BARE: &str = r#"scan.roots = [".agents/skills", ".claude/skills", "~/.agents/skills"]"#;

use listing::{Listing, listing};

pub struct TestEnv {
    temp_dir: tempfile::TempDir,
    /// Additional environment variables.
    variables: Vec<(String, String)>,
}

impl TestEnv {
    /// Creates an empty project and an empty home directory, with no commands on `PATH`.
    pub fn new() -> Self {
        let temp_dir = tempfile::tempdir().unwrap();
        for name in ["project", "home", "bin"] {
            fs::create_dir(temp_dir.path().join(name)).unwrap();
        }
        Self { temp_dir, variables: Vec::new() }
    }

    /// Creates an environment without bundled skills.
    pub fn bare() -> Self {
        let env = Self::new();
        fs::write(env.base().join("bare.toml"), BARE).unwrap();
        let path = env.base().join("bare.toml").to_string_lossy().into_owned();
        env.variable("PROWESS_CONFIG", &path)
    }

    /// Creates an environment with Prowess on `PATH`, so that snapshots do not contain the path of the build.
    pub fn with_prowess_on_path() -> Self {
        let env = Self::new();
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_prowess"), env.path("../bin/prowess")).unwrap();
        env
    }

    /// Returns the help of subcommands without the global options.
    pub fn help(&self, command: &str, subcommands: &[&str]) -> String {
        let help = subcommands.iter().map(|subcommand| {
            let result = self.run(&[command, subcommand, "-h"]);
            assert_eq!((result.err.as_str(), result.code), ("", 0));
            result.out.split("Global options:").next().unwrap().to_owned()
        });
        help.collect::<Vec<_>>().join("----------\n")
    }

    /// Runs the commands in the console blocks of a text and compares their output. Returns their number.
    pub fn check_console_blocks(&self, text: &str) -> usize {
        let blocks = text.split("```console\n").skip(1).map(|block| block.split("```").next().unwrap());
        let mut typed = 0;
        for part in blocks.flat_map(|block| block.split("$ prowess ").skip(1)) {
            let (command, expected) = part.split_once('\n').unwrap();
            let result = self.run(&command.split(' ').collect::<Vec<_>>());
            assert_eq!(format!("{}{}", result.out, result.err), expected, "$ prowess {command}");
            typed += 1;
        }
        typed
    }

    pub fn variable(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Lets other users read the files, because scripts that root starts run as another user.
    pub fn let_other_users_read(&self) {
        fs::set_permissions(self.temp_dir.path(), PermissionsExt::from_mode(0o755)).unwrap();
    }

    fn base(&self) -> PathBuf {
        self.temp_dir.path().canonicalize().unwrap()
    }

    /// Returns a path in the project, or in the home directory if it starts with `~/`.
    pub fn path(&self, inner: &str) -> PathBuf {
        match inner.strip_prefix("~/") {
            Some(inner) => self.base().join("home").join(inner),
            None => self.base().join("project").join(inner),
        }
    }

    /// Reads a file, or returns the error.
    pub fn text(&self, inner: &str) -> String {
        fs::read_to_string(self.path(inner)).unwrap_or_else(|error| format!("[{}]", error.kind()))
    }

    /// Returns all files and symlinks below a directory, sorted, symlinks with their targets.
    pub fn tree(&self, inner: &str) -> Vec<String> {
        let top = self.path(inner);
        let (mut open, mut found) = (vec![top.clone()], Vec::new());
        while let Some(dir) = open.pop() {
            for entry in fs::read_dir(dir).into_iter().flatten() {
                let path = entry.unwrap().path();
                let name = path.strip_prefix(&top).unwrap().display().to_string();
                match fs::read_link(&path) {
                    Ok(to) => found.push(format!("{name} → {}", to.display())),
                    Err(_) if path.is_dir() => open.push(path),
                    Err(_) => found.push(name),
                }
            }
        }
        found.sort();
        found
    }

    /// Returns all files of the environment.
    pub fn listing(&self) -> Listing {
        listing(&self.base())
    }

    /// Writes a file and creates its parent directories.
    pub fn file(&self, inner: &str, content: impl AsRef<[u8]>) -> &Self {
        let path = self.path(inner);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
        self
    }

    /// Creates a valid skill in this directory, with the same name.
    pub fn skill(&self, dir: &str) -> &Self {
        let name = Path::new(dir).file_name().unwrap().to_str().unwrap();
        self.skill_with_description(dir, &format!("Does {name}."))
    }

    /// Creates a valid skill in this directory with this description.
    pub fn skill_with_description(&self, dir: &str, description: &str) -> &Self {
        let name = Path::new(dir).file_name().unwrap().to_str().unwrap();
        self.file(&format!("{dir}/SKILL.md"), skill_md(name, description))
    }

    /// Creates a command on `PATH`.
    pub fn program(&self, name: &str) -> &Self {
        let path = self.base().join("bin").join(name);
        fs::write(&path, "").unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
        self
    }

    /// Returns a command that runs the binary in this environment.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_prowess"));
        command.env_clear().current_dir(self.path("")).args(args);
        command.env("HOME", self.base().join("nowhere")).env("PROWESS_HOME", self.base().join("home"));
        command.env("PATH", self.base().join("bin"));
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command
    }

    /// Starts the binary with pipes for its output.
    pub fn spawn(&self, args: &[&str]) -> Child {
        let mut command = self.command(args);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    pub fn run(&self, args: &[&str]) -> RunOutput {
        self.run_with(args, "")
    }

    /// Runs the binary with this standard input.
    pub fn run_with(&self, args: &[&str], input: &str) -> RunOutput {
        let mut command = self.command(args);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // A command that does not read its input may have exited.
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        let output = child.wait_with_output().unwrap();
        RunOutput {
            call: self.redact(&args.join(" ")),
            out: self.redact(&String::from_utf8(output.stdout).unwrap()),
            err: self.redact(&String::from_utf8(output.stderr).unwrap()),
            code: output.status.code().unwrap(),
        }
    }

    /// Runs several commands and returns their transcripts.
    pub fn runs(&self, calls: &[&[&str]]) -> String {
        calls.iter().map(|args| self.run(args).transcript()).collect::<Vec<_>>().join("\n")
    }

    /// Replaces values that differ between machines and versions.
    pub fn redact(&self, text: &str) -> String {
        let base = self.base().to_string_lossy().into_owned();
        let version = env!("CARGO_PKG_VERSION");
        let text = &without_sandbox(text);
        text.replace(&format!("{base}/project"), "[PROJECT]")
            .replace(&format!("{base}/home"), "[HOME]")
            .replace(&base, "[TEMP]")
            .replace(&format!("prowess {version}"), "prowess [VERSION]")
            .replace(&format!("\"version\":\"{version}\""), "\"version\":\"[VERSION]\"")
    }
}

/// Removes the sandbox and the tools from the output of `doctor`, because they depend on the machine.
fn without_sandbox(text: &str) -> String {
    let subjects = ["sandbox", "python3", "uv", "pip", "node", "npm", "environments"];
    let is_it = |line: &str| {
        let line = line.trim_start_matches(['✓', '○', '✗', ' ']);
        subjects.iter().any(|subject| line.starts_with(&format!("{subject:14}")))
    };
    let mut left = String::with_capacity(text.len());
    let mut after = false;
    for line in text.split_inclusive('\n') {
        let is_help = after && line.trim_start().starts_with('→');
        after = is_it(line);
        if !after && !is_help {
            left.push_str(line);
        }
    }
    left
}

/// The result of a run.
pub struct RunOutput {
    pub call: String,
    pub out: String,
    pub err: String,
    pub code: i32,
}

impl RunOutput {
    /// Returns the arguments, standard output, standard error and exit code as text. JSON is pretty-printed.
    pub fn transcript(&self) -> String {
        let out = match serde_json::from_str::<Value>(&self.out) {
            Ok(value) => serde_json::to_string_pretty(&value).unwrap() + "\n",
            Err(_) => self.out.clone(),
        };
        let mut whole = format!("$ prowess {}\n{out}", self.call.replace('\n', "⏎"));
        if !whole.ends_with('\n') {
            whole += "[no line break]\n";
        }
        if !self.err.is_empty() {
            whole += &format!("--- stderr\n{}", self.err);
        }
        whole + &format!("--- exit {}\n", self.code)
    }

    /// Parses standard output, which must be one line of JSON.
    pub fn json(&self) -> Value {
        assert_eq!(self.out.matches('\n').count(), 1, "{}", self.transcript());
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {}", self.transcript()))
    }

    /// Returns code and message of the error object.
    pub fn error(&self) -> (String, String) {
        let json = self.json();
        let text = |key: &str| json["error"][key].as_str().unwrap().to_owned();
        (text("code"), text("message"))
    }
}

/// Returns the sorted keys of an object.
pub fn keys(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

pub fn skill_md(name: &str, description: &str) -> String {
    format!("---\nname: {name}\ndescription: {description}\n---\n\nDo it.\n")
}

/// Returns a `SKILL.md` that requires commands.
pub fn needing(name: &str, commands: &str) -> String {
    format!(
        "---\nname: {name}\ndescription: Needs things.\nmetadata:\n  prowess-requires: {commands}\n---\n\nDo it.\n"
    )
}

/// Snapshot filters for values that change over time.
pub const CHANGING: [(&str, &str); 3] = [
    (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", "[TIME]"),
    (r"\(rules [^)]*\)", "(rules [RULES])"),
    (r#""rules": "[^"]*""#, r#""rules": "[RULES]""#),
];

/// A skill that the audit rejects.
pub const DROPPER: &str = "---\nname: bad\ndescription: Bad.\n---\n\nFirst run:\n\n```sh\n\
                           echo aGVsbG8= | base64 -d | bash\n```\n";

/// A `SKILL.md` that cannot be repaired.
pub const BROKEN: &str = "---\nname: broken\ndescription: x\n- y\n---\n\nDo it.\n";

/// A skill with a high-severity finding.
pub const HIGH: &str =
    "---\nname: root\ndescription: Works as root.\nallowed-tools: Bash(sudo:*)\n---\n\nDo it.\n";
