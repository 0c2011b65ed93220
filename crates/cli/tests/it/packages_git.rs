//! From real servers on this machine: git over https and ssh, archives, and a site with an index.

use std::fs;
use std::time::Duration;

use crate::net::Net;
use crate::world::terminal::Dialogue;
use crate::world::{CHANGING, skill_md};
use insta::{assert_snapshot, with_settings};
use prowess_testing::servers::{https, ssh};

#[test]
fn from_installing_to_removing_over_https() {
    let net = Net::new();
    let git = net.git();
    let mut told = net.runs(&[
        &["install", &git],
        &["install", &git, "--skill", "pdf-forms", "--dry-run"],
        &["install", &git, "--all"],
        &["list"],
        &["activate", "pdf-forms"],
        &["why", "pdf-forms"],
        &["plugins"],
        &["update"],
    ]);
    net.repository
        .write("skills/pdf-forms/scripts/fill.sh", "#!/bin/sh\ncurl https://forms.example/new\n")
        .write("skills/csv/SKILL.md", skill_md("csv", "Reads tables of all kinds."))
        .commit("third");
    net.publish();
    told += "\n";
    told += &net.runs(&[
        &["update"],
        &["update", "pdf-forms", "--yes"],
        &["verify"],
        &["remove", "pdf-forms", "csv"],
        &["plugins"],
    ]);
    with_settings!({ filters => CHANGING }, {
        assert_snapshot!(told);
    });
    net.assert_empty();
}

#[test]
fn info_tells_where_a_skill_came_from() {
    let net = Net::new();
    assert_eq!(
        net.world.run(&["install", &net.git(), "--ref", "v1.0", "--skill", "csv", "--name", "tables"]).code,
        0
    );
    let answer = net.world.run(&["info", "tables", "--json"]).json();
    let installed = net.shown(&serde_json::to_string_pretty(&answer["installed"]).unwrap());
    let told = net.run(&["info", "tables"]);
    let filters = [&CHANGING[..], &[(r"about \d+ in the catalog.*", "[TOKENS]")]].concat();
    with_settings!({ filters => filters }, {
        assert_snapshot!(format!("{told}\n{installed}"));
    });
}

#[test]
fn branches_tags_commits_and_paths() {
    let net = Net::new();
    let git = net.git();
    let first = net.repository.run(&["rev-parse", "v1.0"]);
    let second = net.repository.run(&["rev-parse", "main"]);
    let inside = net.server.url("git/team/skills.git/-/tree/v1.0/skills/csv");
    let with_tag = format!("{git}#v1.0");
    for (args, commit) in [
        (&["install", &git, "--ref", "next", "--skill", "csv"][..], &second),
        (&["install", &git, "--ref", "v1.0", "--skill", "csv"], &first),
        (&["install", &git, "--ref", &first, "--skill", "skills/csv"], &first),
        (&["install", &with_tag, "--skill", "csv"], &first),
        (&["install", &inside], &first),
    ] {
        let told = net.world.run(&[args, &["--json"]].concat());
        assert_eq!(told.code, 0, "{}", told.whole());
        let skill = &told.json()["skills"][0];
        assert_eq!(
            (&skill["name"], skill["commit"].as_str()),
            (&"csv".into(), Some(commit.as_str())),
            "{args:?}"
        );
        // What the lock says gives the same again.
        fs::remove_dir_all(net.world.path(".agents")).unwrap();
        let again = net.world.run(&["install", "--locked"]);
        assert_eq!(again.code, 0, "{args:?}: {}", again.whole());
        let updated = net.world.run(&["update"]);
        assert_eq!(updated.code, 0, "{args:?}: {}", updated.whole());
        assert_eq!(net.world.run(&["remove", "csv"]).code, 0);
    }
    with_settings!({ filters => CHANGING }, {
        assert_snapshot!(net.runs(&[
            &["install", &git, "--ref", "nowhere", "--skill", "csv"],
            &["install", &inside, "--ref", "next", "--dry-run", "--quiet"],
            &["install", &net.server.url("git/team/nothing.git")],
            &["install", &net.server.url("private/team/skills.git")],
            &["install", &net.server.url("page/team/skills.git")],
        ]));
    });
}

#[test]
fn archives_over_https() {
    let net = Net::new();
    assert_eq!(net.world.run(&["pack", "../home/work/skills/csv", "-o", "../home/served/csv.skill"]).code, 0);
    let archive = net.server.url("file/csv.skill");
    with_settings!({ filters => CHANGING }, {
        assert_snapshot!(net.runs(&[&["install", &archive], &["update"], &["remove", "csv"]]));
    });
    assert_snapshot!(
        "archives_that_do_not_come",
        net.runs(&[
            &["install", &net.server.url("file/nothing.skill")],
            &["install", &net.server.url("half/csv.skill"), "--json"],
        ])
    );
    net.assert_empty();
}

