//! `prowess verify` and `prowess install --locked`: whether what is installed is still what was installed.

use std::fs;

use crate::world::{CHANGING, World, keys, skill_md};
use insta::{assert_snapshot, with_settings};

/// A project with two installed skills, from a folder in it.
fn world() -> World {
    let world = World::bare();
    world.skill("shelf/pdf").file("shelf/pdf/scripts/fill.sh", "#!/bin/sh\n").skill("shelf/csv");
    assert_eq!(world.run(&["install", "./shelf", "--all", "--project"]).code, 0);
    world
}

fn change(world: &World) {
    world.file(".agents/skills/pdf/SKILL.md", skill_md("pdf", "Does something else."));
    world.file(".agents/skills/pdf/new.md", "New.\n");
    fs::remove_file(world.path(".agents/skills/pdf/scripts/fill.sh")).unwrap();
}

#[test]
fn nothing_installed() {
    let world = World::bare();
    assert_snapshot!(world.runs(&[&["verify"], &["verify", "--json"], &["verify", "pdf"]]));
}

#[test]
fn all_as_installed() {
    let world = world();
    assert_snapshot!(world.runs(&[&["verify"], &["verify", "pdf", "--json"]]));
}

#[test]
fn every_way_to_differ() {
    let world = world();
    world.skill("shelf/xml").skill("shelf/odd").skill("shelf/gone").skill(".agents/skills/mine");
    assert_eq!(world.run(&["install", "./shelf", "--all"]).code, 0);
    change(&world);
    world.file(".agents/skills/csv/more.md", "More.\n");
    fs::remove_dir_all(world.path(".agents/skills/gone")).unwrap();
    fs::remove_dir_all(world.path(".agents/skills/xml")).unwrap();
    std::os::unix::fs::symlink("../../shelf/xml", world.path(".agents/skills/xml")).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", world.path(".agents/skills/odd/link")).unwrap();
    let told = world.run(&["verify"]);
    assert_eq!(told.code, 1);
    assert_snapshot!(told.whole());
    let answer = world.run(&["verify", "--json"]).json();
    let status: Vec<_> = answer["skills"].as_array().unwrap().iter().map(|skill| &skill["status"]).collect();
    assert_eq!(status, ["extra", "missing", "unlocked", "link", "modified", "link"]);
    assert_eq!(keys(&answer["skills"][0]["files"][0]), ["path", "status"]);
}

#[test]
fn what_was_modified_is_not_loaded_until_it_is_accepted() {
    let world = world();
    change(&world);
    with_settings!({ filters => CHANGING }, {
        assert_snapshot!(world.runs(&[
            &["activate", "pdf"],
            &["activate", "pdf", "--json"],
            &["why", "pdf"],
            &["verify", "--accept"],
            &["verify", "pdf", "--accept"],
            &["verify"],
            &["why", "pdf"],
        ]));
    });
    assert_eq!(world.run(&["activate", "pdf"]).code, 0);
    // What was accepted is what was there, and not whatever comes after.
    world.file(".agents/skills/pdf/more.md", "More.\n");
    assert_eq!(world.run(&["activate", "pdf"]).code, 1);
}

/// Where no trust is needed, the lock alone stands in the way.
#[test]
fn what_was_modified_for_the_user_is_not_loaded_either() {
    let world = World::bare();
    world.skill("~/shelf/pdf").file("~/shelf/pdf/notes.md", "Notes.\n");
    assert_eq!(world.run(&["install", "~/shelf/pdf"]).code, 0);
    world.file("~/.agents/skills/pdf/notes.md", "Other notes.\n");
    with_settings!({ filters => CHANGING }, {
        assert_snapshot!(world.runs(&[
            &["activate", "pdf"],
            &["read", "pdf", "notes.md", "--json"],
            &["verify"],
            &["install", "--locked", "--yes", "--on-conflict", "overwrite"],
        ]));
    });
    assert_eq!(world.run(&["activate", "pdf"]).code, 0);
}

#[test]
fn what_is_missing_cannot_be_accepted() {
    let world = world();
    fs::remove_dir_all(world.path(".agents/skills/csv")).unwrap();
    let told = world.run(&["verify", "csv", "--accept", "--json"]);
    assert_eq!((told.error().0.as_str(), told.code), ("CONFLICT", 1));
}

