//! Commands in messages work when pasted.

use std::fs;

use crate::support::{TestEnv, skill_md};

/// A situation in which a message contains commands that help: the arguments of the command that prints them, their
/// number, and a command that succeeds after any of them.
type Hint = (&'static str, Setup, &'static [&'static str], usize, &'static [&'static str]);

type Setup = fn(&TestEnv);

const PDF: &str = "~/.agents/skills/pdf";

const WHY: &[&str] = &["why", "pdf"];

const ROUTING: &[&str] = &["test", "pdf", "--only", "routing"];

const HINTS: &[Hint] = &[
    ("why, modified for the user", modified_in_a_repository, WHY, 2, WHY),
    ("verify, modified in the project", modified_in_the_project, &["verify"], 2, &["verify"]),
    ("list, modified in the project", modified_in_the_project, &["list", "--all"], 1, &["activate", "pdf"]),
    ("verify, missing", missing_in_a_repository, &["verify"], 1, &["verify"]),
    ("sync, missing", missing_in_a_repository, &["sync"], 1, &["sync"]),
    ("why, untrusted", project_skill, WHY, 1, WHY),
    ("doctor, a nested repository", nested_repository_in_a_trusted_project, &["doctor"], 1, WHY),
    ("trust, a nested repository", nested_repository, &["trust"], 1, WHY),
    (
        "why, a symlink to a directory with a space and a quote in its name",
        linked_to_an_odd_name,
        WHY,
        1,
        WHY,
    ),
    ("why, changed since it was trusted", changed_since_pinned, WHY, 1, WHY),
    ("why, disabled by the user", disabled, WHY, 1, WHY),
    ("why, disabled by the project", disabled_by_the_project, WHY, 1, WHY),
    ("enable, disabled by the project", disabled_by_the_project, &["enable", "pdf"], 1, WHY),
    ("why, its source disabled by the project", source_disabled_by_the_project, WHY, 1, WHY),
    ("install --locked, in a fresh clone", fresh_clone, &["install", "--locked"], 1, WHY),
    (
        "tools, an untrusted skill",
        project_skill,
        &["tools", "--skill", "pdf"],
        1,
        &["tools", "--skill", "pdf"],
    ),
    ("update, renamed at the source", renamed_at_the_source, &["update"], 1, &["update"]),
    ("test, an untrusted skill", evaluated, &["test", "--only", "routing"], 1, ROUTING),
    ("test, an untrusted skill by its name", evaluated, ROUTING, 1, ROUTING),
    ("test, changed since it was trusted", evaluated_and_changed, ROUTING, 1, ROUTING),
    ("test, disabled", evaluated_and_disabled, ROUTING, 1, ROUTING),
    ("install, high findings", high_findings, &["install", "~/shelf/root"], 1, &["why", "root"]),
];

fn own_environments(env: &TestEnv) {
    env.file("~/.prowess/config.toml", "environments.directory = \"~/environments\"\n");
}

fn installed(env: &TestEnv) {
    env.skill("~/shelf/pdf");
    assert_eq!(env.run(&["install", "~/shelf/pdf", "--scope", "user"]).code, 0);
}

fn outdated(env: &TestEnv) {
    installed(env);
    env.skill_with_description("~/shelf/pdf", "Does more.");
}

fn conflict_with_an_agent(env: &TestEnv) {
    installed_in_the_project(env);
    env.skill_with_description(".claude/skills/pdf", "Another one.");
}

fn installed_in_the_project(env: &TestEnv) {
    env.skill("shelf/pdf").file(".git/HEAD", "");
    assert_eq!(env.run(&["install", "./shelf/pdf"]).code, 0);
}

fn modified_in_a_repository(env: &TestEnv) {
    modified(env);
    env.file(".git/HEAD", "");
}

fn modified_in_the_project(env: &TestEnv) {
    installed_in_the_project(env);
    env.file(".agents/skills/pdf/more.md", "More.\n");
}

fn missing_in_a_repository(env: &TestEnv) {
    missing(env);
    env.file(".git/HEAD", "");
}

fn nested_repository(env: &TestEnv) {
    env.skill(".agents/skills/pdf").file(".agents/skills/pdf/.git/HEAD", "");
}

fn nested_repository_in_a_trusted_project(env: &TestEnv) {
    nested_repository(env);
    assert_eq!(env.run(&["trust"]).code, 0);
}

fn linked_to_an_odd_name(env: &TestEnv) {
    env.skill("~/it's my shelf/pdf").file("~/.agents/skills/.keep", "");
    std::os::unix::fs::symlink(env.path("~/it's my shelf/pdf"), env.path(PDF)).unwrap();
}

fn changed_since_pinned(env: &TestEnv) {
    env.skill(".agents/skills/pdf");
    assert_eq!(env.run(&["trust", "--pinned"]).code, 0);
    env.skill_with_description(".agents/skills/pdf", "Something else.");
}

fn disabled_by_the_project(env: &TestEnv) {
    env.skill(PDF);
    assert_eq!(env.run(&["disable", "pdf", "--scope", "project"]).code, 0);
}

fn source_disabled_by_the_project(env: &TestEnv) {
    env.skill(PDF);
    assert_eq!(env.run(&["disable", "--source", "~/.agents/skills", "--project"]).code, 0);
}

fn fresh_clone(env: &TestEnv) {
    installed_in_the_project(env);
    fs::remove_dir_all(env.path(".agents")).unwrap();
    fs::remove_dir_all(env.path("~/.prowess")).unwrap();
}

fn renamed_at_the_source(env: &TestEnv) {
    installed(env);
    env.file("~/shelf/pdf/SKILL.md", skill_md("forms", "Does pdf."));
}

fn high_findings(env: &TestEnv) {
    env.file("~/shelf/root/SKILL.md", crate::support::HIGH);
}

/// Returns the commands of a text that follow a colon, an arrow or `run`, and those that add an option to the same command.
fn hint_commands(text: &str, args: &[&str]) -> Vec<String> {
    let mut commands: Vec<String> = Vec::new();
    for line in text.lines() {
        let starts = line.match_indices("prowess ").filter(|(at, _)| {
            let before = &line[..*at];
            [": ", "→ ", "run "].iter().any(|end| before.ends_with(end))
        });
        commands.extend(starts.map(|(at, _)| {
            let command = line[at..].split("; ").next().unwrap();
            command.split(" to ").next().unwrap().to_owned()
        }));
        if let Some((_, option)) = line.split_once("the same command with ") {
            commands.push(format!("prowess {} {option}", args.join(" ")));
        }
    }
    commands.sort();
    commands.dedup();
    commands
}

/// Runs a command in a shell, as if it was pasted.
fn paste(env: &TestEnv, command: &str) -> std::process::Output {
    let path = |inner: &str| env.path(inner).display().to_string();
    let pasted = command
        .replace("[PROJECT]", path("").trim_end_matches('/'))
        .replace("[HOME]", path("~/").trim_end_matches('/'));
    let binary = env.command(&[]);
    let mut shell = std::process::Command::new("/bin/sh");
    let script = format!("prowess() {{ {} \"$@\"; }}; {pasted}", binary.get_program().display());
    shell.args(["-c", &script]).env_clear().current_dir(env.path(""));
    shell.envs(binary.get_envs().filter_map(|(name, value)| Some((name, value?))));
    // A shell expands a tilde by itself.
    shell.env("HOME", env.path("~/"));
    shell.stdin(std::process::Stdio::null()).output().unwrap()
}

#[test]
fn every_hint_works_when_pasted() {
    for (name, setup, args, count, follow_up) in HINTS {
        let run_hint = || {
            let env = TestEnv::bare();
            setup(&env);
            let result = env.run(args);
            (env, hint_commands(&format!("{}\n{}", result.out, result.err), args), result)
        };
        let (_, commands, result) = run_hint();
        assert_eq!(commands.len(), *count, "{name}: {commands:?} in {}", result.transcript());
        for command in commands {
            let (env, ..) = run_hint();
            let output = paste(&env, &command);
            let message = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(output.status.success(), "{name}: {command}: {message}");
            let then = env.run(follow_up);
            assert_eq!(then.code, 0, "{name}, after {command}: {}", then.transcript());
        }
    }
}

/// Situations whose messages contain commands in a sentence. These commands need not succeed, but they must be valid.
const MENTIONS: &[(&str, Setup, &[&str])] = &[
    ("man, an unknown command", |_| {}, &["man", "zzz"]),
    ("info, a similar name", user_skill, &["info", "pfd"]),
    ("info, an unknown name", user_skill, &["info", "zzz"]),
    ("enable, a similar name", user_skill, &["enable", "pfd"]),
    ("enable, an unknown name", user_skill, &["enable", "zzz"]),
    ("activate, disabled", disabled, &["activate", "pdf"]),
    ("read, an unknown file", user_skill, &["read", "pdf", "nope.md"]),
    ("verify, an unknown name", installed, &["verify", "zzz"]),
    ("find without an index", |_| {}, &["find", "pdf"]),
    ("config set, an unknown key", |_| {}, &["config", "set", "catalog.fromat", "json"]),
    ("outdated, a newer version", outdated, &["outdated"]),
    ("outdated, a missing directory", missing, &["outdated"]),
    ("sync, a conflict", conflict_with_an_agent, &["sync"]),
    ("update, a similar name", installed, &["update", "pfd"]),
    ("update, an unknown name", installed, &["update", "zzz"]),
    ("plugins, a missing directory", missing, &["plugins"]),
    ("env remove, an unknown name", own_environments, &["env", "remove", "zzz"]),
    ("remove, of an MCP server", approved_remote, &["remove", "docs/pdf", "--yes"]),
    ("remove, of another scope", trusted, &["remove", "pdf", "--user"]),
    ("doctor, modified", modified, &["doctor"]),
    ("install over a modified skill", modified, &["install", "~/shelf/pdf"]),
    (
        "install --locked, a changed source",
        changed_source,
        &["install", "--locked", "--yes", "--on-conflict", "overwrite"],
    ),
    ("chats, an unknown id", |_| {}, &["chats", "show", "x"]),
    ("chats, none", |_| {}, &["chats"]),
    ("list, no skills", |_| {}, &["list"]),
    ("list, one is not available", project_skill, &["list"]),
    ("doctor, an invalid skill", invalid, &["doctor"]),
    ("doctor, many diagnostics", many_copies, &["doctor"]),
    ("a configuration with errors", broken_configuration, &["list"]),
    ("doctor, a configuration with errors", broken_configuration, &["doctor"]),
    ("check, a skill inside another", nested, &["check", "tree"]),
    ("check, a symlink out of the tree", linked_out, &["check", "tree"]),
    ("pack, a directory of skills", project_skill, &["pack", ".agents/skills"]),
    ("pack, an invalid skill", invalid, &["pack", ".agents/skills/pdf"]),
    ("install, a path that does not exist", |_| {}, &["install", "./missing"]),
    ("install, no source", |_| {}, &["install", "no source at all"]),
    ("new", |_| {}, &["new", "made", "--description", "Makes."]),
    ("new, with a script", |_| {}, &["new", "made", "--description", "Makes.", "--template", "script"]),
    ("new, with a toolset", |_| {}, &["new", "made", "--description", "Makes.", "--template", "toolset"]),
    ("new, a bad name", |_| {}, &["new", "Bad Name", "--description", "Makes."]),
    ("audit, suppressions of an untrusted project", suppressions, &["audit"]),
    ("hook install, no client", |_| {}, &["hook", "install", "--all", "--yes"]),
    ("hook install, no prompt hook", |_| {}, &["hook", "install", "--client", "windsurf"]),
    ("hook install, a new file", |_| {}, &["hook", "install", "--client", "opencode", "--dry-run"]),
    ("mcp install, no client", |_| {}, &["mcp", "install", "--all"]),
    ("mcp install, no project", |_| {}, &["mcp", "install", "--client", "goose", "--project"]),
    ("test, no model", evaluated_and_trusted, &["test", "pdf"]),
    ("test, an unknown price", evaluated_with_a_model, &["test", "pdf", "--max-cost", "1"]),
    ("test, no recording", evaluated_with_a_model, &["test", "pdf", "--replay", "missing"]),
    ("test, an unknown name", evaluated_with_a_model, &["test", "zzz"]),
    ("test, an invalid skill", invalid, &["test", ".agents/skills/pdf"]),
    ("enable, disabled by the user", disabled, &["enable", "pdf", "--project"]),
    (
        "enable, its source disabled by the user",
        source_disabled,
        &["enable", "--source", "~/.agents/skills", "--project"],
    ),
];

fn evaluated(env: &TestEnv) {
    let triggers = r#"[{"query": "Do the pdf", "should_trigger": true}]"#;
    env.skill(".agents/skills/pdf").file(".agents/skills/pdf/evals/triggers.json", triggers);
}

fn evaluated_and_trusted(env: &TestEnv) {
    evaluated(env);
    assert_eq!(env.run(&["trust"]).code, 0);
}

fn evaluated_and_disabled(env: &TestEnv) {
    evaluated_and_trusted(env);
    assert_eq!(env.run(&["disable", "pdf"]).code, 0);
}

fn evaluated_and_changed(env: &TestEnv) {
    evaluated(env);
    assert_eq!(env.run(&["trust", "--pinned"]).code, 0);
    env.skill_with_description(".agents/skills/pdf", "Does other things with a pdf.");
}

fn evaluated_with_a_model(env: &TestEnv) {
    evaluated_and_trusted(env);
    env.file(
        "~/.prowess/config.toml",
        "[chat]\nprovider = \"openai-chat\"\nmodel = \"m\"\nbase-url = \"http://127.0.0.1:9/v1\"\n",
    );
}

fn user_skill(env: &TestEnv) {
    env.skill(PDF);
}

fn project_skill(env: &TestEnv) {
    env.skill(".agents/skills/pdf");
}

fn disabled(env: &TestEnv) {
    env.skill(PDF);
    assert_eq!(env.run(&["disable", "pdf"]).code, 0);
}

fn source_disabled(env: &TestEnv) {
    env.skill(PDF);
    assert_eq!(env.run(&["disable", "--source", "~/.agents/skills"]).code, 0);
}

fn trusted(env: &TestEnv) {
    env.skill(".agents/skills/pdf");
    assert_eq!(env.run(&["trust"]).code, 0);
}

fn approved_remote(env: &TestEnv) {
    crate::mcp_sources::configure_server(env);
    assert_eq!(env.run(&["trust", "--mcp", "docs/pdf"]).code, 0);
}

fn missing(env: &TestEnv) {
    installed(env);
    fs::remove_dir_all(env.path(PDF)).unwrap();
}

fn modified(env: &TestEnv) {
    installed(env);
    env.file("~/.agents/skills/pdf/more.md", "More.\n");
}

fn changed_source(env: &TestEnv) {
    installed(env);
    fs::remove_dir_all(env.path(PDF)).unwrap();
    env.file("~/shelf/pdf/SKILL.md", skill_md("pdf", "Something else."));
}

fn invalid(env: &TestEnv) {
    env.file(".agents/skills/pdf/SKILL.md", "---\nname: pdf\n---\nDo it.\n");
    assert_eq!(env.run(&["trust"]).code, 0);
}

fn many_copies(env: &TestEnv) {
    for number in 0..8 {
        env.skill(&format!("~/.agents/skills/s{number}")).skill(&format!(".agents/skills/s{number}"));
    }
    assert_eq!(env.run(&["trust"]).code, 0);
}

fn broken_configuration(env: &TestEnv) {
    env.file("~/.prowess/config.toml", "[chat\n");
}

fn nested(env: &TestEnv) {
    env.skill("tree/outer").skill("tree/outer/examples/inner");
}

fn linked_out(env: &TestEnv) {
    env.file("SKILL.md", skill_md("x", "Does x.")).file("tree/x/notes.md", "");
    std::os::unix::fs::symlink("../../SKILL.md", env.path("tree/x/SKILL.md")).unwrap();
}

fn suppressions(env: &TestEnv) {
    env.skill(".agents/skills/pdf");
    env.file(".prowess/audit.toml", "[[suppress]]\nrule = \"PA102\"\nreason = \"known\"\n");
}

/// Commands in messages that are not tested here, and the reason.
const UNTESTED: &[(&str, &str)] = &[
    ("audit ./{}", "the directory may not exist"),
    ("chat", "needs a message or a terminal"),
    ("chat --chat {chat}", "needs a message or a terminal"),
    ("chat --continue", "needs a message or a terminal"),
    ("activate {name}", "in texts for models, see hook_prompt.rs"),
    ("check", "in texts for models"),
    ("env build {}", "needs a package index, see the tests of prowess-sandbox"),
    ("env build {name}", "needs a package index, see env_locked.rs"),
    ("env remove {}", "needs a package index, see env_build.rs"),
    ("env build {} --yes", "needs a package index, see the tests of prowess-sandbox"),
    ("env prune", "a full disk and damaged environments"),
    ("hook install", "the log of the hook, see hook_prompt.rs"),
    ("install", "the help of import"),
    ("install {}", "a redirecting host; the other use is in HINTS"),
    ("list", "the overview on a terminal"),
    ("list --verbose", "many diagnostics of roots"),
    ("lsp", "lsp on a terminal"),
    ("mcp install", "mcp on a terminal"),
    ("mcp install --print", "a client entry that cannot be changed"),
    ("serve", "in messages about its sign-in URL"),
    ("test", "the name of a JUnit suite"),
    ("trust --mcp {name}", "skills of servers, see mcp_sources.rs"),
    ("trust --mcp {name} --allow-run", "skills of servers, see mcp_sources.rs"),
    ("trust --mcp {}", "skills of servers, see mcp_sources.rs"),
];

/// Commands that messages mention without their arguments.
const WITHOUT_ARGUMENTS: &[&str] = &["chat", "new"];

/// Words that follow a command in a sentence.
const WORDS_AFTER_COMMANDS: &[&str] = &[
    "shows", "tells", "lists", "finishes", "restores", "brings", "takes", "removes", "switches", "begins",
    "goes", "gets", "installs", "makes", "looks", "changes", "reads", "connects", "says", "packs", "asks",
    "lets", "trusts", "writes", "puts", "printed", "replaces", "&&", "and", "or", "to", "for", "if",
];

/// Returns the commands in a line.
fn commands_in(line: &str, known: &[String]) -> Vec<String> {
    let mut commands = Vec::new();
    for (at, name) in line.match_indices("prowess ") {
        let rest = line[at + name.len()..].split(['"', '`']).next().unwrap();
        let mut words = Vec::new();
        for word in rest.split_whitespace().take_while(|word| !WORDS_AFTER_COMMANDS.contains(word)) {
            let plain = word.trim_end_matches(['.', ';', ',', ':', ')', '\\']);
            words.extend((!plain.is_empty()).then_some(plain));
            if plain != word {
                break;
            }
        }
        if words.first().is_some_and(|first| known.iter().any(|known| known == first)) {
            commands.push(words.join(" "));
        }
    }
    commands
}

/// Returns `true` if a command contains a placeholder in capital letters.
fn is_template(command: &str) -> bool {
    command.split(['/', ' ']).any(|word| {
        word.len() > 1 && word.chars().all(|c| c.is_ascii_uppercase() || c == '-') && !word.starts_with('-')
    })
}

/// Returns `true` if a printed command matches a format string.
fn matches_format(command: &str, format: &str) -> bool {
    let mut pieces = format.split('{').map(|piece| piece.split_once('}').map_or(piece, |(_, rest)| rest));
    let first = pieces.next().unwrap_or_default();
    let Some(mut rest) = command.strip_prefix(first) else { return false };
    let mut last = first;
    for piece in pieces {
        let Some(at) = rest.find(piece) else { return false };
        (rest, last) = (&rest[at + piece.len()..], piece);
    }
    rest.is_empty() || (last.is_empty() && format.ends_with('}'))
}

/// Returns the commands in string literals of the sources.
fn commands_in_sources(known: &[String]) -> Vec<(String, String)> {
    let mut pending = vec![std::path::PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))];
    let mut found = Vec::new();
    while let Some(dir) = pending.pop() {
        for entry in fs::read_dir(&dir).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            if path.is_dir() {
                let is_crate =
                    path.join("src").is_dir() || path.ancestors().any(|above| above.ends_with("src"));
                if name == "src" || (is_crate && name != "tests") {
                    pending.push(path);
                }
            } else if name.ends_with(".rs")
                && name != "tests.rs"
                && dir.ancestors().any(|above| above.ends_with("src"))
            {
                let text = fs::read_to_string(&path).unwrap();
                let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
                let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
                let code = code.filter(|line| line.contains('"') || line.ends_with('\\'));
                found.extend(
                    code.flat_map(|line| commands_in(line, known)).map(|format| (name.to_owned(), format)),
                );
            }
        }
    }
    found
}

