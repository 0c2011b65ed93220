//! `--root`, `--project` and `--home`.

use crate::support::TestEnv;
use insta::assert_snapshot;

fn env() -> TestEnv {
    let env = TestEnv::new();
    env.skill_with_description("one/pdf", "From one.")
        .skill_with_description("two/pdf", "From two.")
        .skill("two/docx")
        .skill(".agents/skills/never")
        .skill("~/.agents/skills/neither");
    env
}

#[test]
fn only_the_given_roots_are_searched_and_all_are_trusted() {
    assert_snapshot!(env().run(&["--root", "one", "list", "--all"]).transcript());
}

#[test]
fn the_first_root_wins() {
    let env = env();
    assert_snapshot!(env.runs(&[
        &["--root", "one", "--root", "two", "list", "--all"],
        &["--root", "two", "--root", "one", "list", "--all"],
    ]));
}

#[test]
fn roots_work_in_every_preset() {
    let env = env();
    for preset in ["standard", "app", "skill-tool", "harness", "triggers"] {
        let json = env.run(&["list", "--json", "--preset", preset, "--root", "one", "--root", "two"]).json();
        let skills = json["skills"].as_array().unwrap();
        let result: Vec<_> = skills.iter().map(|skill| skill["description"].as_str().unwrap()).collect();
        assert_eq!(result, ["Does docx.", "From one."], "{preset}");
    }
}

#[test]
fn a_missing_root_is_an_error() {
    let env = env();
    assert_snapshot!(env.runs(&[
        &["--root", "missing", "list"],
        &["--root", "missing", "list", "--json"],
        &["--root", "missing", "--root", "one", "list"],
        &["--root", "", "list"],
    ]));
}

#[test]
fn a_missing_root_is_an_error_in_every_command() {
    let env = env();
    env.file("file", "x");
    for command in [
        &["audit"][..],
        &["check"],
        &["list"],
        &["show"],
        &["why", "pdf"],
        &["info", "pdf"],
        &["prompt"],
        &["match", "x"],
        &["lint", "--routing"],
        &["activate", "pdf"],
        &["files", "pdf"],
        &["tools"],
        &["verify"],
        &["mcp"],
        &["serve", "--addr", "127.0.0.1:0"],
    ] {
        for root in ["missing", "file"] {
            let result = env.run(&[&["--root", root], command].concat());
            assert_eq!(result.code, 2, "{command:?}: {}{}", result.out, result.err);
            assert!(result.err.contains("(--root)"), "{command:?}: {}", result.err);
        }
    }
}

/// The arguments of every command. The test fails for a command without an entry.
const COMMANDS: &[(&str, &str)] = &[
    ("list", ""),
    ("show", ""),
    ("info", "pdf"),
    ("why", "pdf"),
    ("check", ""),
    ("audit", ""),
    ("prompt", ""),
    ("match", "x"),
    ("activate", "pdf"),
    ("files", "pdf"),
    ("read", "pdf SKILL.md"),
    ("run", "pdf x.sh"),
    ("env", ""),
    ("env build", "pdf"),
    ("env list", ""),
    ("env remove", "pdf"),
    ("env prune", ""),
    ("tools", ""),
    ("call", "skills.search {}"),
    ("chat", "hello"),
    ("chats", ""),
    ("chats list", ""),
    ("chats show", "x"),
    ("chats files", "ID"),
    ("chats save", "ID x"),
    ("chats delete", "x"),
    ("chats export", ""),
    ("chats import", "file"),
    ("lsp", ""),
    ("schema", ""),
    ("mcp", ""),
    ("hook", "install"),
    ("hook install", "--client cursor --dry-run"),
    ("hook uninstall", "--client cursor --dry-run"),
    ("mcp install", "--client cursor --dry-run"),
    ("mcp uninstall", "--client cursor --dry-run"),
    ("mcp clients", ""),
    ("serve", "--addr 127.0.0.1:0"),
    ("eval", "file"),
    ("lint", "--routing"),
    ("test", "pdf"),
    ("new", "made --description X."),
    ("install", "./one --dry-run"),
    ("import", "./one --dry-run"),
    ("update", ""),
    ("remove", "pdf --dry-run"),
    ("verify", ""),
    ("sync", "--dry-run"),
    ("outdated", ""),
    ("diff", "pdf"),
    ("find", "pdf"),
    ("config set", "catalog.format xml"),
    ("config unset", "catalog.format"),
    ("config edit", ""),
    ("pack", "one/pdf"),
    ("index", "one"),
    ("enable", "pdf"),
    ("disable", "pdf"),
    ("plugins", ""),
    ("trust", ""),
    ("untrust", ""),
    ("config", ""),
    ("doctor", ""),
    ("skill", "show"),
    ("skill show", ""),
    ("skill install", "./one --dry-run"),
    ("skill manage", ""),
    ("skill manage enable", "pdf"),
    ("skill manage disable", "pdf"),
    ("skill manage update", ""),
    ("skill manage remove", "pdf --dry-run"),
    ("skill manage list", ""),
    ("completions", "bash"),
    ("man", ""),
];

