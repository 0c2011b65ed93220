//! A server of skills that is not one: what it offers and hands out is decided in the test.

#![allow(dead_code, unreachable_pub, clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use prowess::supply::approvals::{Grants, approve};
use prowess::supply::{Offered, OfferedFile, Offering, Supply, SupplyError};
use prowess::{Progress, Registry};
use serde_json::{Map, Value, json};

use prowess_testing::library::World;

/// A server.
#[derive(Debug)]
pub struct Server {
    label: String,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    offering: Arc<Offering>,
    /// What is handed out, by URI.
    files: BTreeMap<String, Vec<u8>>,
    /// The URIs that were asked for.
    reads: Vec<String>,
    doubts: usize,
}

impl Server {
    pub fn new(label: &str) -> Arc<Self> {
        Arc::new(Self { label: label.to_owned(), state: Mutex::default() })
    }

    /// Offers a skill at `skill://PATH` with these files; the frontmatter is that of its `SKILL.md`.
    pub fn offer(&self, path: &str, frontmatter: Value, files: &[(&str, &str)]) -> &Self {
        let Value::Object(frontmatter) = frontmatter else { panic!("an object") };
        let own_name = path.rsplit('/').next().unwrap().to_owned();
        let listed = files.iter().map(|(inner, content)| OfferedFile {
            path: (*inner).to_owned(),
            uri: format!("skill://{path}/{inner}"),
            digest: prowess::digest(content.as_bytes()),
            size: content.len() as u64,
        });
        let offered = Offered {
            uri: format!("skill://{path}/SKILL.md"),
            name: format!("{}/{path}", self.label),
            own_name,
            frontmatter,
            files: listed.collect(),
            problem: None,
        };
        for (inner, content) in files {
            self.hand_out(&format!("skill://{path}/{inner}"), content.as_bytes());
        }
        self.put(offered)
    }

    /// Offers an entry as it is, in place of the one of its URI.
    pub fn put(&self, offered: Offered) -> &Self {
        let mut state = self.state.lock().unwrap();
        let mut offering = (*state.offering).clone();
        offering.skills.retain(|known| known.uri != offered.uri);
        offering.skills.push(Arc::new(offered));
        state.offering = Arc::new(offering);
        drop(state);
        self
    }

    /// A good skill of this name.
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

    pub fn entry(&self, path: &str) -> Offered {
        let uri = format!("skill://{path}/SKILL.md");
        let state = self.state.lock().unwrap();
        (**state.offering.skills.iter().find(|known| known.uri == uri).unwrap()).clone()
    }

    pub fn reads(&self) -> Vec<String> {
        self.state.lock().unwrap().reads.clone()
    }

    pub fn doubts(&self) -> usize {
        self.state.lock().unwrap().doubts
    }

    /// The user approves a skill as it is offered now.
    pub fn approve(&self, world: &World, path: &str, grants: Grants) -> &Self {
        approve(&self.label, &self.entry(path), grants, &world.surroundings()).unwrap();
        self
    }
}

impl Supply for Server {
    fn label(&self) -> &str {
        &self.label
    }

    fn offering(&self) -> Arc<Offering> {
        Arc::clone(&self.state.lock().unwrap().offering)
    }

    fn read(&self, _: &Offered, file: &OfferedFile) -> Result<Vec<u8>, SupplyError> {
        let mut state = self.state.lock().unwrap();
        state.reads.push(file.uri.clone());
        state.files.get(&file.uri).cloned().ok_or_else(|| SupplyError::Refused("no such resource".to_owned()))
    }

    fn doubt(&self, _: &Offered) {
        self.state.lock().unwrap().doubts += 1;
    }
}

/// A registry of a world and servers.
pub fn open(world: &World, servers: &[&Arc<Server>]) -> Registry {
    let supplies = servers.iter().map(|server| Arc::clone(*server) as Arc<dyn Supply>).collect();
    Registry::open_with(world.policy.clone(), world.surroundings(), supplies, &Progress::default())
}

pub fn empty() -> Map<String, Value> {
    Map::new()
}