#[test]
fn locked_restores_what_is_missing_and_what_was_modified() {
    let world = world();
    let before = world.tree(".agents/skills");
    fs::remove_dir_all(world.path(".agents/skills/csv")).unwrap();
    with_settings!({ filters => CHANGING }, {
        assert_snapshot!(world.runs(&[
            &["install", "--locked", "--dry-run"],
            &["install", "--locked"],
            &["install", "--locked"],
        ]));
    });
    change(&world);
    assert_snapshot!(
        "locked_and_modified",
        world.runs(&[
            &["install", "--locked"],
            &["install", "--locked", "--json"],
            &["install", "--locked", "--yes", "--on-conflict", "overwrite"],
            &["verify"],
        ])
    );
    assert_eq!(world.tree(".agents/skills"), before);
}

#[test]
fn locked_fails_on_drift() {
    let world = world();
    fs::remove_dir_all(world.path(".agents")).unwrap();
    world.described("shelf/csv", "Does more.");
    assert_snapshot!(world.runs(&[&["install", "--locked"], &["install", "--locked", "--json"]]));
    assert_eq!(world.tree(".agents"), Vec::<String>::new());
    assert_eq!(world.run(&["install", "./shelf", "--locked", "--ref", "x"]).code, 2);
}

#[test]
fn locked_can_be_kept_to_one_source() {
    let world = world();
    world.skill("other/xml");
    assert_eq!(world.run(&["install", "./other/xml"]).code, 0);
    fs::remove_dir_all(world.path(".agents")).unwrap();
    assert_snapshot!(world.runs(&[
        &["install", "./shelf", "--locked"],
        &["install", "./shelf/pdf", "--locked"],
        &["verify"],
    ]));
}

#[test]
fn locked_without_a_lock() {
    assert_snapshot!(World::bare().runs(&[&["install", "--locked"], &["install"]]));
}

#[test]
fn a_lock_that_cannot_be_read_stops_everything() {
    let world = world();
    let marks = world.text("skills.lock").replacen("  \"schema\"", "<<<<<<< ours\n  \"schema\"", 1);
    world.file("skills.lock", marks.clone());
    assert_snapshot!(world.runs(&[
        &["verify"],
        &["verify", "--json"],
        &["install", "./shelf/pdf"],
        &["update"],
        &["remove", "pdf"],
        &["plugins"],
        &["activate", "pdf"],
    ]));
    assert_eq!(world.text("skills.lock"), marks);
    let told = world.run(&["doctor"]);
    assert!(told.out.contains("installed     [PROJECT]/skills.lock cannot be read"), "{}", told.out);
    assert_eq!(told.code, 1);
}

#[test]
fn the_doctor_sees_what_was_modified() {
    let world = world();
    let line = |world: &World| {
        let told = world.run(&["doctor"]);
        assert_eq!(told.code, 0, "{}", told.whole());
        let lines: Vec<_> =
            told.out.lines().skip_while(|line| !line.contains(" installed ")).take(2).collect();
        lines.join("\n")
    };
    let before = line(&world);
    change(&world);
    assert_snapshot!(format!("{before}\n\n{}", line(&world)));
}

/// A situation in which a command names another one that helps.
struct Hint {
    name: &'static str,
    begin: fn(&World),
    /// What prints the hint.
    ask: &'static [&'static str],
    /// How many commands it names.
    commands: usize,
    /// What succeeds once any of them was run.
    then: &'static [&'static str],
}

const PDF: &str = "~/.agents/skills/pdf";

fn installed(world: &World) {
    world.skill("~/shelf/pdf");
    assert_eq!(world.run(&["install", "~/shelf/pdf", "--scope", "user"]).code, 0);
}

fn installed_in_the_project(world: &World) {
    world.skill("shelf/pdf").file(".git/HEAD", "");
    assert_eq!(world.run(&["install", "./shelf/pdf"]).code, 0);
}

