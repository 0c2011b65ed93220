//! Numbers within a range.

use std::ops::RangeInclusive;
use std::time::Duration;

use prowess_format::suggest::nearest;
use serde_json::Value as Json;

use super::{InvalidValue, KeyField, one_of};
use crate::tree::{ConfigTree, TreeKind};
use crate::values::{ConfigValues, ValueLens};

/// A number with a representation of "none".
pub(crate) trait Amount: Copy + 'static {
    /// Returns the number, or `None`.
    fn number(self) -> Option<u64>;

    /// Converts from a number. A number that does not fit is out of the key's range.
    fn from_number(number: Option<u64>) -> Self;
}

impl Amount for u32 {
    /// The maximum means "no limit" in a policy.
    fn number(self) -> Option<u64> {
        (self != Self::MAX).then_some(u64::from(self))
    }

    fn from_number(number: Option<u64>) -> Self {
        number.and_then(|number| Self::try_from(number).ok()).unwrap_or(Self::MAX)
    }
}

impl Amount for u64 {
    fn number(self) -> Option<u64> {
        Some(self)
    }

    fn from_number(number: Option<u64>) -> Self {
        number.unwrap_or(Self::MAX)
    }
}

impl Amount for Option<u32> {
    fn number(self) -> Option<u64> {
        self.map(u64::from)
    }

    fn from_number(number: Option<u64>) -> Self {
        number.and_then(|number| u32::try_from(number).ok())
    }
}

/// In milliseconds.
impl Amount for Duration {
    fn number(self) -> Option<u64> {
        u64::try_from(self.as_millis()).ok()
    }

    fn from_number(number: Option<u64>) -> Self {
        number.map_or(Self::MAX, Self::from_millis)
    }
}

/// A number within a range, or a word for none.
pub(crate) struct NumberField<T: 'static> {
    pub(crate) lens: ValueLens<T>,
    pub(crate) range: RangeInclusive<u64>,
    /// The words for none; the first one is written back.
    pub(crate) none: &'static [&'static str],
}

impl<T: Amount> KeyField for NumberField<T> {
    fn expected(&self) -> String {
        let number = format!("a number from {} to {}", self.range.start(), self.range.end());
        let words = self.none.iter().map(|word| format!("\"{word}\""));
        one_of(&std::iter::once(number).chain(words).collect::<Vec<_>>())
    }

    fn words(&self) -> Vec<&'static str> {
        self.none.to_vec()
    }

    fn parse_into(&self, tree: &ConfigTree, values: &mut ConfigValues) -> Result<(), InvalidValue> {
        let number = match &tree.kind {
            TreeKind::Integer(number) => Some(
                u64::try_from(*number)
                    .ok()
                    .filter(|number| self.range.contains(number))
                    .ok_or(InvalidValue::value(tree))?,
            ),
            TreeKind::Text(word) if self.none.contains(&word.as_str()) => None,
            TreeKind::Text(word) if word.parse::<u64>().is_ok() => {
                return Err(InvalidValue::value(tree).help(format!("write {word} without quotes")));
            }
            TreeKind::Text(word) => {
                let invalid = InvalidValue::value(tree);
                return Err(match nearest(word, self.none.iter().copied()) {
                    Some(similar) => invalid.help(format!("did you mean \"{similar}\"?")),
                    None => invalid,
                });
            }
            _ => return Err(InvalidValue::value(tree)),
        };
        *(self.lens.get_mut)(values) = T::from_number(number);
        Ok(())
    }

    fn to_json(&self, values: &ConfigValues) -> Json {
        match ((self.lens.get)(values).number(), self.none.first()) {
            (Some(number), _) => Json::from(number),
            (None, Some(word)) => Json::from(*word),
            (None, None) => Json::Null,
        }
    }

    fn permissiveness(&self, values: &ConfigValues) -> u64 {
        (self.lens.get)(values).number().unwrap_or(u64::MAX)
    }
}
