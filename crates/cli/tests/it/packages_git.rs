//! Installing from local servers: git over HTTPS and SSH, archives, and a website with an index.

use std::fs;
use std::time::Duration;

use crate::net::Net;
use crate::support::terminal::TerminalSession;
use crate::support::{CHANGING, skill_md};
use insta::{assert_snapshot, with_settings};
use prowess_testing::servers::{https, ssh};

#[test]
fn installing_updating_and_removing_over_https() {
    let net = Net::new();
    let git = net.git();
    let mut result = net.runs(&[
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
    result += "\n";
    result += &net.runs(&[
        &["update"],
        &["update", "pdf-forms", "--yes"],
        &["verify"],
        &["remove", "pdf-forms", "csv"],
        &["plugins"],
    ]);
    with_settings!({ filters => CHANGING }, {
        assert_snapshot!(result);
    });
    net.assert_empty();
}

#[test]
fn info_shows_the_source() {
    let net = Net::new();
    assert_eq!(
        net.env.run(&["install", &net.git(), "--ref", "v1.0", "--skill", "csv", "--name", "tables"]).code,
        0
    );
    let json = net.env.run(&["info", "tables", "--json"]).json();
    let installed = net.shown(&serde_json::to_string_pretty(&json["installed"]).unwrap());
    let result = net.run(&["info", "tables"]);
    let filters = [&CHANGING[..], &[(r"about \d+ in the catalog.*", "[TOKENS]")]].concat();
    with_settings!({ filters => filters }, {
        assert_snapshot!(format!("{result}\n{installed}"));
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
        let result = net.env.run(&[args, &["--json"]].concat());
        assert_eq!(result.code, 0, "{}", result.transcript());
        let skill = &result.json()["skills"][0];
        assert_eq!(
            (&skill["name"], skill["commit"].as_str()),
            (&"csv".into(), Some(commit.as_str())),
            "{args:?}"
        );
        // The lock file reproduces the same files.
        fs::remove_dir_all(net.env.path(".agents")).unwrap();
        let again = net.env.run(&["install", "--locked"]);
        assert_eq!(again.code, 0, "{args:?}: {}", again.transcript());
        let updated = net.env.run(&["update"]);
        assert_eq!(updated.code, 0, "{args:?}: {}", updated.transcript());
        assert_eq!(net.env.run(&["remove", "csv"]).code, 0);
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
    assert_eq!(net.env.run(&["pack", "../home/work/skills/csv", "-o", "../home/served/csv.skill"]).code, 0);
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
fn a_website_with_an_index() {
    let net = Net::new();
    net.repository.write("skills/csv/scripts/read.sh", "#!/bin/sh\n");
    assert_eq!(net.env.run(&["index", "../home/work/skills", "--output", "../home/served"]).code, 0);
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
    assert_eq!(net.env.run(&["remove", "csv", "pdf-forms"]).code, 0);
    assert_eq!(net.env.run(&["install", &index, "--skill", "csv"]).code, 0);
    fs::remove_dir_all(net.env.path(".agents")).unwrap();
    assert_eq!(net.env.run(&["install", "--locked"]).code, 0);
    assert_eq!(net.env.tree(".agents/skills"), ["csv/SKILL.md", "csv/scripts/read.sh"]);
    assert_eq!(net.env.run(&["remove", "csv"]).code, 0);
    // A file was changed without updating the index.
    net.env.file("~/served/.well-known/agent-skills/pdf-forms/SKILL.md", skill_md("pdf-forms", "Does harm."));
    assert_snapshot!(
        "a_wrong_digest",
        net.runs(&[&["install", &site, "--skill", "pdf-forms"], &["install", &site, "--all", "--json"],])
    );
    net.assert_empty();
}

#[test]
fn a_website_without_an_index() {
    let net = Net::new();
    assert_snapshot!(net.runs(&[&["install", &net.server.url("")]]));
}

#[test]
fn a_lost_connection_leaves_nothing_behind() {
    let net = Net::new();
    let result = net.env.run(&["install", &net.server.url("cut/team/skills.git"), "--all", "--json"]);
    assert_eq!((result.error().0.as_str(), result.code), ("EXECUTION_ERROR", 2), "{}", result.transcript());
    net.assert_empty();
    // A failed update does not change the installed skill.
    let git = net.git();
    assert_eq!(net.env.run(&["install", &git, "--all"]).code, 0);
    let lock = net.env.text("skills.lock").replace("/git/team/", "/cut/team/");
    net.env.file("skills.lock", &lock);
    net.repository.write("skills/csv/SKILL.md", skill_md("csv", "Reads more.")).commit("third");
    net.publish();
    let result = net.env.run(&["update"]);
    assert_eq!(result.code, 1, "{}", result.transcript());
    assert!(result.out.contains("✗ failed csv: "), "{}", result.transcript());
    assert_ne!(net.env.run(&["update", "csv"]).code, 0);
    assert_eq!(net.env.text("skills.lock"), lock);
    assert_eq!(net.env.run(&["verify"]).code, 0);
}

#[test]
fn s002_15_a_lost_connection_leaves_no_partial_clone() {
    let mut net = Net::new();
    net.env = net.env.variable("PROWESS_PRESET", "harness");
    let result = net.env.run(&["skill", "install", &net.server.url("cut/team/skills.git"), "--all"]);
    assert_eq!(result.code, 2, "{}", result.transcript());
    assert!(!net.env.path("~/.agent").exists(), "{}", result.transcript());
    assert!(!net.env.path("~/.prowess/state/installed.json").exists());
}

#[test]
fn an_untrusted_certificate_is_rejected() {
    let net = Net::new();
    let untrusted = https::HttpsServer::start(&net.served, &net.env.path("~/certificates"), "self-signed");
    let result = net.env.run(&["install", &untrusted.url("git/team/skills.git"), "--all"]);
    assert_eq!(result.code, 1, "{}", result.transcript());
    assert!(result.err.contains("certificate"), "{}", result.err);
    net.assert_empty();
}

#[test]
fn ctrl_c_during_a_download_leaves_nothing_behind() {
    let net = Net::new();
    let url = net.server.url("stall/team/skills.git");
    let mut session = TerminalSession::start(&net.env, &["install", &url, "--all"]);
    while !net
        .server
        .requests()
        .iter()
        .any(|request| request.starts_with("POST") && request.contains("upload-pack"))
    {
        std::thread::sleep(Duration::from_millis(20));
    }
    session.until("receiving");
    rustix::process::kill_process(session.id(), rustix::process::Signal::INT).unwrap();
    let (seen, code) = session.end();
    assert_eq!(code, 130, "{seen}");
    assert!(seen.contains("error: cancelled"), "{seen}");
    net.assert_empty();
}

#[test]
fn ssh_sources_and_denied_access() {
    let mut net = Net::new();
    let server = ssh::SshServer::start(ssh::ProtocolVersions::All);
    let path = net.served.join("team/skills.git");
    let url = server.url(&path);
    net.env = net.env.variable("GIT_SSH_COMMAND", &server.command_with_unknown_key());
    let result = net.env.run(&["install", &url, "--skill", "csv"]);
    assert_ne!(result.code, 0);
    assert!(result.err.starts_with("error: "), "{}", result.err);
    net.assert_empty();
    net.env = net.env.variable("GIT_SSH_COMMAND", &server.command());
    let first = net.repository.run(&["rev-parse", "v1.0"]);
    let result = net.env.run(&["install", &url, "--ref", "v1.0", "--skill", "csv", "--json"]).json();
    assert_eq!(result["skills"][0]["commit"], first.as_str());
    let result = net.env.run(&["update"]);
    assert!(result.out.contains("pinned to the tag v1.0"), "{}", result.transcript());
    fs::remove_dir_all(net.env.path(".agents")).unwrap();
    assert_eq!(net.env.run(&["install", "--locked"]).code, 0);
    assert_eq!(net.env.run(&["remove", "csv"]).code, 0);
}