const HINTS: &[Hint] = &[
    Hint {
        name: "why, modified for the user",
        begin: |world| {
            installed(world);
            world.file("~/.agents/skills/pdf/more.md", "More.\n").file(".git/HEAD", "");
        },
        ask: &["why", "pdf"],
        commands: 2,
        then: &["why", "pdf"],
    },
    Hint {
        name: "verify, modified in the project",
        begin: |world| {
            installed_in_the_project(world);
            world.file(".agents/skills/pdf/more.md", "More.\n");
        },
        ask: &["verify"],
        commands: 2,
        then: &["verify"],
    },
    Hint {
        name: "list, modified in the project",
        begin: |world| {
            installed_in_the_project(world);
            world.file(".agents/skills/pdf/more.md", "More.\n");
        },
        ask: &["list", "--all"],
        commands: 1,
        then: &["activate", "pdf"],
    },
    Hint {
        name: "verify, missing",
        begin: |world| {
            installed(world);
            fs::remove_dir_all(world.path(PDF)).unwrap();
            world.file(".git/HEAD", "");
        },
        ask: &["verify"],
        commands: 1,
        then: &["verify"],
    },
    Hint {
        name: "why, untrusted",
        begin: |world| {
            world.skill(".agents/skills/pdf");
        },
        ask: &["why", "pdf"],
        commands: 1,
        then: &["why", "pdf"],
    },
    Hint {
        name: "doctor, a nested repository",
        begin: |world| {
            world.skill(".agents/skills/pdf").file(".agents/skills/pdf/.git/HEAD", "");
            assert_eq!(world.run(&["trust"]).code, 0);
        },
        ask: &["doctor"],
        commands: 1,
        then: &["why", "pdf"],
    },
    Hint {
        name: "trust, a nested repository",
        begin: |world| {
            world.skill(".agents/skills/pdf").file(".agents/skills/pdf/.git/HEAD", "");
        },
        ask: &["trust"],
        commands: 1,
        then: &["why", "pdf"],
    },
    Hint {
        name: "why, a link to a folder with a space and a quote in its name",
        begin: |world| {
            world.skill("~/it's my shelf/pdf").file("~/.agents/skills/.keep", "");
            std::os::unix::fs::symlink(world.path("~/it's my shelf/pdf"), world.path(PDF)).unwrap();
        },
        ask: &["why", "pdf"],
        commands: 1,
        then: &["why", "pdf"],
    },
    Hint {
        name: "why, changed since it was trusted",
        begin: |world| {
            world.skill(".agents/skills/pdf");
            assert_eq!(world.run(&["trust", "--pinned"]).code, 0);
            world.described(".agents/skills/pdf", "Something else.");
        },
        ask: &["why", "pdf"],
        commands: 1,
        then: &["why", "pdf"],
    },
    Hint {
        name: "why, disabled by the user",
        begin: |world| {
            world.skill(PDF);
            assert_eq!(world.run(&["disable", "pdf"]).code, 0);
        },
        ask: &["why", "pdf"],
        commands: 1,
        then: &["why", "pdf"],
    },
    Hint {
        name: "why, disabled by the project",
        begin: |world| {
            world.skill(PDF);
            assert_eq!(world.run(&["disable", "pdf", "--scope", "project"]).code, 0);
        },
        ask: &["why", "pdf"],
        commands: 1,
        then: &["why", "pdf"],
    },
    Hint {
        name: "enable, disabled by the project",
        begin: |world| {
            world.skill(PDF);
            assert_eq!(world.run(&["disable", "pdf", "--project"]).code, 0);
        },
        ask: &["enable", "pdf"],
        commands: 1,
        then: &["why", "pdf"],
    },
    Hint {
        name: "why, its source disabled by the project",
        begin: |world| {
            world.skill(PDF);
            assert_eq!(world.run(&["disable", "--source", "~/.agents/skills", "--project"]).code, 0);
        },
        ask: &["why", "pdf"],
        commands: 1,
        then: &["why", "pdf"],
    },
    Hint {
        name: "install --locked, in a fresh clone",
        begin: |world| {
            installed_in_the_project(world);
            fs::remove_dir_all(world.path(".agents")).unwrap();
            fs::remove_dir_all(world.path("~/.prowess")).unwrap();
        },
        ask: &["install", "--locked"],
        commands: 1,
        then: &["why", "pdf"],
    },
    Hint {
        name: "tools, an untrusted skill",
        begin: |world| {
            world.skill(".agents/skills/pdf");
        },
        ask: &["tools", "--skill", "pdf"],
        commands: 1,
        then: &["tools", "--skill", "pdf"],
    },
    Hint {
        name: "update, renamed at the source",
        begin: |world| {
            installed(world);
            world.file("~/shelf/pdf/SKILL.md", skill_md("forms", "Does pdf."));
        },
        ask: &["update"],
        commands: 1,
        then: &["update"],
    },
    Hint {
        name: "install, high findings",
        begin: |world| {
            world.file("~/shelf/root/SKILL.md", crate::world::HIGH);
        },
        ask: &["install", "~/shelf/root"],
        commands: 1,
        then: &["why", "root"],
    },
];

