//! A place that a command fills, made anew before each run: every run installs for the first time.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A project and a home that are empty when the command starts.
#[derive(Clone)]
pub struct Fresh {
    base: PathBuf,
    /// Where the skills have to be afterwards, below the project.
    place: &'static str,
    /// How many.
    skills: usize,
    /// What git finds in the home: peers that take no address of this machine are led to one.
    git_config: Option<String>,
}

impl Fresh {
    /// A place below `base`, which belongs to it alone.
    pub fn new(base: PathBuf, place: &'static str, skills: usize) -> Self {
        Self { base, place, skills, git_config: None }
    }

    /// The same where git takes one address for another.
    #[must_use]
    pub fn with_address(mut self, asked: &str, real: &str) -> Self {
        // The longest counts, and some ask for the same with an ending.
        let both = format!("\tinsteadOf = {asked}\n\tinsteadOf = {asked}.git\n");
        self.git_config = Some(format!("[url \"{real}\"]\n{both}"));
        self
    }

    /// The project, in which the command runs.
    pub fn project(&self) -> PathBuf {
        self.base.join("project")
    }

    /// The home.
    pub fn home(&self) -> PathBuf {
        self.base.join("home")
    }

    /// Where the skills have to be.
    pub fn skills(&self) -> PathBuf {
        self.project().join(self.place)
    }

    /// Makes it. What was written before is on the disk before the command starts: whoever makes a file durable waits for
    /// all of that, and should not wait for what others left. And nothing is removed between runs: a file system that
    /// must not use what was just freed makes all who come after look for room.
    pub fn make(&self) -> io::Result<()> {
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

    /// Whether everything was installed.
    pub fn check(&self) -> Result<(), String> {
        let found = installed(&self.skills()).map_err(|error| format!("installed nothing: {error}"))?;
        if found == self.skills {
            return Ok(());
        }
        Err(format!("installed {found} skills where {} were due", self.skills))
    }
}

fn installed(folder: &Path) -> io::Result<usize> {
    let is_skill = |entry: &fs::DirEntry| entry.path().join("SKILL.md").is_file();
    Ok(fs::read_dir(folder)?.filter_map(Result::ok).filter(is_skill).count())
}
