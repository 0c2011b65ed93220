//! The table, printed: where each client keeps what, and how it writes a server down.

use std::path::Path;

use insta::assert_snapshot;

use super::super::{CLIENTS, ConnectError, Os, Server, Token, snippet};
use super::{machine, name, stdio};
use crate::place::For;

#[test]
fn where_each_keeps_its_configuration() {
    let here = machine(Path::new("~"), Path::new("."), "".into());
    let mut machines = vec![("linux", here.clone())];
    machines.push(("macos", super::super::Machine { os: Os::Mac, ..here.clone() }));
    let variables = super::super::Machine::VARIABLES;
    let variables = variables.map(|name| (name.to_owned(), Path::new("/").join(format!("${name}")))).to_vec();
    machines.push(("variables", super::super::Machine { variables, ..here.clone() }));
    let mut told = String::new();
    for client in CLIENTS {
        told += &format!("{} ({:?}, {})\n", client.id, client.form, client.section);
        for (what, machine) in &machines {
            let files = machine.files(client, For::User).unwrap();
            told += &format!("  {what}: {files:?}\n");
        }
        match here.files(client, For::Project) {
            Ok(files) => told += &format!("  project: {files:?}\n"),
            Err(error) => told += &format!("  project: {error}\n"),
        }
    }
    assert_snapshot!(told);
}

#[test]
fn what_each_is_told() {
    let token = || Some(Token::parse("PROWESS_TOKEN").unwrap());
    let args = ["mcp", "--preset", "chat", "--root", "/srv/my skills"].map(str::to_owned).to_vec();
    let servers = [
        Server::Stdio { command: "/opt/bin/prowess".to_owned(), args },
        Server::http("http://127.0.0.1:7878", None).unwrap(),
        Server::http("https://skills.example.com/mcp", token()).unwrap(),
    ];
    let mut told = String::new();
    for client in CLIENTS {
        for server in &servers {
            let text = snippet(client, &name(), server).unwrap_or_else(|error| {
                format!("error: {error}\nhint: {}\n", error.hint().unwrap_or_default())
            });
            told += &format!("--- {}\n{text}", client.id);
        }
    }
    assert_snapshot!(told);
}

#[test]
fn the_clients_are_sorted_and_each_has_a_home() {
    assert!(CLIENTS.windows(2).all(|pair| pair[0].id < pair[1].id));
    for client in CLIENTS {
        assert!(!client.user.is_empty() && !client.traces.is_empty() && !client.programs.is_empty());
        assert!(snippet(client, &name(), &stdio()).is_ok());
    }
}

#[test]
fn urls_that_are_not_used() {
    let token = || Some(Token::parse("T").unwrap());
    let told = |url: &str, token| match Server::http(url, token) {
        Err(ConnectError::BadUrl { why }) => why,
        other => panic!("{url}: {other:?}"),
    };
    assert_eq!(told("skills.example.com", None), "it is no URL");
    assert_eq!(told("ftp://skills.example.com", None), "only http and https are spoken");
    assert!(told("http://u:p@127.0.0.1", None).contains("password"));
    assert!(told("http://127.0.0.1/mcp?token=x", None).contains('?'));
    assert!(told("http://skills.example.com", token()).contains("https"));
    assert!(Server::http("http://skills.example.com", None).is_ok());
    assert!(Server::http("http://[::1]:7878", token()).is_ok());
    assert!(Server::http("http://localhost:7878", token()).is_ok());
}
