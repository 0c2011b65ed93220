//! Lists of names, paths and roots.

use std::path::{Path, PathBuf};

use serde_json::Value as Json;

use super::{InvalidValue, KeyField};
use crate::chat::is_index_url;
use crate::check::IgnoredCode;
use crate::tree::{ConfigTree, TreeKind};
use crate::values::{ConfigValues, ValueLens};
use prowess::policy::RootSpec;

/// A list of names.
pub(crate) struct TextListField {
    pub(crate) lens: ValueLens<Vec<String>>,
}

/// A list of paths that are absolute or begin with `~/`.
pub(crate) struct PathListField {
    pub(crate) lens: ValueLens<Vec<PathBuf>>,
}

/// A list of addresses of sites.
pub(crate) struct UrlListField {
    pub(crate) lens: ValueLens<Vec<String>>,
}

/// A list of codes that `prowess check` does not report.
pub(crate) struct IgnoredCodesField {
    pub(crate) lens: ValueLens<Vec<IgnoredCode>>,
}

/// A list of skill directories.
pub(crate) struct RootListField {
    pub(crate) lens: ValueLens<Vec<RootSpec>>,
}

impl KeyField for TextListField {
    fn expected(&self) -> String {
        "a list of names".to_owned()
    }

    fn parse_into(&self, tree: &ConfigTree, values: &mut ConfigValues) -> Result<(), InvalidValue> {
        let names =
            items(tree)?.into_iter().map(|(_, text)| expand_source(text, values.home.as_deref())).collect();
        *(self.lens.get_mut)(values) = names;
        Ok(())
    }

    fn to_json(&self, values: &ConfigValues) -> Json {
        Json::from((self.lens.get)(values).clone())
    }
}

impl KeyField for PathListField {
    fn expected(&self) -> String {
        "a list of paths that are absolute or begin with ~/".to_owned()
    }

    fn parse_into(&self, tree: &ConfigTree, values: &mut ConfigValues) -> Result<(), InvalidValue> {
        let mut paths = Vec::new();
        for (item, text) in items(tree)? {
            let path = parse_path(text, values.home.as_deref()).map_err(|error| error.for_item(item))?;
            paths.push(path);
        }
        *(self.lens.get_mut)(values) = paths;
        Ok(())
    }

    fn to_json(&self, values: &ConfigValues) -> Json {
        (self.lens.get)(values).iter().map(|path| path.display().to_string()).collect()
    }
}

impl KeyField for UrlListField {
    fn expected(&self) -> String {
        "a list of https URLs without user, query and fragment".to_owned()
    }

    fn parse_into(&self, tree: &ConfigTree, values: &mut ConfigValues) -> Result<(), InvalidValue> {
        let mut urls = Vec::new();
        for (item, text) in items(tree)? {
            if !is_index_url(text) {
                return Err(InvalidValue::item(item, ""));
            }
            urls.push(text.to_owned());
        }
        *(self.lens.get_mut)(values) = urls;
        Ok(())
    }

    fn to_json(&self, values: &ConfigValues) -> Json {
        Json::from((self.lens.get)(values).clone())
    }
}

impl KeyField for IgnoredCodesField {
    fn expected(&self) -> String {
        "a list of codes, such as \"SK044\" or \"vendor/**:SK063\"".to_owned()
    }

    fn parse_into(&self, tree: &ConfigTree, values: &mut ConfigValues) -> Result<(), InvalidValue> {
        let mut codes = Vec::new();
        for (item, text) in items(tree)? {
            let code = text
                .parse::<IgnoredCode>()
                .map_err(|error| InvalidValue::item(item, &format!(": {error}")))?;
            codes.push(code);
        }
        *(self.lens.get_mut)(values) = codes;
        Ok(())
    }

    fn to_json(&self, values: &ConfigValues) -> Json {
        (self.lens.get)(values).iter().map(ToString::to_string).collect()
    }
}

impl KeyField for RootListField {
    fn expected(&self) -> String {
        "a list of directories".to_owned()
    }

    fn parse_into(&self, tree: &ConfigTree, values: &mut ConfigValues) -> Result<(), InvalidValue> {
        let mut roots = Vec::new();
        for (item, text) in items(tree)? {
            let root =
                text.parse::<RootSpec>().map_err(|error| InvalidValue::item(item, &format!(": {error}")))?;
            roots.push(root);
        }
        *(self.lens.get_mut)(values) = roots;
        Ok(())
    }

    fn to_json(&self, values: &ConfigValues) -> Json {
        (self.lens.get)(values).iter().map(ToString::to_string).collect()
    }
}

/// Returns the items of a list of strings.
fn items(tree: &ConfigTree) -> Result<Vec<(&ConfigTree, &str)>, InvalidValue> {
    let TreeKind::List(items) = &tree.kind else {
        let invalid = InvalidValue::value(tree);
        return Err(match &tree.kind {
            TreeKind::Text(_) => invalid.help("write it as a list, in brackets".to_owned()),
            _ => invalid,
        });
    };
    items
        .iter()
        .map(|item| match &item.kind {
            TreeKind::Text(text) if text.trim().is_empty() => Err(InvalidValue::item(item, "")),
            TreeKind::Text(text) if text.contains('\0') => {
                Err(InvalidValue::item(item, ", which contains a NUL"))
            }
            TreeKind::Text(text) => Ok((item, text.as_str())),
            _ => Err(InvalidValue::item(item, "")),
        })
        .collect()
}

/// Expands `~` in `source:PATH`; other names are unchanged.
fn expand_source(name: &str, home: Option<&Path>) -> String {
    match name
        .strip_prefix("source:")
        .filter(|path| path.starts_with("~/"))
        .map(|path| parse_path(path, home))
    {
        Some(Ok(path)) => format!("source:{}", path.display()),
        _ => name.to_owned(),
    }
}

/// Why a path in the configuration is rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ParsePathError {
    Relative,
    /// The path begins with `~`, and the home directory is not known.
    NoHome,
}

impl ParsePathError {
    const NO_HOME_HELP: &str = "write an absolute path";

    /// Returns the error for an item of a list.
    fn for_item(self, item: &ConfigTree) -> InvalidValue {
        match self {
            Self::Relative => InvalidValue::item(item, ", which is not absolute"),
            Self::NoHome => InvalidValue::detail(
                Some(item.span),
                format!("contains {}, but there is no home directory", item.describe()),
            )
            .help(Self::NO_HOME_HELP.to_owned()),
        }
    }

    /// Returns the error for a value that must not be shown.
    pub(super) fn for_secret(self) -> InvalidValue {
        match self {
            Self::Relative => InvalidValue::whole(None, "is not an absolute path".to_owned()),
            Self::NoHome => {
                InvalidValue::detail(None, "begins with ~, but there is no home directory".to_owned())
                    .help(Self::NO_HOME_HELP.to_owned())
            }
        }
    }
}

/// Parses a path that is absolute or begins with `~/`.
pub(crate) fn parse_path(text: &str, home: Option<&Path>) -> Result<PathBuf, ParsePathError> {
    if text.starts_with('/') {
        return Ok(PathBuf::from(text));
    }
    match (text.strip_prefix("~/").or((text == "~").then_some("")), home) {
        (Some(""), Some(home)) => Ok(home.to_owned()),
        (Some(inner), Some(home)) => Ok(home.join(inner.trim_start_matches('/'))),
        (Some(_), None) => Err(ParsePathError::NoHome),
        (None, _) => Err(ParsePathError::Relative),
    }
}
