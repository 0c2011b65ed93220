//! Lists of names, of paths and of directories.

use std::path::{Path, PathBuf};

use serde_json::Value as Json;

use super::{Field, Wrong};
use crate::tree::{Kind, Tree};
use crate::values::{Lens, Values};
use prowess::policy::RootSpec;

/// A list of names.
pub(crate) struct Texts {
    pub(crate) at: Lens<Vec<String>>,
}

/// A list of paths that are absolute or below the home.
pub(crate) struct Paths {
    pub(crate) at: Lens<Vec<PathBuf>>,
}

/// A list of directories of skills.
pub(crate) struct Roots {
    pub(crate) at: Lens<Vec<RootSpec>>,
}

impl Field for Texts {
    fn takes(&self) -> String {
        "a list of names".to_owned()
    }

    fn read(&self, tree: &Tree, values: &mut Values) -> Result<(), Wrong> {
        let names =
            items(tree)?.into_iter().map(|(_, text)| spelled_out(text, values.home.as_deref())).collect();
        *(self.at.get_mut)(values) = names;
        Ok(())
    }

    fn write(&self, values: &Values) -> Json {
        Json::from((self.at.get)(values).clone())
    }
}

impl Field for Paths {
    fn takes(&self) -> String {
        "a list of paths that are absolute or begin with ~/".to_owned()
    }

    fn read(&self, tree: &Tree, values: &mut Values) -> Result<(), Wrong> {
        let mut paths = Vec::new();
        for (item, text) in items(tree)? {
            let path = path_of(text, values.home.as_deref()).map_err(|why| Wrong::has(item, why))?;
            paths.push(path);
        }
        *(self.at.get_mut)(values) = paths;
        Ok(())
    }

    fn write(&self, values: &Values) -> Json {
        (self.at.get)(values).iter().map(|path| path.display().to_string()).collect()
    }
}

impl Field for Roots {
    fn takes(&self) -> String {
        "a list of directories".to_owned()
    }

    fn read(&self, tree: &Tree, values: &mut Values) -> Result<(), Wrong> {
        let mut roots = Vec::new();
        for (item, text) in items(tree)? {
            let root = text.parse::<RootSpec>().map_err(|error| Wrong::has(item, &format!(": {error}")))?;
            roots.push(root);
        }
        *(self.at.get_mut)(values) = roots;
        Ok(())
    }

    fn write(&self, values: &Values) -> Json {
        (self.at.get)(values).iter().map(ToString::to_string).collect()
    }
}

/// The items of a list of texts.
fn items(tree: &Tree) -> Result<Vec<(&Tree, &str)>, Wrong> {
    let Kind::List(items) = &tree.kind else {
        let wrong = Wrong::is(tree);
        return Err(match &tree.kind {
            Kind::Text(_) => wrong.help("write it in brackets, as a list of one".to_owned()),
            _ => wrong,
        });
    };
    items
        .iter()
        .map(|item| match &item.kind {
            Kind::Text(text) if text.trim().is_empty() => Err(Wrong::has(item, "")),
            Kind::Text(text) if text.contains('\0') => Err(Wrong::has(item, ", with a NUL character")),
            Kind::Text(text) => Ok((item, text.as_str())),
            _ => Err(Wrong::has(item, "")),
        })
        .collect()
}

/// A name; a source below the home is known by its whole path.
fn spelled_out(name: &str, home: Option<&Path>) -> String {
    match name.strip_prefix("source:").filter(|path| path.starts_with("~/")).map(|path| path_of(path, home)) {
        Some(Ok(path)) => format!("source:{}", path.display()),
        _ => name.to_owned(),
    }
}

/// A path that does not depend on where one stands, with `~` spelled out.
pub(crate) fn path_of(text: &str, home: Option<&Path>) -> Result<PathBuf, &'static str> {
    if text.starts_with('/') {
        return Ok(PathBuf::from(text));
    }
    match (text.strip_prefix("~/").or((text == "~").then_some("")), home) {
        (Some(""), Some(home)) => Ok(home.to_owned()),
        (Some(inner), Some(home)) => Ok(home.join(inner.trim_start_matches('/'))),
        (Some(_), None) => Err(", and there is no home"),
        (None, _) => Err(", which is not absolute"),
    }
}
