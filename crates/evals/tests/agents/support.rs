//! A loopback server in place of the gateway, and agents that are scripts.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use prowess::HostEnv;
use prowess_evals::agent::{
    AgentOutcome, AgentTask, EvalAgent, GatewayAddress, ProgramSettings, StagedSkill,
};
use prowess_sandbox::InputFile;
use tokio_util::sync::CancellationToken;

pub(crate) fn wait<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap()
        .block_on(future)
}

/// Answers every request with the same text, and records the paths.
pub(crate) struct TestGateway {
    pub(crate) address: GatewayAddress,
    pub(crate) paths: Arc<Mutex<Vec<String>>>,
}

impl TestGateway {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let paths = Arc::new(Mutex::new(Vec::new()));
        let recorded = Arc::clone(&paths);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let mut reader = BufReader::new(stream.try_clone().unwrap());
                let mut first = String::new();
                reader.read_line(&mut first).unwrap();
                let mut length = 0;
                loop {
                    let mut line = String::new();
                    if reader.read_line(&mut line).unwrap_or(0) == 0 || line == "\r\n" {
                        break;
                    }
                    if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
                        length = value.trim().parse().unwrap();
                    }
                }
                let mut body = vec![0; length];
                reader.read_exact(&mut body).unwrap();
                recorded.lock().unwrap().push(first.split(' ').nth(1).unwrap_or_default().to_owned());
                let _ = stream.write_all(
                    b"HTTP/1.1 200 OK\r\ncontent-length: 13\r\nconnection: close\r\n\r\nmodel replied",
                );
            }
        });
        Self { address: GatewayAddress { port, token: "t0ken".into(), model: "test-model".into() }, paths }
    }
}

/// A directory with programs that anybody may run.
pub(crate) struct Programs {
    dir: tempfile::TempDir,
}

impl Programs {
    pub(crate) fn new() -> Self {
        let dir = tempfile::Builder::new().prefix("prowess-test-").tempdir().unwrap();
        fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
        Self { dir }
    }

    pub(crate) fn add(&self, name: &str, text: &str) -> String {
        let path = self.dir.path().canonicalize().unwrap().join(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path.display().to_string()
    }

    pub(crate) fn settings(&self) -> ProgramSettings {
        let path = std::env::join_paths([self.dir.path(), "/usr/bin".as_ref(), "/bin".as_ref()]).unwrap();
        ProgramSettings::new(HostEnv { project: PathBuf::from("/"), home: None, path })
    }
}

pub(crate) fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

pub(crate) fn skill() -> StagedSkill {
    StagedSkill {
        name: "csv".into(),
        files: vec![
            ("SKILL.md".into(), b"the instructions".to_vec(), false),
            ("scripts/go.sh".into(), b"#!/bin/sh\necho from the script\n".to_vec(), true),
        ],
    }
}

/// A task for one agent.
pub(crate) struct TestTask {
    pub(crate) prompt: String,
    pub(crate) skills: Vec<StagedSkill>,
    pub(crate) time: Duration,
    pub(crate) cancel: CancellationToken,
}

impl Default for TestTask {
    fn default() -> Self {
        Self {
            prompt: "do it".into(),
            skills: vec![skill()],
            time: Duration::from_secs(30),
            cancel: CancellationToken::new(),
        }
    }
}

impl TestTask {
    pub(crate) async fn run(&self, agent: &dyn EvalAgent, gateway: &TestGateway) -> AgentOutcome {
        let task = AgentTask {
            prompt: &self.prompt,
            files: vec![InputFile::new("data/in.txt", b"input\n".to_vec()).unwrap()],
            skills: &self.skills,
            gateway: &gateway.address,
            time: self.time,
            cancel: self.cancel.clone(),
        };
        agent.run(task).await
    }
}

/// Returns the outputs as `PATH: TEXT`.
pub(crate) fn outputs(outcome: &AgentOutcome) -> Vec<String> {
    let show = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    outcome.files.iter().map(|file| format!("{}: {}", file.path, show(&file.bytes))).collect()
}
