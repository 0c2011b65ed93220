//! A fake server of remote skills, controlled by the test.

#![allow(dead_code, unreachable_pub, clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use prowess::remote::approvals::{ApprovalGrants, approve};
use prowess::remote::{FetchError, RemoteEntry, RemoteFile, RemoteListing, RemoteSource};
use prowess::{Registry, ScanProgress};
use serde_json::{Map, Value, json};

use prowess_testing::registry_env::RegistryEnv;

/// A fake server.
#[derive(Debug)]
pub struct FakeServer {
    label: String,
    state: Mutex<FakeServerState>,
}

#[derive(Debug, Default)]
struct FakeServerState {
    offering: Arc<RemoteListing>,
    /// The file contents by URI.
    files: BTreeMap<String, Vec<u8>>,
    /// The requested URIs.
    requests: Vec<String>,
    stale_reports: usize,
}

impl FakeServer {
    pub fn new(label: &str) -> Arc<Self> {
        Arc::new(Self { label: label.to_owned(), state: Mutex::default() })
    }

    /// Lists a skill at `skill://PATH` with these files. The frontmatter is that of its `SKILL.md`.
    pub fn offer(&self, path: &str, frontmatter: Value, files: &[(&str, &str)]) -> &Self {
        let Value::Object(frontmatter) = frontmatter else { panic!("an object") };
        let own_name = path.rsplit('/').next().unwrap().to_owned();
        let listed = files.iter().map(|(inner, content)| RemoteFile {
            path: (*inner).to_owned(),
            uri: format!("skill://{path}/{inner}"),
            digest: prowess::digest(content.as_bytes()),
            size: content.len() as u64,
        });
        let offered = RemoteEntry {
            uri: format!("skill://{path}/SKILL.md"),
            name: format!("{}/{path}", self.label),
            frontmatter_name: own_name,
            frontmatter,
            files: listed.collect(),
            problem: None,
        };
        for (inner, content) in files {
            self.hand_out(&format!("skill://{path}/{inner}"), content.as_bytes());
        }
        self.put(offered)
    }

    /// Lists an entry, replacing one with the same URI.
    pub fn put(&self, offered: RemoteEntry) -> &Self {
        let mut state = self.state.lock().unwrap();
        let mut offering = (*state.offering).clone();
        offering.skills.retain(|known| known.uri != offered.uri);
        offering.skills.push(Arc::new(offered));
        state.offering = Arc::new(offering);
        drop(state);
        self
    }

    /// Lists a valid skill with this name.
    pub fn skill(&self, path: &str) -> &Self {
        let name = path.rsplit('/').next().unwrap();
        let source = format!(
            "---\nname: {name}\ndescription: Does {name} remotely.\n---\n\nFollow references/a.md.\n"
        );
        let frontmatter = json!({"name": name, "description": format!("Does {name} remotely.")});
        self.offer(path, frontmatter, &[("SKILL.md", &source), ("references/a.md", "A\n")])
    }

    pub fn hand_out(&self, uri: &str, bytes: &[u8]) -> &Self {
        self.state.lock().unwrap().files.insert(uri.to_owned(), bytes.to_vec());
        self
    }

    pub fn entry(&self, path: &str) -> RemoteEntry {
        let uri = format!("skill://{path}/SKILL.md");
        let state = self.state.lock().unwrap();
        (**state.offering.skills.iter().find(|known| known.uri == uri).unwrap()).clone()
    }

    pub fn reads(&self) -> Vec<String> {
        self.state.lock().unwrap().requests.clone()
    }

    pub fn doubts(&self) -> usize {
        self.state.lock().unwrap().stale_reports
    }

    /// Approves a skill as it is listed now.
    pub fn approve(&self, env: &RegistryEnv, path: &str, grants: ApprovalGrants) -> &Self {
        approve(&self.label, &self.entry(path), grants, &env.host_env()).unwrap();
        self
    }
}

impl RemoteSource for FakeServer {
    fn label(&self) -> &str {
        &self.label
    }

    fn listing(&self) -> Arc<RemoteListing> {
        Arc::clone(&self.state.lock().unwrap().offering)
    }

    fn read_file(&self, _: &RemoteEntry, file: &RemoteFile) -> Result<Vec<u8>, FetchError> {
        let mut state = self.state.lock().unwrap();
        state.requests.push(file.uri.clone());
        state.files.get(&file.uri).cloned().ok_or_else(|| FetchError::Refused("no such resource".to_owned()))
    }

    fn refresh_entry(&self, _: &RemoteEntry) {
        self.state.lock().unwrap().stale_reports += 1;
    }
}

/// Opens a registry with these servers.
pub fn open(env: &RegistryEnv, servers: &[&Arc<FakeServer>]) -> Registry {
    let sources = servers.iter().map(|server| Arc::clone(*server) as Arc<dyn RemoteSource>).collect();
    Registry::open_with_sources(env.policy.clone(), env.host_env(), sources, &ScanProgress::default())
}

pub fn empty() -> Map<String, Value> {
    Map::new()
}
