//! What of an activated skill is worked out only when somebody asks for it, and then once.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use prowess_format::{Diagnostic, Rules, parse};
use serde_json::{Map, Value};

use super::{ResourcesCut, frontmatter};
use crate::contents::Contents;
use crate::resource::place;
use crate::skill::Found;

/// The most files that a model is told of.
const RESOURCES_MAX: usize = 100;

/// What is needed to answer later, and what was answered. The bytes of the file are given with each question;
/// where they are not kept as they were, everything about them is answered beforehand.
#[derive(Debug, Clone)]
pub(super) struct Late {
    found: Arc<Found>,
    rules: Rules,
    yaml: Range<usize>,
    digest: OnceLock<String>,
    frontmatter: OnceLock<Map<String, Value>>,
    diagnostics: OnceLock<Vec<Diagnostic>>,
    resources: OnceLock<Resources>,
}

/// The files beside `SKILL.md`.
#[derive(Debug, Clone)]
pub(super) struct Resources {
    pub(super) files: Vec<String>,
    pub(super) cut: Option<ResourcesCut>,
}

impl Late {
    /// For a file with its YAML at this place.
    pub(super) fn new(found: &Arc<Found>, rules: &Rules, yaml: Range<usize>) -> Self {
        Self {
            found: Arc::clone(found),
            rules: rules.clone(),
            yaml,
            digest: OnceLock::new(),
            frontmatter: OnceLock::new(),
            diagnostics: OnceLock::new(),
            resources: OnceLock::new(),
        }
    }

    /// Answers everything about bytes that are not kept.
    pub(super) fn answer(&self, bytes: &[u8]) {
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
            if !super::may_name_tools(&self.found) {
                json.remove("allowed-tools");
            }
            json
        })
    }

    pub(super) fn diagnostics(&self, bytes: &[u8]) -> &[Diagnostic] {
        self.diagnostics
            .get_or_init(|| parse(bytes, Some(&self.found.folder_name()), &self.rules).diagnostics)
    }

    pub(super) fn resources(&self) -> &Resources {
        self.resources.get_or_init(|| Resources::of(&self.found))
    }
}

impl Resources {
    fn of(found: &Found) -> Self {
        let (mut files, or_more) = if !found.root().is_folder() {
            (Contents::of(found).files.into_iter().map(|file| file.path).collect(), false)
        } else {
            // The instructions are there; that the folder cannot be listed must not take them away.
            place::folder(found).map(|folder| Contents::paths(&folder)).unwrap_or_default()
        };
        let own = found.file.as_str();
        files.retain(|path| path != own);
        let total = files.len();
        files.truncate(RESOURCES_MAX);
        let cut = ResourcesCut { shown: files.len(), total, or_more };
        Self { cut: (cut.or_more || cut.shown < total).then_some(cut), files }
    }
}
