//! A world with servers in it: a repository over https, and whatever else lies in a folder.

#![allow(dead_code, unreachable_pub, clippy::unwrap_used)]

use std::fs;
use std::path::PathBuf;

use crate::world::{World, skill_md};
use prowess_testing::servers::https;
use prowess_testing::servers::repository::Repository;

/// The address that the README has.
pub const README_URL: &str = "https://git.example.com/team/skills.git";

/// A world, a repository, and a server that serves it and whatever else lies in a folder.
pub struct Net {
    pub world: World,
    pub repository: Repository,
    pub server: https::Server,
    pub served: PathBuf,
}

impl Net {
    pub fn new() -> Self {
        let world = World::bare();
        let certificates = world.path("~/certificates");
        fs::create_dir_all(&certificates).unwrap();
        https::make_certificates(&certificates);
        let authority = certificates.join("authority.pem");
        // `ssh` is looked up, and git serves it.
        let world = world
            .variable("SSL_CERT_FILE", authority.to_str().unwrap())
            .variable("PATH", &std::env::var("PATH").unwrap())
            .variable("NO_COLOR", "1");
        world.file("AGENTS.md", "").file(".git/HEAD", "");
        let repository = Repository::new(world.path("~/work"));
        repository
            .write("skills/pdf-forms/SKILL.md", skill_md("pdf-forms", "Fills PDF forms."))
            .write("skills/csv/SKILL.md", skill_md("csv", "Reads tables."))
            .commit("first");
        repository.run(&["tag", "v1.0"]);
        repository
            .write("skills/pdf-forms/SKILL.md", skill_md("pdf-forms", "Fills PDF forms. Use for forms."))
            .commit("second");
        repository.run(&["branch", "next"]);
        let served = world.path("~/served");
        repository.publish(&served.join("team/skills.git"));
        let server = https::Server::start(&served, &certificates, "server");
        Self { world, repository, server, served }
    }

    pub fn git(&self) -> String {
        self.server.url("git/team/skills.git")
    }

    /// What was committed becomes public.
    pub fn publish(&self) {
        fs::remove_dir_all(self.served.join("team/skills.git")).unwrap();
        self.repository.publish(&self.served.join("team/skills.git"));
    }

    /// Runs, and tells it with the addresses of documents.
    pub fn run(&self, args: &[&str]) -> String {
        self.shown(&self.world.run(args).whole())
    }

    pub fn shown(&self, text: &str) -> String {
        let git = self.git();
        let site = self.server.url("");
        let host = site.trim_start_matches("https://").trim_end_matches('/');
        text.replace(&git, README_URL).replace(host, "skills.example.com")
    }

    pub fn runs(&self, calls: &[&[&str]]) -> String {
        calls.iter().map(|args| self.run(args)).collect::<Vec<_>>().join("\n")
    }

    /// That nothing was left by something that failed.
    pub fn assert_empty(&self) {
        let left: Vec<_> = fs::read_dir(self.world.path(".agents/skills")).into_iter().flatten().collect();
        assert!(left.is_empty() && !self.world.path("skills.lock").exists(), "{left:?}");
    }
}