/// Every path argument, with an invalid path: a missing one for input,
/// and one below a file for output, since missing output directories are created.
const PATH_ARGUMENTS: &[(&str, &str, &str)] = &[
    ("check", "PATHS", "check missing"),
    ("check", "--baseline", "check --baseline missing"),
    ("audit", "PATH|NAME", "audit ./missing"),
    ("audit", "--baseline", "audit --baseline missing"),
    ("eval", "FILE", "eval missing"),
    ("eval", "--compare", "eval queries --compare missing"),
    ("new", "--dir", "new made --description X. --dir file/x"),
    ("enable", "--source", "enable --source missing"),
    ("disable", "--source", "disable --source missing"),
    ("skill manage enable", "--source", "skill manage enable --source missing"),
    ("skill manage disable", "--source", "skill manage disable --source missing"),
    ("install", "SOURCE", "install ./missing"),
    ("skill install", "SOURCE", "skill install ./missing"),
    ("import", "SOURCE", "import ./missing"),
    ("import", "SOURCE", "import ./missing/skills-lock.json"),
    ("pack", "DIR", "pack missing"),
    ("pack", "--output", "pack one/pdf --output missing/x.skill"),
    ("index", "DIR", "index missing"),
    ("index", "--output", "index one --output file/x"),
    ("trust", "PATH", "trust missing"),
    ("untrust", "PATH", "untrust missing"),
    ("serve", "--token-file", "serve --addr 127.0.0.1:0 --token-file missing"),
    ("serve", "--admin-token-file", "serve --addr 127.0.0.1:0 --admin-token-file missing"),
    ("run", "--workspace", "run pdf x.sh --workspace missing"),
    ("run", "--read", "run pdf x.sh --read missing"),
    ("run", "--output", "run pdf x.sh --output file/x"),
    ("mcp", "--token-file", "mcp --http 127.0.0.1:0 --token-file missing"),
    ("mcp", "--workspace", "mcp --workspace missing"),
    ("mcp install", "--workspace", "mcp install --client cursor --dry-run --workspace missing"),
    ("chat", "--file", "chat hello --file missing"),
    ("test", "--record", "test ./one/pdf --record file/x"),
    ("test", "--replay", "test ./one/pdf --replay missing"),
    ("test", "--out", "test ./one/pdf --out file/x"),
    ("test", "--agent-read", "test ./one/pdf --agent-read missing"),
    ("chats save", "--output", "chats save ID x --output missing/x"),
    ("chats export", "--to", "chats export --to missing/chats.json"),
    ("chats import", "FILE", "chats import missing"),
];

/// The value names of paths in the help.
const PATH_NAMES: &[&str] = &["DIR", "FILE", "PATH", "PATHS", "PATH|NAME", "SOURCE", "CONFIG"];

/// Returns `true` for arguments that are paths inside a skill or a chat, or of files that need not exist yet: `--file` says
/// what a message is about.
fn is_inner_path(command: &str, value: &str) -> bool {
    ["read", "chats save", "match", "prompt"].contains(&command) && value == "PATH"
}

/// Other value names in the help.
const OTHER_NAMES: &[&str] = &[
    "DAYS",
    "ID",
    "PART",
    "SKILL",
    "COMMAND",
    "NAME=VALUE",
    "MODEL",
    "DOLLARS",
    "SECONDS",
    "NAME",
    "NAMES",
    "WHEN",
    "QUERY",
    "FORMAT",
    "N",
    "TEXT",
    "REF",
    "AGENT",
    "VALUE",
    "KEY",
    "CHOICE",
    "SCOPE",
    "JSON",
    "ADDRESS:PORT",
    "ADDRESS",
    "HOST",
    "HEADER",
    "URL",
    "VARIABLE",
    "CLIENT",
    "IDS",
    "TOOL",
    "PARAMS",
    "SHELL",
    "ARGS",
    "MESSAGE",
    "SCRIPT",
    "CODE",
    "SEVERITY",
    "TEMPLATE",
    "S",
    "COUNT",
];

