//! The README and `docs/packages.md` are true: what they type is typed here, and what they print comes.

#![allow(clippy::unwrap_used)]

mod net;
mod world;

use std::fs;
use std::process::Command;

use net::servers::ssh;
use net::{Net, README_URL};

/// The site of the examples.
const SITE: &str = "https://skills.example.com";

fn document(inner: &str) -> String {
    fs::read_to_string(format!("{}/../../{inner}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

/// The commands of all console blocks of a text, each with what it prints there.
fn commands(text: &str) -> Vec<(String, String)> {
    let blocks = text.split("```console\n").skip(1).map(|block| block.split("```").next().unwrap());
    let commands = blocks.flat_map(|block| block.split("$ ").filter(|part| !part.is_empty()));
    commands
        .map(|part| part.split_once('\n').unwrap())
        .map(|(command, told)| (command.to_owned(), told.to_owned()))
        .collect()
}

/// The rules of the audit change more often than documents do, and so does the time.
fn without_dates(text: &str) -> String {
    let line = |line: &str| line.split(" (rules of ").next().unwrap_or_default().to_owned();
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

/// Types everything in order, and compares.
fn as_it_says(text: &str, net: &Net, url: &str) {
    let site = net.server.url("");
    let site = site.trim_end_matches('/');
    let shown = net.world.filtered(url);
    let commands = commands(text);
    assert!(commands.len() > 4);
    for (command, expected) in commands {
        let typed = command.replace(README_URL, url).replace(SITE, site);
        let seen = match typed.strip_prefix("prowess ") {
            Some(args) => {
                let told = net.world.run(&args.split(' ').collect::<Vec<_>>());
                format!("{}{}", told.out, told.err)
            }
            None => {
                let mut shell = Command::new("sh");
                let output = shell.arg("-c").arg(&typed).current_dir(net.world.path("")).output().unwrap();
                String::from_utf8(output.stdout).unwrap()
            }
        };
        let seen =
            seen.replace(&shown, README_URL).replace(site, SITE).replace("[PROJECT]", "/home/you/project");
        assert_eq!(without_dates(&seen), without_dates(&expected), "$ {command}");
    }
}

fn readme() -> String {
    document("README.md")
        .split("\n## Install skills\n")
        .nth(1)
        .unwrap()
        .split("\n## ")
        .next()
        .unwrap()
        .to_owned()
}

#[test]
fn the_readme_over_https() {
    let net = Net::new();
    as_it_says(&readme(), &net, &net.git());
    net.assert_empty();
}

#[test]
fn the_readme_over_ssh() {
    let mut net = Net::new();
    let server = ssh::Server::start(ssh::Versions::Any);
    net.world = net.world.variable("GIT_SSH_COMMAND", &server.command());
    as_it_says(&readme(), &net, &server.url(&net.served.join("team/skills.git")));
    net.assert_empty();
}

#[test]
fn the_manual_of_packages() {
    let net = Net::new();
    assert_eq!(net.world.run(&["index", "../home/work/skills", "--output", "../home/served"]).code, 0);
    as_it_says(&document("docs/packages.md"), &net, &net.git());
}
