//! Values that are one of a few words.

use prowess_format::suggest::nearest;
use serde_json::Value as Json;

use super::{InvalidValue, KeyField, one_of};
use crate::choices::NamedChoice;
use crate::tree::{ConfigTree, TreeKind};
use crate::values::{ConfigValues, ValueLens};

/// One of a few words, or a Boolean.
pub(crate) struct ChoiceField<T: 'static> {
    pub(crate) lens: ValueLens<T>,
}

impl<T: NamedChoice> ChoiceField<T> {
    /// Returns the index of the value among the words.
    fn index(&self, values: &ConfigValues) -> usize {
        let value = *(self.lens.get)(values);
        T::NAMES.iter().position(|(_, choice)| choice.is_same(value)).unwrap_or_default()
    }

    fn is_bool() -> bool {
        T::NAMES.iter().any(|(word, _)| *word == "true")
    }
}

impl<T: NamedChoice> KeyField for ChoiceField<T> {
    fn expected(&self) -> String {
        if Self::is_bool() {
            return "true or false".to_owned();
        }
        one_of(&self.words().iter().map(|word| format!("\"{word}\"")).collect::<Vec<_>>())
    }

    fn words(&self) -> Vec<&'static str> {
        T::NAMES.iter().map(|(word, _)| *word).collect()
    }

    fn parse_into(&self, tree: &ConfigTree, values: &mut ConfigValues) -> Result<(), InvalidValue> {
        let word = match &tree.kind {
            TreeKind::Bool(true) if Self::is_bool() => "true",
            TreeKind::Bool(false) if Self::is_bool() => "false",
            TreeKind::Text(text) if !Self::is_bool() => text,
            _ => return Err(InvalidValue::value(tree)),
        };
        let Some((_, choice)) = T::NAMES.iter().find(|(name, _)| *name == word) else {
            let invalid = InvalidValue::value(tree);
            return Err(match nearest(word, self.words()) {
                Some(similar) => invalid.help(format!("did you mean \"{similar}\"?")),
                None => invalid,
            });
        };
        *(self.lens.get_mut)(values) = *choice;
        Ok(())
    }

    fn to_json(&self, values: &ConfigValues) -> Json {
        match T::NAMES.get(self.index(values)) {
            Some(("true", _)) => Json::Bool(true),
            Some(("false", _)) => Json::Bool(false),
            Some((word, _)) => Json::from(*word),
            None => Json::Null,
        }
    }

    fn permissiveness(&self, values: &ConfigValues) -> u64 {
        self.index(values) as u64
    }
}
