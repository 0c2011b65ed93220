//! Snapshots of the client table: the files of each client, and its entry for a server.

use std::path::Path;

use insta::assert_snapshot;

use super::super::{CLIENTS, ConnectError, ServerSpec, TargetOs, TokenVariable, snippet};
use super::{client_env_for, server_name, stdio_server};
use crate::install_target::InstallScope;

#[test]
fn configuration_files_of_each_client() {
    let linux = client_env_for(Path::new("~"), Path::new("."), "".into());
    let mut envs = vec![("linux", linux.clone())];
    envs.push(("macos", super::super::ClientEnv { os: TargetOs::Mac, ..linux.clone() }));
    let variables = super::super::ClientEnv::VARIABLES;
    let variables = variables.map(|name| (name.to_owned(), Path::new("/").join(format!("${name}")))).to_vec();
    envs.push(("variables", super::super::ClientEnv { variables, ..linux.clone() }));
    let mut report = String::new();
    for client in CLIENTS {
        report += &format!("{} ({:?}, {})\n", client.id, client.format, client.section);
        for (description, env) in &envs {
            let files = env.files(client, InstallScope::User).unwrap();
            report += &format!("  {description}: {files:?}\n");
        }
        match linux.files(client, InstallScope::Project) {
            Ok(files) => report += &format!("  project: {files:?}\n"),
            Err(error) => report += &format!("  project: {error}\n"),
        }
    }
    assert_snapshot!(report);
}

#[test]
fn entry_of_each_client() {
    let token = || Some(TokenVariable::parse("PROWESS_TOKEN").unwrap());
    let args = ["mcp", "--preset", "chat", "--root", "/srv/my skills"].map(str::to_owned).to_vec();
    let servers = [
        ServerSpec::Stdio { command: "/opt/bin/prowess".to_owned(), args, env: Vec::new() },
        ServerSpec::http("http://127.0.0.1:7878", None).unwrap(),
        ServerSpec::http("https://skills.example.com/mcp", token()).unwrap(),
    ];
    let mut report = String::new();
    for client in CLIENTS {
        for server in &servers {
            let text = snippet(client, &server_name(), server).unwrap_or_else(|error| {
                format!("error: {error}\nhint: {}\n", error.hint().unwrap_or_default())
            });
            report += &format!("--- {}\n{text}", client.id);
        }
    }
    assert_snapshot!(report);
}

#[test]
fn the_clients_are_sorted_and_complete() {
    assert!(CLIENTS.windows(2).all(|pair| pair[0].id < pair[1].id));
    for client in CLIENTS {
        assert!(!client.user.is_empty() && !client.traces.is_empty() && !client.programs.is_empty());
        assert!(snippet(client, &server_name(), &stdio_server()).is_ok());
    }
}

#[test]
fn invalid_urls_are_rejected() {
    let token = || Some(TokenVariable::parse("T").unwrap());
    let reason = |url: &str, token| match ServerSpec::http(url, token) {
        Err(ConnectError::InvalidUrl { reason: why }) => why,
        other => panic!("{url}: {other:?}"),
    };
    assert_eq!(reason("skills.example.com", None), "it cannot be parsed");
    assert_eq!(reason("ftp://skills.example.com", None), "the scheme must be http or https");
    assert!(reason("http://u:p@127.0.0.1", None).contains("password"));
    assert!(reason("http://127.0.0.1/mcp?token=x", None).contains("query"));
    assert!(reason("http://skills.example.com", token()).contains("https"));
    assert!(ServerSpec::http("http://skills.example.com", None).is_ok());
    assert!(ServerSpec::http("http://[::1]:7878", token()).is_ok());
    assert!(ServerSpec::http("http://localhost:7878", token()).is_ok());
}
