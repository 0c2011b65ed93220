//! One text, or none.

use std::path::PathBuf;

use prowess_format::suggest::nearest;
use serde_json::Value as Json;

use super::lists::path_of;
use super::{Field, Wrong};
use crate::place::ChatStore;
use crate::tree::{Kind, Tree};
use crate::values::{Lens, Values};

/// How it is said that there is none.
const NONE: &str = "none";

/// One text of a certain form. A text of another form is not repeated: it may be a secret in the wrong place.
pub(crate) struct Text {
    pub(crate) at: Lens<Option<String>>,
    /// What it takes, in words.
    pub(crate) what: &'static str,
    pub(crate) is: fn(&str) -> bool,
}

/// Where chats are kept: a database, or a path that is absolute or below the home. It may hold a password.
pub(crate) struct Store {
    pub(crate) at: Lens<Option<ChatStore>>,
}

/// One path that is absolute or below the home.
pub(crate) struct File {
    pub(crate) at: Lens<Option<PathBuf>>,
}

impl Field for Text {
    fn takes(&self) -> String {
        format!("{} or \"{NONE}\"", self.what)
    }

    fn words(&self) -> Vec<&'static str> {
        vec![NONE]
    }

    fn read(&self, tree: &Tree, values: &mut Values) -> Result<(), Wrong> {
        let value = match &tree.kind {
            Kind::Text(text) if text == NONE => None,
            Kind::Text(text) if (self.is)(text) => Some(text.clone()),
            Kind::Text(text) if nearest(text, [NONE]).is_some() => {
                return Err(hushed("").help(format!("did you mean \"{NONE}\"?")));
            }
            Kind::Text(_) => return Err(hushed("")),
            _ => return Err(Wrong::is(tree)),
        };
        *(self.at.get_mut)(values) = value;
        Ok(())
    }

    fn write(&self, values: &Values) -> Json {
        Json::from((self.at.get)(values).as_deref().unwrap_or(NONE))
    }
}

/// Wrong, and not repeated, nor the line shown on which it stands.
fn hushed(why: &str) -> Wrong {
    Wrong { span: None, what: format!("is something else{why}"), help: None }
}

impl Field for File {
    fn takes(&self) -> String {
        format!("a path that is absolute or begins with ~/ or \"{NONE}\"")
    }

    fn words(&self) -> Vec<&'static str> {
        vec![NONE]
    }

    fn read(&self, tree: &Tree, values: &mut Values) -> Result<(), Wrong> {
        let value = match &tree.kind {
            Kind::Text(text) if text == NONE => None,
            Kind::Text(text) if text.contains('\0') => return Err(Wrong::is(tree)),
            Kind::Text(text) => match path_of(text, values.home.as_deref()) {
                Ok(path) => Some(path),
                Err(why) => return Err(hushed(why)),
            },
            _ => return Err(Wrong::is(tree)),
        };
        *(self.at.get_mut)(values) = value;
        Ok(())
    }

    fn write(&self, values: &Values) -> Json {
        match (self.at.get)(values) {
            Some(path) => Json::from(path.display().to_string()),
            None => Json::from(NONE),
        }
    }
}

impl Field for Store {
    fn takes(&self) -> String {
        format!(
            "postgresql://USER:PASSWORD@HOST/DATABASE, a path that is absolute or begins with ~/ or \"{NONE}\""
        )
    }

    fn words(&self) -> Vec<&'static str> {
        vec![NONE]
    }

    fn read(&self, tree: &Tree, values: &mut Values) -> Result<(), Wrong> {
        let value = match &tree.kind {
            Kind::Text(text) if text == NONE => None,
            Kind::Text(text) if text.contains('\0') => return Err(hushed("")),
            Kind::Text(text) if ChatStore::is_database(text) => Some(ChatStore::new(text)),
            Kind::Text(text) => {
                let path = text.strip_prefix("sqlite:").unwrap_or(text);
                match path_of(path, values.home.as_deref()) {
                    Ok(path) => Some(ChatStore::new(path.to_string_lossy())),
                    Err(why) => return Err(hushed(why)),
                }
            }
            _ => return Err(Wrong::is(tree)),
        };
        *(self.at.get_mut)(values) = value;
        Ok(())
    }

    fn write(&self, values: &Values) -> Json {
        match (self.at.get)(values) {
            Some(store) => Json::from(store.to_string()),
            None => Json::from(NONE),
        }
    }
}