#[test]
fn a_site_with_an_index() {
    let net = Net::new();
    net.repository.write("skills/csv/scripts/read.sh", "#!/bin/sh\n");
    assert_eq!(net.world.run(&["index", "../home/work/skills", "--output", "../home/served"]).code, 0);
    let site = net.server.url("");
    let index = net.server.url(".well-known/agent-skills/index.json");
    with_settings!({ filters => CHANGING }, {
        assert_snapshot!(net.runs(&[
            &["install", &site],
            &["install", &site, "--all"],
            &["plugins"],
            &["update"],
            &["verify"],
        ]));
    });
    assert_eq!(net.world.run(&["remove", "csv", "pdf-forms"]).code, 0);
    assert_eq!(net.world.run(&["install", &index, "--skill", "csv"]).code, 0);
    fs::remove_dir_all(net.world.path(".agents")).unwrap();
    assert_eq!(net.world.run(&["install", "--locked"]).code, 0);
    assert_eq!(net.world.tree(".agents/skills"), ["csv/SKILL.md", "csv/scripts/read.sh"]);
    assert_eq!(net.world.run(&["remove", "csv"]).code, 0);
    // Somebody changed a file, and the index does not know.
    net.world
        .file("~/served/.well-known/agent-skills/pdf-forms/SKILL.md", skill_md("pdf-forms", "Does harm."));
    assert_snapshot!(
        "a_wrong_digest",
        net.runs(&[&["install", &site, "--skill", "pdf-forms"], &["install", &site, "--all", "--json"],])
    );
    net.assert_empty();
}

#[test]
fn no_index_there() {
    let net = Net::new();
    assert_snapshot!(net.runs(&[&["install", &net.server.url("")]]));
}

#[test]
fn a_network_that_goes_away_leaves_nothing() {
    let net = Net::new();
    let told = net.world.run(&["install", &net.server.url("cut/team/skills.git"), "--all", "--json"]);
    assert_eq!((told.error().0.as_str(), told.code), ("EXECUTION_ERROR", 2), "{}", told.whole());
    net.assert_empty();
    // What is installed stays when an update fails.
    let git = net.git();
    assert_eq!(net.world.run(&["install", &git, "--all"]).code, 0);
    let lock = net.world.text("skills.lock").replace("/git/team/", "/cut/team/");
    net.world.file("skills.lock", &lock);
    net.repository.write("skills/csv/SKILL.md", skill_md("csv", "Reads more.")).commit("third");
    net.publish();
    let told = net.world.run(&["update"]);
    assert_eq!(told.code, 1, "{}", told.whole());
    assert!(told.out.contains("✗ failed csv: "), "{}", told.whole());
    assert_ne!(net.world.run(&["update", "csv"]).code, 0);
    assert_eq!(net.world.text("skills.lock"), lock);
    assert_eq!(net.world.run(&["verify"]).code, 0);
}

#[test]
fn s002_15_a_network_that_goes_away_leaves_no_partial_clone() {
    let mut net = Net::new();
    net.world = net.world.variable("PROWESS_PRESET", "harness");
    let told = net.world.run(&["skill", "install", &net.server.url("cut/team/skills.git"), "--all"]);
    assert_eq!(told.code, 2, "{}", told.whole());
    assert!(!net.world.path("~/.agent").exists(), "{}", told.whole());
    assert!(!net.world.path("~/.prowess/state/installed.json").exists());
}

#[test]
fn a_server_that_nobody_knows_is_refused() {
    let net = Net::new();
    let stranger = https::Server::start(&net.served, &net.world.path("~/certificates"), "stranger");
    let told = net.world.run(&["install", &stranger.url("git/team/skills.git"), "--all"]);
    assert_eq!(told.code, 1, "{}", told.whole());
    assert!(told.err.contains("certificate"), "{}", told.err);
    net.assert_empty();
}

#[test]
fn ctrl_c_while_receiving_leaves_nothing() {
    let net = Net::new();
    let url = net.server.url("stall/team/skills.git");
    let mut dialogue = Dialogue::start(&net.world, &["install", &url, "--all"]);
    while !net.server.asked().iter().any(|asked| asked.starts_with("POST") && asked.contains("upload-pack")) {
        std::thread::sleep(Duration::from_millis(20));
    }
    dialogue.until("receiving");
    rustix::process::kill_process(dialogue.id(), rustix::process::Signal::INT).unwrap();
    let (seen, code) = dialogue.end();
    assert_eq!(code, 2, "{seen}");
    assert!(seen.contains("error: cancelled"), "{seen}");
    net.assert_empty();
}

#[test]
fn ssh_by_host_and_path_and_who_is_not_let_in() {
    let mut net = Net::new();
    let server = ssh::Server::start(ssh::Versions::Any);
    let path = net.served.join("team/skills.git");
    let url = server.url(&path);
    net.world = net.world.variable("GIT_SSH_COMMAND", &server.stranger());
    let told = net.world.run(&["install", &url, "--skill", "csv"]);
    assert_ne!(told.code, 0);
    assert!(told.err.starts_with("error: "), "{}", told.err);
    net.assert_empty();
    net.world = net.world.variable("GIT_SSH_COMMAND", &server.command());
    let first = net.repository.run(&["rev-parse", "v1.0"]);
    let told = net.world.run(&["install", &url, "--ref", "v1.0", "--skill", "csv", "--json"]).json();
    assert_eq!(told["skills"][0]["commit"], first.as_str());
    let told = net.world.run(&["update"]);
    assert!(told.out.contains("pinned to the tag v1.0"), "{}", told.whole());
    fs::remove_dir_all(net.world.path(".agents")).unwrap();
    assert_eq!(net.world.run(&["install", "--locked"]).code, 0);
    assert_eq!(net.world.run(&["remove", "csv"]).code, 0);
}