/// The commands that a text names after a colon or an arrow, and those that are the same call with one more option.
fn named(text: &str, ask: &[&str]) -> Vec<String> {
    let mut commands: Vec<String> = Vec::new();
    for line in text.lines() {
        let begins = line.match_indices("prowess ").filter(|(at, _)| {
            let before = &line[..*at];
            before.ends_with(": ") || before.ends_with("→ ")
        });
        commands.extend(begins.map(|(at, _)| line[at..].split("; ").next().unwrap().to_owned()));
        if let Some((_, option)) = line.split_once("the same command with ") {
            commands.push(format!("prowess {} {option}", ask.join(" ")));
        }
    }
    commands.sort();
    commands.dedup();
    commands
}

/// Runs a command as a person would who copies it into a shell.
fn paste(world: &World, command: &str) -> std::process::Output {
    let folder = |inner: &str| world.path(inner).display().to_string();
    let pasted = command
        .replace("[PROJECT]", folder("").trim_end_matches('/'))
        .replace("[HOME]", folder("~/").trim_end_matches('/'));
    let binary = world.command(&[]);
    let mut shell = std::process::Command::new("/bin/sh");
    let script = format!("prowess() {{ {} \"$@\"; }}; {pasted}", binary.get_program().display());
    shell.args(["-c", &script]).env_clear().current_dir(world.path(""));
    shell.envs(binary.get_envs().filter_map(|(name, value)| Some((name, value?))));
    // A shell expands a tilde by itself.
    shell.env("HOME", world.path("~/"));
    shell.stdin(std::process::Stdio::null()).output().unwrap()
}

#[test]
fn every_hint_works_as_it_is_printed() {
    for hint in HINTS {
        let ask = || {
            let world = World::bare();
            (hint.begin)(&world);
            let told = world.run(hint.ask);
            (world, named(&format!("{}\n{}", told.out, told.err), hint.ask), told)
        };
        let (_, commands, told) = ask();
        assert_eq!(commands.len(), hint.commands, "{}: {commands:?} in {}", hint.name, told.whole());
        for command in commands {
            let (world, ..) = ask();
            let output = paste(&world, &command);
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(output.status.success(), "{}: {command}: {said}", hint.name);
            let then = world.run(hint.then);
            assert_eq!(then.code, 0, "{}, after {command}: {}", hint.name, then.whole());
        }
    }
}

/// Situations whose messages name commands in a sentence. Those commands need not succeed, but they have to be understood.
const SENTENCES: &[(&str, Begin, &[&str])] = &[
    ("a command is missing", |_| {}, &[]),
    ("man, an unknown command", |_| {}, &["man", "zzz"]),
    ("info, a name that is nearly right", of_the_user, &["info", "pfd"]),
    ("info, an unknown name", of_the_user, &["info", "zzz"]),
    ("enable, a name that is nearly right", of_the_user, &["enable", "pfd"]),
    ("enable, an unknown name", of_the_user, &["enable", "zzz"]),
    ("activate, disabled", disabled, &["activate", "pdf"]),
    ("read, an unknown file", of_the_user, &["read", "pdf", "nope.md"]),
    ("verify, an unknown name", installed, &["verify", "zzz"]),
    ("update, a name that is nearly right", installed, &["update", "pfd"]),
    ("update, an unknown name", installed, &["update", "zzz"]),
    ("plugins, a folder is missing", missing, &["plugins"]),
    ("remove, of another scope", trusted, &["remove", "pdf", "--user"]),
    ("doctor, modified", modified, &["doctor"]),
    ("install over a modified skill", modified, &["install", "~/shelf/pdf"]),
    ("install --locked, drift", drift, &["install", "--locked", "--yes", "--on-conflict", "overwrite"]),
    ("chats, an unknown id", |_| {}, &["chats", "show", "x"]),
    ("chats, none", |_| {}, &["chats"]),
    ("list, nothing found", |_| {}, &["list"]),
    ("list, one is not offered", of_the_project, &["list"]),
    ("doctor, an invalid skill", invalid, &["doctor"]),
    ("doctor, many diagnostics", many_copies, &["doctor"]),
    ("a configuration with errors", broken_configuration, &["list"]),
    ("doctor, a configuration with errors", broken_configuration, &["doctor"]),
    ("check, a skill inside another", nested, &["check", "tree"]),
    ("check, a link out of the tree", linked_out, &["check", "tree"]),
    ("pack, a folder of skills", of_the_project, &["pack", ".agents/skills"]),
    ("pack, an invalid skill", invalid, &["pack", ".agents/skills/pdf"]),
    ("install, a path that does not exist", |_| {}, &["install", "./missing"]),
    ("install, no source", |_| {}, &["install", "no source at all"]),
    ("new", |_| {}, &["new", "made", "--description", "Makes."]),
    ("new, a bad name", |_| {}, &["new", "Bad Name", "--description", "Makes."]),
    ("audit, suppressions of an untrusted project", suppressions, &["audit"]),
    ("mcp install, no client", |_| {}, &["mcp", "install", "--all"]),
    ("mcp install, no project", |_| {}, &["mcp", "install", "--client", "goose", "--project"]),
    ("enable, disabled by the user", disabled, &["enable", "pdf", "--project"]),
    (
        "enable, its source disabled by the user",
        source_disabled,
        &["enable", "--source", "~/.agents/skills", "--project"],
    ),
];