/// Returns the subcommands of a command from its help.
fn commands_below(env: &TestEnv, command: &str, all: &mut Vec<String>) {
    let words: Vec<&str> = command.split_whitespace().chain(["--help"]).collect();
    let help = env.run(&words).out;
    let listed =
        help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    for line in listed.filter(|line| line.starts_with("  ") && !line.starts_with("   ")) {
        let name = line.split_whitespace().next().unwrap();
        if name != "help" {
            let inner = format!("{command} {name}").trim().to_owned();
            commands_below(env, &inner, all);
            all.push(inner);
        }
    }
}

/// Returns the arguments of a command that take a value: the option or value name, and the value name.
fn arguments(help: &str) -> Vec<(String, String)> {
    let heads = help.lines().map(str::trim_start).filter(|line| line.starts_with(['-', '<', '[']));
    let value = |line: &str| {
        let start = line.find(['<', '['])? + 1;
        let end = line[start..].find(['>', ']'])? + start;
        Some(line[start..end].to_owned())
    };
    heads
        .filter_map(|line| {
            let value = value(line)
                .filter(|name| name.chars().all(|c| c.is_ascii_uppercase() || ":|".contains(c)))?;
            let flag = line.split([' ', ',']).find(|word| word.starts_with("--"));
            Some((flag.map_or_else(|| value.clone(), str::to_owned), value))
        })
        .collect()
}

#[test]
fn every_path_that_does_not_exist_is_a_usage_error() {
    let env = env();
    env.file("file", "x").file("queries", "{\"query\": \"x\", \"skills\": [\"pdf\"]}\n");
    let mut commands = Vec::new();
    commands_below(&env, "", &mut commands);
    assert!(commands.len() > 40, "{commands:?}");
    let mut wrong = Vec::new();
    let mut expect_2 = |call: &[&str]| {
        let result = env.run(call);
        if result.code != 2 || !result.err.lines().any(|line| line.starts_with("error")) {
            wrong.push(format!("{call:?}: exit code {}\n{}{}", result.code, result.out, result.err));
        }
    };
    // The hook never fails; see hook_prompt.rs.
    for command in commands.iter().filter(|command| *command != "hook prompt") {
        let row = COMMANDS.iter().find(|(name, _)| name == command);
        let Some((_, args)) = row else { panic!("`{command}` has no row in COMMANDS") };
        let call: Vec<&str> = command.split(' ').chain(args.split_whitespace()).collect();
        for flag in ["--root", "--project", "--home", "--config"] {
            expect_2(&[&[flag, "missing"], &call[..]].concat());
        }
        let words: Vec<&str> = command.split(' ').chain(["--help"]).collect();
        for (argument, value) in arguments(&env.run(&words).out) {
            let known = PATH_NAMES.contains(&&*value) || OTHER_NAMES.contains(&&*value);
            assert!(known, "{command}: is {value} a path? Add it to PATH_NAMES or OTHER_NAMES");
            let global = ["--root", "--project", "--project-dir", "--home", "--config"].contains(&&*argument);
            if !PATH_NAMES.contains(&&*value) || global || is_inner_path(command, &value) {
                continue;
            }
            let has_row = PATH_ARGUMENTS.iter().any(|(name, arg, _)| name == command && *arg == argument);
            assert!(has_row, "{argument} of `{command}` has no row in PATH_ARGUMENTS");
        }
    }
    for (_, _, call) in PATH_ARGUMENTS {
        expect_2(&call.split(' ').collect::<Vec<_>>());
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn other_commands_use_the_roots() {
    let env = env();
    assert_snapshot!(env.runs(&[
        &["--root", "one", "why", "docx"],
        &["--root", "one", "why", "never"],
        &["--root", "one", "check"],
        &["--root", "one", "new", "made", "--description", "Made there."],
    ]));
    assert!(env.path("one/made/SKILL.md").is_file());
}

#[test]
fn project_option() {
    let env = env();
    env.skill("inner/.agents/skills/inside");
    assert_eq!(env.run(&["--project", "inner", "trust", "--quiet"]).code, 0);
    let result = env.run(&["--project", "inner", "list"]);
    assert!(result.out.contains("\ninside ") && !result.out.contains("never"), "{}", result.out);
    assert_snapshot!(
        env.runs(&[&["--project", "missing", "list"], &["--project", "missing", "list", "--json"]])
    );
}

#[test]
fn home_option() {
    let env = env();
    let result = env.run(&["--home", "two", "list"]);
    assert!(!result.out.contains("neither"), "{}", result.out);
}
