//! Optional strings.

use std::path::PathBuf;

use prowess_format::suggest::nearest;
use serde_json::Value as Json;

use super::lists::parse_path;
use super::{InvalidValue, KeyField};
use crate::chat_store::ChatStore;
use crate::tree::{ConfigTree, TreeKind};
use crate::values::{ConfigValues, ValueLens};

/// The word for no value.
const NONE: &str = "none";

/// A string of a certain form. An invalid string is not repeated: it may be a misplaced secret.
pub(crate) struct TextField {
    pub(crate) lens: ValueLens<Option<String>>,
    /// The expected value, as text.
    pub(crate) description: &'static str,
    pub(crate) is_valid: fn(&str) -> bool,
}

/// The location of chats: a database URL, or a path that is absolute or begins with `~/`. It may contain a
/// password.
pub(crate) struct ChatStoreField {
    pub(crate) lens: ValueLens<Option<ChatStore>>,
}

/// A path that is absolute or begins with `~/`.
pub(crate) struct PathField {
    pub(crate) lens: ValueLens<Option<PathBuf>>,
}

impl KeyField for TextField {
    fn expected(&self) -> String {
        format!("{} or \"{NONE}\"", self.description)
    }

    fn words(&self) -> Vec<&'static str> {
        vec![NONE]
    }

    fn parse_into(&self, tree: &ConfigTree, values: &mut ConfigValues) -> Result<(), InvalidValue> {
        let value = match &tree.kind {
            TreeKind::Text(text) if text == NONE => None,
            TreeKind::Text(text) if (self.is_valid)(text) => Some(text.clone()),
            TreeKind::Text(text) if nearest(text, [NONE]).is_some() => {
                return Err(invalid_secret().help(format!("did you mean \"{NONE}\"?")));
            }
            TreeKind::Text(_) => return Err(invalid_secret()),
            _ => return Err(InvalidValue::value(tree)),
        };
        *(self.lens.get_mut)(values) = value;
        Ok(())
    }

    fn to_json(&self, values: &ConfigValues) -> Json {
        Json::from((self.lens.get)(values).as_deref().unwrap_or(NONE))
    }
}

/// The error for an invalid value that must not be shown, nor its line.
fn invalid_secret() -> InvalidValue {
    InvalidValue::whole(None, "is invalid".to_owned())
}

impl KeyField for PathField {
    fn expected(&self) -> String {
        format!("a path that is absolute or begins with ~/ or \"{NONE}\"")
    }

    fn words(&self) -> Vec<&'static str> {
        vec![NONE]
    }

    fn parse_into(&self, tree: &ConfigTree, values: &mut ConfigValues) -> Result<(), InvalidValue> {
        let value = match &tree.kind {
            TreeKind::Text(text) if text == NONE => None,
            TreeKind::Text(text) if text.contains('\0') => return Err(InvalidValue::value(tree)),
            TreeKind::Text(text) => match parse_path(text, values.home.as_deref()) {
                Ok(path) => Some(path),
                Err(error) => return Err(error.for_secret()),
            },
            _ => return Err(InvalidValue::value(tree)),
        };
        *(self.lens.get_mut)(values) = value;
        Ok(())
    }

    fn to_json(&self, values: &ConfigValues) -> Json {
        match (self.lens.get)(values) {
            Some(path) => Json::from(path.display().to_string()),
            None => Json::from(NONE),
        }
    }
}

impl KeyField for ChatStoreField {
    fn expected(&self) -> String {
        format!(
            "postgresql://USER:PASSWORD@HOST/DATABASE, a path that is absolute or begins with ~/ or \"{NONE}\""
        )
    }

    fn words(&self) -> Vec<&'static str> {
        vec![NONE]
    }

    fn parse_into(&self, tree: &ConfigTree, values: &mut ConfigValues) -> Result<(), InvalidValue> {
        let value = match &tree.kind {
            TreeKind::Text(text) if text == NONE => None,
            TreeKind::Text(text) if text.contains('\0') => return Err(invalid_secret()),
            TreeKind::Text(text) if ChatStore::is_database(text) => Some(ChatStore::new(text)),
            TreeKind::Text(text) => {
                let path = text.strip_prefix("sqlite:").unwrap_or(text);
                match parse_path(path, values.home.as_deref()) {
                    Ok(path) => Some(ChatStore::new(path.to_string_lossy())),
                    Err(error) => return Err(error.for_secret()),
                }
            }
            _ => return Err(InvalidValue::value(tree)),
        };
        *(self.lens.get_mut)(values) = value;
        Ok(())
    }

    fn to_json(&self, values: &ConfigValues) -> Json {
        match (self.lens.get)(values) {
            Some(store) => Json::from(store.to_string()),
            None => Json::from(NONE),
        }
    }
}