type Begin = fn(&World);

fn of_the_user(world: &World) {
    world.skill(PDF);
}

fn of_the_project(world: &World) {
    world.skill(".agents/skills/pdf");
}

fn disabled(world: &World) {
    world.skill(PDF);
    assert_eq!(world.run(&["disable", "pdf"]).code, 0);
}

fn source_disabled(world: &World) {
    world.skill(PDF);
    assert_eq!(world.run(&["disable", "--source", "~/.agents/skills"]).code, 0);
}

fn trusted(world: &World) {
    world.skill(".agents/skills/pdf");
    assert_eq!(world.run(&["trust"]).code, 0);
}

fn missing(world: &World) {
    installed(world);
    fs::remove_dir_all(world.path(PDF)).unwrap();
}

fn modified(world: &World) {
    installed(world);
    world.file("~/.agents/skills/pdf/more.md", "More.\n");
}

fn drift(world: &World) {
    installed(world);
    fs::remove_dir_all(world.path(PDF)).unwrap();
    world.file("~/shelf/pdf/SKILL.md", skill_md("pdf", "Something else."));
}

fn invalid(world: &World) {
    world.file(".agents/skills/pdf/SKILL.md", "---\nname: pdf\n---\nDo it.\n");
    assert_eq!(world.run(&["trust"]).code, 0);
}

fn many_copies(world: &World) {
    for number in 0..8 {
        world.skill(&format!("~/.agents/skills/s{number}")).skill(&format!(".agents/skills/s{number}"));
    }
    assert_eq!(world.run(&["trust"]).code, 0);
}

fn broken_configuration(world: &World) {
    world.file("~/.prowess/config.toml", "[chat\n");
}

fn nested(world: &World) {
    world.skill("tree/outer").skill("tree/outer/examples/inner");
}

fn linked_out(world: &World) {
    world.file("SKILL.md", skill_md("x", "Does x.")).file("tree/x/notes.md", "");
    std::os::unix::fs::symlink("../../SKILL.md", world.path("tree/x/SKILL.md")).unwrap();
}

fn suppressions(world: &World) {
    world.skill(".agents/skills/pdf");
    world.file(".prowess/audit.toml", "[[suppress]]\nrule = \"PA102\"\nreason = \"known\"\n");
}

/// Commands in messages that no situation here leads to, and why.
const NOT_TRIED: &[(&str, &str)] = &[
    ("audit ./{}", "it is about a folder that may not exist"),
    ("chat", "it takes a message, or a terminal"),
    ("chat --chat {chat}", "it takes a message, or a terminal"),
    ("chat --continue", "it takes a message, or a terminal"),
    ("check", "models are told so, and not people"),
    ("install", "the help of import"),
    ("install {}", "a host that redirects; the other one is in HINTS"),
    ("list --verbose", "many diagnostics of roots"),
    ("mcp install", "mcp on a terminal"),
    ("mcp install --print", "an entry of a client that cannot be changed"),
    ("serve", "it is where an address was printed"),
    ("trust --mcp {name}", "skills of servers, tests/served.rs"),
    ("trust --mcp {name} --allow-run", "skills of servers, tests/served.rs"),
    ("trust --mcp {}", "skills of servers, tests/served.rs"),
    ("untrust --mcp", "skills of servers, tests/served.rs"),
];

/// Commands that a sentence names without what they take.
const NAMES: &[&str] = &["chat", "new"];

/// Words that come after a command in a sentence.
const AFTER: &[&str] = &[
    "shows", "tells", "lists", "finishes", "restores", "brings", "takes", "removes", "switches", "begins",
    "goes", "gets", "installs", "makes", "looks", "changes", "reads", "connects", "says", "packs", "asks",
    "lets", "trusts", "writes", "puts", "printed", "replaces", "&&", "and", "or",
];

