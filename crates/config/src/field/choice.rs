//! One of a few words.

use prowess_format::suggest::nearest;
use serde_json::Value as Json;

use super::{Field, Wrong, one_of};
use crate::tree::{Kind, Tree};
use crate::values::{Lens, Values};
use crate::words::Named;

/// One of a few words, or true or false where those are the words.
pub(crate) struct Choice<T: 'static> {
    pub(crate) at: Lens<T>,
}

impl<T: Named> Choice<T> {
    /// The place among the words.
    fn index(&self, values: &Values) -> usize {
        let value = *(self.at.get)(values);
        T::WORDS.iter().position(|(_, choice)| choice.is(value)).unwrap_or_default()
    }

    fn is_truth() -> bool {
        T::WORDS.iter().any(|(word, _)| *word == "true")
    }
}

impl<T: Named> Field for Choice<T> {
    fn takes(&self) -> String {
        if Self::is_truth() {
            return "true or false".to_owned();
        }
        one_of(&self.words().iter().map(|word| format!("\"{word}\"")).collect::<Vec<_>>())
    }

    fn words(&self) -> Vec<&'static str> {
        T::WORDS.iter().map(|(word, _)| *word).collect()
    }

    fn read(&self, tree: &Tree, values: &mut Values) -> Result<(), Wrong> {
        let word = match &tree.kind {
            Kind::Truth(true) if Self::is_truth() => "true",
            Kind::Truth(false) if Self::is_truth() => "false",
            Kind::Text(text) if !Self::is_truth() => text,
            _ => return Err(Wrong::is(tree)),
        };
        let Some((_, choice)) = T::WORDS.iter().find(|(known, _)| *known == word) else {
            let wrong = Wrong::is(tree);
            return Err(match nearest(word, self.words()) {
                Some(near) => wrong.help(format!("did you mean \"{near}\"?")),
                None => wrong,
            });
        };
        *(self.at.get_mut)(values) = *choice;
        Ok(())
    }

    fn write(&self, values: &Values) -> Json {
        match T::WORDS.get(self.index(values)) {
            Some(("true", _)) => Json::Bool(true),
            Some(("false", _)) => Json::Bool(false),
            Some((word, _)) => Json::from(*word),
            None => Json::Null,
        }
    }

    fn width(&self, values: &Values) -> u64 {
        self.index(values) as u64
    }
}
