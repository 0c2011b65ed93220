//! A test environment with an HTTPS server for a git repository and other files.

#![allow(dead_code, unreachable_pub, clippy::unwrap_used)]

use std::fs;
use std::path::PathBuf;

use crate::support::{TestEnv, skill_md};
use prowess_testing::servers::https;
use prowess_testing::servers::repository::Repository;

/// The repository URL of the README.
pub const README_URL: &str = "https://git.example.com/team/skills.git";

/// An environment with a repository and a server for it and for other files.
pub struct Net {
    pub env: TestEnv,
    pub repository: Repository,
    pub server: https::HttpsServer,
    pub served: PathBuf,
}

impl Net {
    pub fn new() -> Self {
        let env = TestEnv::bare();
        let certificates = env.path("~/certificates");
        fs::create_dir_all(&certificates).unwrap();
        https::make_certificates(&certificates);
        let authority = certificates.join("authority.pem");
        // `ssh` and `git` are found on the real `PATH`.
        let env = env
            .variable("SSL_CERT_FILE", authority.to_str().unwrap())
            .variable("PATH", &std::env::var("PATH").unwrap())
            .variable("NO_COLOR", "1");
        env.file("AGENTS.md", "").file(".git/HEAD", "");
        let repository = Repository::new(env.path("~/work"));
        repository
            .write("skills/pdf-forms/SKILL.md", skill_md("pdf-forms", "Fills PDF forms."))
            .write("skills/csv/SKILL.md", skill_md("csv", "Reads tables."))
            .commit("first");
        repository.run(&["tag", "v1.0"]);
        repository
            .write("skills/pdf-forms/SKILL.md", skill_md("pdf-forms", "Fills PDF forms. Use for forms."))
            .commit("second");
        repository.run(&["branch", "next"]);
        let served = env.path("~/served");
        repository.publish(&served.join("team/skills.git"));
        let server = https::HttpsServer::start(&served, &certificates, "server");
        Self { env, repository, server, served }
    }

    pub fn git(&self) -> String {
        self.server.url("git/team/skills.git")
    }

    /// Publishes the commits.
    pub fn publish(&self) {
        fs::remove_dir_all(self.served.join("team/skills.git")).unwrap();
        self.repository.publish(&self.served.join("team/skills.git"));
    }

    /// Runs the binary and returns the transcript with the URLs of the documentation.
    pub fn run(&self, args: &[&str]) -> String {
        self.shown(&self.env.run(args).transcript())
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

    /// Asserts that a failed command left nothing behind.
    pub fn assert_empty(&self) {
        let left: Vec<_> = fs::read_dir(self.env.path(".agents/skills")).into_iter().flatten().collect();
        assert!(left.is_empty() && !self.env.path("skills.lock").exists(), "{left:?}");
    }
}