/// The commands that a line names, in a sentence or after a colon.
fn commands_in(line: &str, known: &[String]) -> Vec<String> {
    let mut commands = Vec::new();
    for (at, name) in line.match_indices("prowess ") {
        let rest = line[at + name.len()..].split(['"', '`']).next().unwrap();
        let mut words = Vec::new();
        for word in rest.split_whitespace().take_while(|word| !AFTER.contains(word)) {
            let plain = word.trim_end_matches([';', ',', ':', ')', '\\']);
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

/// Whether a command takes something that a person has to fill in.
fn is_template(command: &str) -> bool {
    command.split(['/', ' ']).any(|word| {
        word.len() > 1 && word.chars().all(|c| c.is_ascii_uppercase() || c == '-') && !word.starts_with('-')
    })
}

/// Whether a printed command is one that a source text with placeholders makes.
fn is_made_by(command: &str, form: &str) -> bool {
    let mut pieces = form.split('{').map(|piece| piece.split_once('}').map_or(piece, |(_, rest)| rest));
    let first = pieces.next().unwrap_or_default();
    let Some(mut rest) = command.strip_prefix(first) else { return false };
    let mut last = first;
    for piece in pieces {
        let Some(at) = rest.find(piece) else { return false };
        (rest, last) = (&rest[at + piece.len()..], piece);
    }
    rest.is_empty() || (last.is_empty() && form.ends_with('}'))
}

/// The texts of the program that name a command.
fn messages(known: &[String]) -> Vec<(String, String)> {
    let mut open = vec![std::path::PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))];
    let mut found = Vec::new();
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            if path.is_dir() {
                let is_crate =
                    path.join("src").is_dir() || path.ancestors().any(|above| above.ends_with("src"));
                if name == "src" || (is_crate && name != "tests") {
                    open.push(path);
                }
            } else if name.ends_with(".rs")
                && name != "tests.rs"
                && folder.ancestors().any(|above| above.ends_with("src"))
            {
                let text = fs::read_to_string(&path).unwrap();
                let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
                let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
                let code = code.filter(|line| line.contains('"') || line.ends_with('\\'));
                found.extend(
                    code.flat_map(|line| commands_in(line, known)).map(|form| (name.to_owned(), form)),
                );
            }
        }
    }
    found
}

/// Every command in a sentence is understood, and every text of the program that names one is tried here.
#[test]
fn every_command_in_a_message_is_tried() {
    let world = World::bare();
    let help = world.run(&["--help"]).out;
    let listed =
        help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let known: Vec<String> = listed
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .map(|line| line.split_whitespace().next().unwrap().to_owned())
        .collect();
    assert!(known.len() > 30, "{known:?}");
    let (mut printed, mut wrong) = (Vec::new(), Vec::new());
    let situations =
        SENTENCES.iter().copied().chain(HINTS.iter().map(|hint| (hint.name, hint.begin, hint.ask)));
    for (name, begin, ask) in situations {
        let world = World::bare();
        begin(&world);
        let told = world.run(ask);
        let text = format!("{}\n{}", told.out, told.err);
        let commands: Vec<String> = text.lines().flat_map(|line| commands_in(line, &known)).collect();
        // Those of HINTS are run there, with what they lead to.
        let is_sentence = SENTENCES.iter().any(|(known, ..)| *known == name);
        if commands.is_empty() && is_sentence {
            wrong.push(format!("{name}: no command in {}", told.whole()));
        }
        let is_run =
            |command: &&String| is_sentence && !is_template(command) && !NAMES.contains(&command.as_str());
        for command in commands.iter().filter(is_run) {
            let world = World::bare();
            begin(&world);
            world.run(ask);
            let output = paste(&world, &format!("prowess {command}"));
            // `config` prints what is in force and fails while the configuration has errors.
            let is_answered = command == "config" && !output.stdout.is_empty();
            if !is_answered && output.status.code().is_none_or(|code| code > 1) {
                wrong.push(format!("{name}: prowess {command}: {}", String::from_utf8_lossy(&output.stderr)));
            }
        }
        printed.extend(commands);
    }
    for (file, form) in messages(&known) {
        let is_tried = printed.iter().any(|command| is_made_by(command, &form));
        let is_excepted = NOT_TRIED.iter().any(|(known, _)| *known == form);
        if !is_tried && !is_excepted && !is_template(&form) {
            wrong.push(format!("{file}: no situation prints `prowess {form}`"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
