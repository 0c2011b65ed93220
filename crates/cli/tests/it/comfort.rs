//! Aliases, several names, suggestions, and the commands `outdated`, `diff`, `find`, `config set|unset|edit` and
//! `sync --agents-md`.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::net::Net;
use crate::support::{CHANGING, TestEnv};
use insta::{assert_snapshot, with_settings};

#[test]
fn aliases_run_the_same_commands() {
    let env = TestEnv::bare();
    env.skill("~/.agents/skills/pdf");
    for (alias, command) in [
        (&["ls"][..], &["list"][..]),
        (&["validate", "."], &["check", "."]),
        (&["upgrade"], &["update"]),
        (&["rm", "pfd"], &["remove", "pfd"]),
        (&["uninstall", "pfd"], &["remove", "pfd"]),
        (&["init", "-h"], &["new", "-h"]),
        (&["search", "-h"], &["find", "-h"]),
    ] {
        let (alias, command) = (env.run(alias), env.run(command));
        assert_eq!((&alias.out, &alias.err, alias.code), (&command.out, &command.err, command.code));
    }
}

#[test]
fn several_skills_are_disabled_at_once() {
    let env = TestEnv::bare();
    env.skill("~/.agents/skills/pdf").skill("~/.agents/skills/csv");
    assert_snapshot!(env.runs(&[
        &["disable", "pdf", "cvs"],
        &["list"],
        &["disable", "pdf", "csv"],
        &["enable", "pdf", "csv", "--json"],
    ]));
}

#[test]
fn unknown_names_get_a_suggestion() {
    let env = TestEnv::bare();
    env.skill("~/shelf/pdf").skill("~/shelf/csv").file(".git/HEAD", "");
    assert_eq!(env.run(&["install", "~/shelf", "--all"]).code, 0);
    let calls: [&[&str]; 14] = [
        &["info", "pfd"],
        &["activate", "pfd"],
        &["files", "pfd"],
        &["read", "pfd", "SKILL.md"],
        &["run", "pfd", "x.sh"],
        &["remove", "pfd"],
        &["update", "pfd"],
        &["outdated", "pfd"],
        &["verify", "pfd"],
        &["diff", "pfd"],
        &["enable", "pfd"],
        &["tools", "--skill", "pfd"],
        &["audit", "pfd"],
        &["install", "~/shelf", "--skill", "pfd"],
    ];
    for call in calls {
        let result = env.run(call);
        assert!(result.code > 0 && result.err.contains("did you mean pdf?"), "{}", result.transcript());
    }
}

#[test]
fn outdated_shows_newer_versions() {
    let env = TestEnv::bare();
    env.skill("~/shelf/pdf").skill("~/shelf/csv").file(".git/HEAD", "");
    assert_eq!(env.run(&["outdated"]).code, 0);
    assert_eq!(env.run(&["install", "~/shelf", "--all"]).code, 0);
    let lock = env.text("skills.lock");
    assert_eq!(env.run(&["outdated"]).code, 0);
    env.skill_with_description("~/shelf/pdf", "Does more.");
    assert_snapshot!(env.runs(&[&["outdated"], &["outdated", "csv"], &["outdated", "--json"]]));
    assert_eq!(env.text("skills.lock"), lock, "nothing is changed");
    assert!(!env.text(".agents/skills/pdf/SKILL.md").contains("more"));
}

#[test]
fn diff_shows_local_edits() {
    let env = TestEnv::bare();
    env.skill("~/shelf/pdf")
        .file("~/shelf/pdf/notes.md", "one\ntwo\nthree\n")
        .file("~/shelf/pdf/gone.md", "x\n");
    env.file(".git/HEAD", "");
    assert_eq!(env.run(&["install", "~/shelf/pdf"]).code, 0);
    assert_snapshot!("diff_without_edits", env.runs(&[&["diff", "pdf"]]));
    env.file(".agents/skills/pdf/notes.md", "one\n2\nthree\n").file(".agents/skills/pdf/new.bin", b"\0\x01");
    fs::remove_file(env.path(".agents/skills/pdf/gone.md")).unwrap();
    assert_snapshot!(env.runs(&[&["diff", "pdf"], &["diff", "pdf", "--json"]]));
    // If the source has other files now, they are not the installed version.
    env.file("~/shelf/pdf/notes.md", "four\n");
    assert_snapshot!("diff_with_another_source", env.runs(&[&["diff", "pdf"]]));
}

