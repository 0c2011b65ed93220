//! Prowess as a client of its own MCP server, over both transports.

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};

use crate::support::TestEnv;
use serde_json::Value;

const PROGRAM: &str = env!("CARGO_BIN_EXE_prowess");

/// A configuration that searches only the home directory.
const ROOTS: &str = "scan.roots = [\"~/.agents/skills\"]\n";

/// Returns an environment with one skill, used as a server.
fn author() -> TestEnv {
    let env = TestEnv::new();
    env.file("~/.prowess/config.toml", ROOTS);
    env.file(
        "~/.agents/skills/pdf/SKILL.md",
        "---\nname: pdf\ndescription: Merges PDF files. Use it for PDF.\nmetadata:\n  version: 1.10\n  rate: 3\n---\n\nRead a.md.\n",
    );
    env.file("~/.agents/skills/pdf/a.md", "A\n");
    env.file("~/.agents/skills/pdf/über uns/b c.bin", [0, 159, 146, 150]);
    env
}

/// Configures an environment to use a server in another one.
fn configure_source(env: &TestEnv, label: &str, other: &TestEnv) {
    let (home, project) = (other.path("~/"), other.path(""));
    let args =
        ["mcp".as_ref(), "--home".as_ref(), home.as_os_str(), "--project".as_ref(), project.as_os_str()];
    let args: Vec<_> = args.iter().map(|arg| format!("{arg:?}")).collect();
    env.file(
        "~/.prowess/config.toml",
        format!(
            "{ROOTS}[[sources.mcp]]\nlabel = \"{label}\"\ncommand = {PROGRAM:?}\nargs = [{}]\n",
            args.join(", ")
        ),
    );
}

/// A server over HTTP, which is stopped on drop.
struct Http(Child, String);

impl Http {
    fn of(env: &TestEnv) -> Self {
        let mut command = env.command(&["mcp", "--http", "127.0.0.1:0", "--json"]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let json: Value = serde_json::from_str(&line).unwrap();
        Self(child, json["url"].as_str().unwrap().to_owned())
    }
}

impl Drop for Http {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn check_approval_flow(author: &TestEnv, user: &TestEnv) {
    let run = |args: &[&str]| {
        let result = user.run(args);
        assert_eq!(result.code, 0, "{}", result.transcript());
        result.out
    };
    assert!(run(&["list", "--all"]).contains("docs/pdf  untrusted: not approved"));
    assert!(run(&["trust", "--mcp", "docs/pdf"]).contains("3 files"));
    assert_eq!(run(&["list"]), "docs/pdf  Merges PDF files. Use it for PDF.\n");
    assert!(run(&["activate", "docs/pdf"]).contains("comes from the MCP server docs, skill://pdf/SKILL.md"));
    assert_eq!(run(&["read", "docs/pdf", "a.md"]), "A\n");
    assert!(
        user.run(&["read", "docs/pdf", "über uns/b c.bin"]).err.contains("is not text"),
        "it came, and is binary"
    );
    assert!(run(&["doctor"]).contains("docs: 1 skill (1 available), protocol 2026-07-28"));
    // The author changes the skill. The cache is valid for the time given by the server, but doctor contacts it at once.
    author.file("~/.agents/skills/pdf/a.md", "B\n");
    run(&["doctor"]);
    let result = user.run(&["read", "docs/pdf", "a.md"]);
    assert_eq!(result.code, 1, "{}", result.transcript());
    let listed = run(&["list", "--all"]);
    assert!(
        listed.contains(
            "untrusted: changed on its server; to review and approve it again: prowess trust --mcp docs/pdf"
        ),
        "{listed}"
    );
    run(&["trust", "--mcp", "docs/pdf"]);
    assert_eq!(run(&["read", "docs/pdf", "a.md"]), "B\n");
}

#[test]
fn skills_over_stdio() {
    let (author, user) = (author(), TestEnv::new());
    configure_source(&user, "docs", &author);
    check_approval_flow(&author, &user);
}

#[test]
fn skills_over_http() {
    let (author, user) = (author(), TestEnv::new());
    let server = Http::of(&author);
    user.file(
        "~/.prowess/config.toml",
        format!("{ROOTS}[[sources.mcp]]\nlabel = \"docs\"\nurl = \"{}\"\n", server.1),
    );
    check_approval_flow(&author, &user);
}

#[test]
fn only_approved_skills_are_served_again() {
    let (author, team, user) = (author(), TestEnv::new(), TestEnv::new());
    author.skill("~/.agents/skills/other");
    configure_source(&team, "docs", &author);
    team.skill("~/.agents/skills/own");
    assert_eq!(team.run(&["trust", "--mcp", "docs/pdf"]).code, 0);
    configure_source(&user, "team", &team);
    let listed = user.run(&["list", "--all", "--json"]).json();
    let names: Vec<_> =
        listed["skills"].as_array().unwrap().iter().map(|skill| skill["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["team/docs/pdf", "team/own"]);
    assert!(
        !team.tree("~/.prowess/state/mcp/docs").iter().any(|file| file.starts_with("files/")),
        "nothing was fetched for it"
    );
    assert_eq!(user.run(&["trust", "--mcp", "team/docs/pdf"]).code, 0);
    assert_eq!(user.run(&["read", "team/docs/pdf", "a.md"]).out, "A\n");
    let activated = user.run(&["activate", "team/docs/pdf"]);
    assert!(
        activated.out.contains("comes from the MCP server team, skill://docs/pdf/SKILL.md"),
        "{}",
        activated.transcript()
    );
}
