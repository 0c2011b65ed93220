//! Fields of an activated skill that are computed on first use.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use prowess_format::{Diagnostic, Rules, parse, parse_command};
use serde_json::{Map, Value};

use super::{ResourcesTruncation, frontmatter};
use crate::file_listing::FileListing;
use crate::resources::open;
use crate::skill::DiscoveredSkill;

/// The maximum number of files that are listed for a model.
const RESOURCES_MAX: usize = 100;

/// The lazy fields and their inputs. Callers pass the bytes of the file each time. Before they drop the bytes,
/// they must [compute](Self::compute_all) the fields that depend on them.
#[derive(Debug, Clone)]
pub(super) struct LazyFields {
    skill: Arc<DiscoveredSkill>,
    rules: Rules,
    yaml: Range<usize>,
    digest: OnceLock<String>,
    frontmatter: OnceLock<Map<String, Value>>,
    diagnostics: OnceLock<Vec<Diagnostic>>,
    resources: OnceLock<ResourceList>,
}

/// The files besides `SKILL.md`.
#[derive(Debug, Clone)]
pub(super) struct ResourceList {
    pub(super) files: Vec<String>,
    pub(super) truncation: Option<ResourcesTruncation>,
}

impl LazyFields {
    /// Creates the fields of a file whose YAML is at this range.
    pub(super) fn new(skill: &Arc<DiscoveredSkill>, rules: &Rules, yaml: Range<usize>) -> Self {
        Self {
            skill: Arc::clone(skill),
            rules: rules.clone(),
            yaml,
            digest: OnceLock::new(),
            frontmatter: OnceLock::new(),
            diagnostics: OnceLock::new(),
            resources: OnceLock::new(),
        }
    }

    /// Computes all fields that depend on the bytes.
    pub(super) fn compute_all(&self, bytes: &[u8]) {
        self.digest(bytes);
        self.frontmatter(bytes);
        self.diagnostics(bytes);
    }

    pub(super) fn digest(&self, bytes: &[u8]) -> &str {
        self.digest.get_or_init(|| prowess_fs::digest(bytes))
    }

    pub(super) fn frontmatter(&self, bytes: &[u8]) -> &Map<String, Value> {
        self.frontmatter.get_or_init(|| {
            let yaml = bytes.get(self.yaml.clone()).unwrap_or_default();
            let mut json = frontmatter::to_json(std::str::from_utf8(yaml).unwrap_or_default());
            if !super::may_allow_tools(&self.skill) {
                json.remove("allowed-tools");
            }
            json
        })
    }

    pub(super) fn diagnostics(&self, bytes: &[u8]) -> &[Diagnostic] {
        let name = self.skill.dir_name();
        self.diagnostics.get_or_init(|| match self.skill.is_command() {
            true => parse_command(bytes, &name).diagnostics,
            false => parse(bytes, Some(&name), &self.rules).diagnostics,
        })
    }

    pub(super) fn resources(&self) -> &ResourceList {
        self.resources.get_or_init(|| ResourceList::list(&self.skill))
    }
}

impl ResourceList {
    fn list(skill: &DiscoveredSkill) -> Self {
        let (mut files, or_more) = if skill.is_command() {
            (Vec::new(), false)
        } else if !skill.root().is_dir() {
            (FileListing::for_skill(skill).files.into_iter().map(|file| file.path).collect(), false)
        } else {
            // A directory that cannot be listed does not prevent the activation.
            let files = open::list_paths(skill).unwrap_or_default();
            (files.paths.clone(), files.truncated)
        };
        let skill_md = skill.file.as_str();
        files.retain(|path| path != skill_md);
        let total = files.len();
        files.truncate(RESOURCES_MAX);
        let truncation = ResourcesTruncation { shown: files.len(), total, or_more };
        Self { truncation: (truncation.or_more || truncation.shown < total).then_some(truncation), files }
    }
}