/// Every command in a message is valid, and every command in a string literal is tested.
#[test]
fn every_command_in_a_message_is_tried() {
    let env = TestEnv::bare();
    let help = env.run(&["--help"]).out;
    let listed =
        help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let known: Vec<String> = listed
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .map(|line| line.split_whitespace().next().unwrap().to_owned())
        .collect();
    assert!(known.len() > 30, "{known:?}");
    let (mut printed, mut wrong) = (Vec::new(), Vec::new());
    let situations =
        MENTIONS.iter().copied().chain(HINTS.iter().map(|(name, setup, args, ..)| (*name, *setup, *args)));
    for (name, setup, args) in situations {
        let env = TestEnv::bare();
        setup(&env);
        let result = env.run(args);
        let text = format!("{}\n{}", result.out, result.err);
        let commands: Vec<String> = text.lines().flat_map(|line| commands_in(line, &known)).collect();
        // The commands of HINTS are run by the test above.
        let is_mention = MENTIONS.iter().any(|(known, ..)| *known == name);
        if commands.is_empty() && is_mention {
            wrong.push(format!("{name}: no command in {}", result.transcript()));
        }
        let is_run = |command: &&String| {
            is_mention && !is_template(command) && !WITHOUT_ARGUMENTS.contains(&command.as_str())
        };
        for command in commands.iter().filter(is_run) {
            let env = TestEnv::bare();
            setup(&env);
            env.run(args);
            let output = paste(&env, &format!("prowess {command}"));
            // `config` prints the settings but fails if the configuration has errors.
            let is_answered = command == "config" && !output.stdout.is_empty();
            if !is_answered && output.status.code().is_none_or(|code| code > 1) {
                wrong.push(format!("{name}: prowess {command}: {}", String::from_utf8_lossy(&output.stderr)));
            }
        }
        printed.extend(commands);
    }
    for (file, format) in commands_in_sources(&known) {
        let is_tried = printed.iter().any(|command| matches_format(command, &format));
        let is_excepted = UNTESTED.iter().any(|(known, _)| *known == format);
        if !is_tried && !is_excepted && !is_template(&format) {
            wrong.push(format!("{file}: no situation prints `prowess {format}`"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
