//! The bundled skills, embedded in the binary.

/// A bundled skill.
#[derive(Debug, Clone, Copy)]
pub struct BundledSkill {
    /// The name of the skill's directory.
    pub id: &'static str,
    /// What the skill is for.
    pub purpose: BundledPurpose,
    /// The files, sorted by their paths relative to the directory.
    pub files: &'static [(&'static str, &'static [u8])],
}

/// What a bundled skill is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BundledPurpose {
    /// It helps with the work of users, so models are offered it.
    Work,
    /// It shows or tests how skills work. Users can load it by name; models are not offered it.
    Example,
}

impl BundledSkill {
    /// Returns the bundled skill with this directory name.
    pub fn find(id: &str) -> Option<&'static Self> {
        BUNDLED.iter().find(|skill| skill.id == id)
    }

    /// Returns `true` for an example, which models are not offered.
    pub fn is_example(&self) -> bool {
        self.purpose == BundledPurpose::Example
    }

    /// Returns the bytes of `SKILL.md`.
    pub fn skill_md(&self) -> &'static [u8] {
        self.file("SKILL.md").unwrap_or_default()
    }

    /// Returns the bytes of a file.
    pub fn file(&self, path: &str) -> Option<&'static [u8]> {
        self.files.iter().find(|(file_path, _)| *file_path == path).map(|(_, bytes)| *bytes)
    }

    /// Returns `true` for a file that is executable: everything in `scripts`.
    pub fn is_executable(path: &str) -> bool {
        path.starts_with("scripts/")
    }
}

macro_rules! bundled {
    ($($purpose:ident $id:literal: [$($path:literal),+ $(,)?],)+) => {
        /// All bundled skills, sorted by name.
        pub static BUNDLED: &[BundledSkill] = &[$(BundledSkill {
            id: $id,
            purpose: BundledPurpose::$purpose,
            files: &[$(($path, include_bytes!(concat!("../bundled/", $id, "/", $path)))),+],
        }),+];
    };
}

bundled! {
    Work "code-review": ["SKILL.md", "references/severity.md", "references/traps.md"],
    Work "gh": ["SKILL.md", "references/api.md", "references/json-and-jq.md"],
    Example "hello-world": ["SKILL.md"],
    Work "skill-writer": ["SKILL.md", "assets/template.md", "references/fields.md"],
    Example "skills-system-validation": ["SKILL.md", "assets/fixture.json", "references/REFERENCE.md", "scripts/echo.sh"],
    Work "weekly-report-generator": ["SKILL.md", "assets/report-template.md"],
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    /// A file that is missing from the table would be missing from the binary.
    #[test]
    fn the_table_lists_every_file_of_the_directory() {
        fn list(dir: &Path, below: &Path, out: &mut Vec<String>) {
            for entry in std::fs::read_dir(dir).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    list(&path, below, out);
                } else {
                    out.push(path.strip_prefix(below).unwrap().to_str().unwrap().to_owned());
                }
            }
        }
        let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("bundled");
        let mut on_disk = Vec::new();
        list(&dir, &dir, &mut on_disk);
        on_disk.sort();
        let mut table: Vec<_> = BUNDLED
            .iter()
            .flat_map(|skill| skill.files.iter().map(|(path, _)| format!("{}/{path}", skill.id)))
            .collect();
        table.sort();
        assert_eq!(table, on_disk);
        assert!(BUNDLED.is_sorted_by_key(|skill| skill.id));
    }

    #[test]
    fn every_bundled_skill_passes_the_strict_rules() {
        for skill in BUNDLED {
            let parsed =
                prowess_format::parse(skill.skill_md(), Some(skill.id), &prowess_format::Rules::strict());
            assert_eq!(parsed.diagnostics, [], "{}", skill.id);
        }
    }
}
