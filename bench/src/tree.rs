//! Trees of generated skills on disk, created once and reused.
//!
//! A marker file is written last, so that an incomplete tree is created again. A tree contains `skills/NAME/…`, the skills; `home`, an
//! empty home directory; `projects/PEER/…/skills`, symlinks to `skills` for peers that search a fixed path of the project; and
//! `paths`, the path of every `SKILL.md` for peers that read them from standard input.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use crate::prose::{self, Rng};

/// The version of the generated content. Trees of another version are created again.
const VERSION: u32 = 4;

/// From this size on, skills consist only of a `SKILL.md`.
pub const BARE_FROM: usize = 100_000;

/// A complete tree of skills.
pub struct Tree {
    /// The number of skills.
    pub size: usize,
    dir: PathBuf,
}

impl Tree {
    /// Returns the tree of this size in `base`, and creates it if it is missing.
    pub fn ensure(base: &Path, size: usize) -> io::Result<Self> {
        let tree = Self { size, dir: base.join(size.to_string()) };
        let marker = tree.dir.join("complete");
        let expected = format!("version {VERSION}, {size} skills\n");
        if fs::read_to_string(&marker).is_ok_and(|marker_text| marker_text == expected) {
            return Ok(tree);
        }
        match fs::remove_dir_all(&tree.dir) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        tree.create()?;
        fs::write(&marker, expected)?;
        Ok(tree)
    }

    /// Returns the directory of the skills.
    pub fn root(&self) -> PathBuf {
        self.dir.join("skills")
    }

    /// Returns an empty home directory.
    pub fn home(&self) -> PathBuf {
        self.dir.join("home")
    }

    /// Returns a project in which `path` (such as `.claude/skills`) is a symlink to the skills.
    pub fn project(&self, peer: &str, path: &str) -> io::Result<PathBuf> {
        let project = self.dir.join("projects").join(peer);
        let link = project.join(path);
        if fs::symlink_metadata(&link).is_err() {
            fs::create_dir_all(link.parent().unwrap_or(&project))?;
            symlink(self.root(), &link)?;
        }
        Ok(project)
    }

    /// Returns the directories of all skills, sorted.
    pub fn skills(&self) -> io::Result<Vec<PathBuf>> {
        let mut dirs: Vec<PathBuf> = fs::read_dir(self.root())?
            .map(|entry| entry.map(|entry| entry.path()))
            .collect::<Result<_, _>>()?;
        dirs.sort();
        Ok(dirs)
    }

    /// Returns a file with the path of every `SKILL.md`, one per line.
    pub fn paths_file(&self) -> io::Result<PathBuf> {
        let file = self.dir.join("paths");
        if !file.exists() {
            let mut text = String::new();
            for dir in self.skills()? {
                text.push_str(&dir.join("SKILL.md").to_string_lossy());
                text.push('\n');
            }
            fs::write(&file, text)?;
        }
        Ok(file)
    }

    fn create(&self) -> io::Result<()> {
        fs::create_dir_all(self.root())?;
        fs::create_dir_all(self.home())?;
        for index in 0..self.size {
            let mut rng = Rng::new(index as u64);
            let skill = prose::skill(index, &mut rng);
            let dir = self.root().join(&skill.name);
            fs::create_dir(&dir)?;
            if self.size < BARE_FROM {
                fs::write(dir.join("SKILL.md"), skill.text)?;
                supporting_files(&dir, &mut rng)?;
            } else {
                // The body must not refer to missing files.
                fs::write(dir.join("SKILL.md"), skill.text.replacen(prose::FILES, "", 1))?;
            }
        }
        Ok(())
    }
}

fn supporting_files(dir: &Path, rng: &mut Rng) -> io::Result<()> {
    let references = dir.join("references");
    let scripts = dir.join("scripts");
    fs::create_dir(&references)?;
    fs::create_dir(&scripts)?;
    fs::write(references.join("guide.md"), prose::reference(rng))?;
    fs::write(references.join("examples.md"), prose::reference(rng))?;
    let script = scripts.join("run.sh");
    fs::write(&script, prose::script(rng))?;
    fs::set_permissions(&script, Permissions::from_mode(0o755))
}