#[test]
fn diff_does_not_follow_symlinks_out_of_the_project() {
    let env = TestEnv::bare();
    env.skill("~/shelf/pdf").file("~/private/notes.md", "secret\n").file(".git/HEAD", "");
    assert_eq!(env.run(&["install", "~/shelf/pdf"]).code, 0);
    fs::remove_dir_all(env.path(".agents/skills/pdf")).unwrap();
    assert!(env.run(&["diff", "pdf"]).out.contains("-Do it."), "missing files are removed files");
    std::os::unix::fs::symlink("../../../home/private", env.path(".agents/skills/pdf")).unwrap();
    let result = env.runs(&[&["diff", "pdf"], &["diff", "pdf", "--json"]]);
    assert!(!result.contains("secret"), "{result}");
    assert_snapshot!(result);
    fs::remove_file(env.path(".agents/skills/pdf")).unwrap();
    env.file(".agents/skills/pdf", "a file\n");
    let result = env.run(&["diff", "pdf"]);
    assert!(result.code == 1 && result.err.contains("not a directory"), "{}", result.transcript());
}

#[test]
fn outdated_shows_new_and_removed_skills_of_plugins() {
    let env = TestEnv::bare();
    env.file("~/kit/.claude-plugin/plugin.json", r#"{"name": "kit"}"#).file(".git/HEAD", "");
    env.skill("~/kit/skills/one").skill("~/kit/skills/three");
    assert_eq!(env.run(&["install", "~/kit"]).code, 0);
    fs::remove_dir_all(env.path("~/kit/skills/three")).unwrap();
    assert_snapshot!("outdated_with_a_removed_skill", env.runs(&[&["outdated"], &["outdated", "--json"]]));
    env.skill("~/kit/skills/two");
    fs::remove_dir_all(env.path(".agents/skills/one")).unwrap();
    assert_snapshot!(env.runs(&[&["outdated"]]));
}

#[test]
fn find_searches_the_configured_indexes() {
    let net = Net::new();
    assert_eq!(net.env.run(&["index", "../home/work/skills", "--output", "../home/served"]).code, 0);
    let site = net.server.url("");
    assert_snapshot!(
        "find_without_an_index",
        net.env.runs(&[&["find", "pdf"], &["find", "--index", "http://x"]])
    );
    net.env.file("~/.prowess/config.toml", format!("[sources]\nindexes = [\"{site}\"]\n"));
    assert_snapshot!(net.runs(&[
        &["find", "forms"],
        &["find"],
        &["find", "weather"],
        &["search", "csv", "--json"]
    ]));
}

#[test]
fn config_set_and_unset_keep_comments() {
    let env = TestEnv::bare();
    let before = "# Mine.\n[catalog] # short\nformat = 'xml' # as before\n";
    env.file("~/.prowess/config.toml", before);
    assert_snapshot!(env.runs(&[
        &["config", "set", "catalog.format", "json"],
        &["config", "set", "catalog.budget-tokens", "500", "--json"],
        &["config", "set", "skills.disabled", "pdf", "csv"],
        &["config", "set", "skills.pinned", "pdf"],
        &["config", "set", "mention.slash", "false"],
        &["config", "set", "catalog.format", "json"],
        &["config", "set", "catalog.fromat", "json"],
        &["config", "set", "catalog.format", "yaml"],
        &["config", "set", "catalog.budget-tokens", "-5"],
        &["config", "set", "chat.model", "x", "--project"],
    ]));
    assert_snapshot!("config_after_set", env.text("~/.prowess/config.toml"));
    assert_eq!(
        env.run(&[
            "config",
            "unset",
            "catalog.budget-tokens",
            "skills.disabled",
            "skills.pinned",
            "mention.slash"
        ])
        .code,
        0
    );
    assert_eq!(env.run(&["config", "set", "catalog.format", "xml"]).code, 0);
    let after = env.text("~/.prowess/config.toml").replace("\"xml\"", "'xml'");
    assert!(after.starts_with(before), "{after}");
    // A project's file can be set, too.
    assert_eq!(env.run(&["config", "set", "catalog.budget-tokens", "100", "--project"]).code, 0);
    assert!(env.text(".prowess/config.toml").contains("budget-tokens = 100"));
}

#[test]
fn config_edit_saves_only_valid_files() {
    let env = TestEnv::bare();
    env.file("~/.prowess/config.toml", "# Mine.\n");
    let editor = |env: &TestEnv, script: &str| {
        let path = env.path("../editor.sh");
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let command = editor(&env, "echo 'catalog.format = \"json\"' >> \"$1\"");
    let env = env.variable("EDITOR", &command);
    assert_snapshot!(env.runs(&[&["config", "edit"], &["config", "edit", "--json"]]));
    assert_eq!(env.text("~/.prowess/config.toml"), "# Mine.\ncatalog.format = \"json\"\n");
    fs::remove_file(env.path("~/.prowess/state/config-draft.toml")).unwrap();
    editor(&env, "true");
    assert_eq!(env.run(&["config", "edit"]).err, "~/.prowess/config.toml is unchanged\n");
    editor(&env, "exit 3");
    let result = env.run(&["config", "edit"]);
    assert!(result.code == 2 && result.err.contains("set EDITOR"), "{}", result.transcript());
    assert!(!env.path("~/.prowess/state/config-draft.toml").exists(), "there is nothing to continue with");
    assert_eq!(env.text("~/.prowess/config.toml"), "# Mine.\ncatalog.format = \"json\"\n");
}

#[test]
fn config_edit_continues_with_a_text_that_was_not_saved() {
    let env = TestEnv::bare();
    env.file("~/.prowess/config.toml", "# Mine.\n");
    let path = env.path("../editor.sh");
    let script = |text: &str| {
        fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    };
    let env = env.variable("EDITOR", path.to_str().unwrap());
    script("echo 'catalog.format = 7 # long work' >> \"$1\"");
    let result = env.run(&["config", "edit"]);
    assert!(result.code == 2 && result.err.contains("your text is in"), "{}", result.transcript());
    // A text for another file is kept apart.
    script("true");
    assert_eq!(env.run(&["config", "edit", "--project"]).code, 0);
    assert!(!env.text(".prowess/config.toml").contains("long work"));
    // An editor that is closed without a change keeps the text, too.
    let result = env.run(&["config", "edit"]);
    assert!(result.code == 2 && result.err.contains("continuing"), "{}", result.transcript());
    script("sed -i 's/7/\"json\"/' \"$1\"");
    let env = env.variable("PATH", "/bin:/usr/bin");
    assert_eq!(env.run(&["config", "edit"]).code, 0);
    assert_eq!(env.text("~/.prowess/config.toml"), "# Mine.\ncatalog.format = \"json\" # long work\n");
    script("true");
    assert_eq!(env.run(&["config", "edit"]).err, "~/.prowess/config.toml is unchanged\n");
}

#[test]
fn sync_leaves_agents_md_of_an_untrusted_project_alone() {
    let env = TestEnv::bare();
    env.skill("~/shelf/pdf").file(".git/HEAD", "");
    assert_eq!(env.run(&["install", "~/shelf/pdf"]).code, 0);
    assert_eq!(env.run(&["sync", "--agents-md"]).code, 0);
    let listed = env.text("AGENTS.md");
    assert!(listed.contains("`pdf`"), "{listed}");
    // On another machine, nothing is trusted.
    fs::remove_dir_all(env.path("~/.prowess")).unwrap();
    assert_snapshot!(env.runs(&[&["sync"], &["sync", "--json"]]));
    assert_eq!(env.text("AGENTS.md"), listed);
}

#[test]
fn sync_ignores_an_agents_md_without_a_list() {
    let env = TestEnv::bare();
    env.skill("~/shelf/pdf").file(".git/HEAD", "").file(".claude/x", "");
    assert_eq!(env.run(&["install", "~/shelf/pdf", "--no-link"]).code, 0);
    let large = vec![b'x'; 2 << 20];
    for content in [&b"\xff\xfe"[..], &large] {
        env.file("AGENTS.md", content);
        assert_eq!(env.run(&["sync"]).code, 0);
        assert_eq!(env.run(&["sync", "--agents-md"]).code, 1);
    }
    fs::remove_file(env.path("AGENTS.md")).unwrap();
    fs::create_dir(env.path("AGENTS.md")).unwrap();
    let result = env.run(&["sync"]);
    assert_eq!(result.code, 0, "{}", result.transcript());
    assert_eq!(env.run(&["sync", "--agents-md"]).code, 1);
}

#[test]
fn agents_md_lists_the_skills_of_the_project() {
    let env = TestEnv::bare();
    env.skill("~/shelf/pdf").skill("~/shelf/csv").skill("~/.agents/skills/mine").file(".git/HEAD", "");
    let before = "# Rules\n\nBe brief.";
    env.file("AGENTS.md", before);
    assert_eq!(env.run(&["install", "~/shelf", "--all"]).code, 0);
    assert_eq!(env.run(&["sync"]).code, 0);
    assert_eq!(env.text("AGENTS.md"), before, "only on request");
    assert_snapshot!(env.runs(&[
        &["sync", "--agents-md", "--dry-run"],
        &["sync", "--agents-md"],
        &["sync", "--agents-md", "--json"],
    ]));
    assert_snapshot!("agents_md", env.text("AGENTS.md"));
    // The list is kept up to date.
    assert_eq!(env.run(&["remove", "csv"]).code, 0);
    assert_eq!(env.run(&["sync"]).code, 0);
    assert!(!env.text("AGENTS.md").contains("csv"));
    assert_eq!(env.run(&["sync", "--no-agents-md"]).code, 0);
    assert_eq!(env.text("AGENTS.md"), before);
    // A file that was created for the list is removed again.
    fs::remove_file(env.path("AGENTS.md")).unwrap();
    assert_eq!(env.run(&["sync", "--agents-md"]).code, 0);
    assert!(env.text("AGENTS.md").contains("`pdf`"));
    assert_eq!(env.run(&["sync", "--no-agents-md"]).code, 0);
    assert!(!env.path("AGENTS.md").exists());
    // A list without an end, and a symlink, are left alone.
    env.file("AGENTS.md", "<!-- prowess skills: begin 0 -->\n");
    let result = env.run(&["sync"]);
    assert!(result.code == 1 && result.err.contains("has no end"), "{}", result.transcript());
    fs::remove_file(env.path("AGENTS.md")).unwrap();
    std::os::unix::fs::symlink("../outside.md", env.path("AGENTS.md")).unwrap();
    assert_eq!(env.run(&["sync", "--agents-md"]).code, 1);
    assert!(!env.path("../outside.md").exists());
}

#[test]
fn tables_wrap_at_words_and_are_complete_in_a_pipe() {
    let env = TestEnv::bare();
    let description = "Reads tables of every kind, ".repeat(12) + "and writes them.";
    env.skill_with_description("~/.agents/skills/csv", &description);
    for command in ["list", "show"] {
        let result = env.run(&[command]);
        assert!(result.out.contains(&description), "{}", result.transcript());
        assert!(!result.out.contains('…'), "{}", result.transcript());
    }
}

#[test]
fn helpers_are_documented() {
    with_settings!({ filters => CHANGING }, {
        assert_snapshot!(TestEnv::new().help("config", &["set", "unset", "edit"]));
    });
}
