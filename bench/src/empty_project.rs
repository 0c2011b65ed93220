//! An empty project to install into, created before each run.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A project and a home directory that are empty when the command starts.
#[derive(Clone)]
pub struct EmptyProject {
    base: PathBuf,
    /// The path of the installed skills in the project.
    skills_path: &'static str,
    /// The number of skills to install.
    skill_count: usize,
    /// The `.gitconfig`, which redirects a URL to a local repository for peers that do not accept local ones.
    git_config: Option<String>,
}

impl EmptyProject {
    /// Creates a project in `base`, which is used for nothing else.
    pub fn new(base: PathBuf, skills_path: &'static str, skill_count: usize) -> Self {
        Self { base, skills_path, skill_count, git_config: None }
    }

    /// Redirects the git URL `from` to `to`.
    #[must_use]
    pub fn with_redirect(mut self, from: &str, to: &str) -> Self {
        // The longest prefix wins, and some peers append `.git`.
        let rules = format!("\tinsteadOf = {from}\n\tinsteadOf = {from}.git\n");
        self.git_config = Some(format!("[url \"{to}\"]\n{rules}"));
        self
    }

    /// Returns the project, in which the command runs.
    pub fn project(&self) -> PathBuf {
        self.base.join("project")
    }

    /// Returns the home directory.
    pub fn home(&self) -> PathBuf {
        self.base.join("home")
    }

    /// Returns the directory of the installed skills.
    pub fn skills(&self) -> PathBuf {
        self.project().join(self.skills_path)
    }

    /// Creates the directories. Earlier writes are synced first, so that a command that syncs its files does not wait for them. The
    /// files of earlier runs are renamed, not removed, because some file systems are slow after space was freed.
    pub fn create(&self) -> io::Result<()> {
        static USED: AtomicUsize = AtomicUsize::new(0);
        if self.base.exists() {
            let number = USED.fetch_add(1, Ordering::Relaxed);
            fs::rename(&self.base, self.base.with_extension(format!("used-{number}")))?;
        }
        fs::create_dir_all(self.skills().parent().unwrap_or(&self.base))?;
        fs::create_dir_all(self.home())?;
        if let Some(text) = &self.git_config {
            fs::write(self.home().join(".gitconfig"), text)?;
        }
        Command::new("sync").arg("-f").arg(&self.base).status()?;
        Ok(())
    }

    /// Checks that all skills were installed.
    pub fn check(&self) -> Result<(), String> {
        let installed =
            count_skills(&self.skills()).map_err(|error| format!("installed nothing: {error}"))?;
        if installed == self.skill_count {
            return Ok(());
        }
        Err(format!("installed {installed} skills instead of {}", self.skill_count))
    }
}

fn count_skills(dir: &Path) -> io::Result<usize> {
    let is_skill = |entry: &fs::DirEntry| entry.path().join("SKILL.md").is_file();
    Ok(fs::read_dir(dir)?.filter_map(Result::ok).filter(is_skill).count())
}
