//! Numbers within bounds.

use std::ops::RangeInclusive;
use std::time::Duration;

use prowess_format::suggest::nearest;
use serde_json::Value as Json;

use super::{Field, Wrong, one_of};
use crate::tree::{Kind, Tree};
use crate::values::{Lens, Values};

/// A number that may stand for none.
pub(crate) trait Amount: Copy + 'static {
    /// The number, if it is one.
    fn number(self) -> Option<u64>;

    /// The other way round. What does not fit is out of the key's range.
    fn of(number: Option<u64>) -> Self;
}

impl Amount for u32 {
    /// The largest is how a policy says "unbounded".
    fn number(self) -> Option<u64> {
        (self != Self::MAX).then_some(u64::from(self))
    }

    fn of(number: Option<u64>) -> Self {
        number.and_then(|number| Self::try_from(number).ok()).unwrap_or(Self::MAX)
    }
}

impl Amount for u64 {
    fn number(self) -> Option<u64> {
        Some(self)
    }

    fn of(number: Option<u64>) -> Self {
        number.unwrap_or(Self::MAX)
    }
}

impl Amount for Option<u32> {
    fn number(self) -> Option<u64> {
        self.map(u64::from)
    }

    fn of(number: Option<u64>) -> Self {
        number.and_then(|number| u32::try_from(number).ok())
    }
}

/// In milliseconds.
impl Amount for Duration {
    fn number(self) -> Option<u64> {
        u64::try_from(self.as_millis()).ok()
    }

    fn of(number: Option<u64>) -> Self {
        number.map_or(Self::MAX, Self::from_millis)
    }
}

/// A number within bounds, or a word for none.
pub(crate) struct Count<T: 'static> {
    pub(crate) at: Lens<T>,
    pub(crate) range: RangeInclusive<u64>,
    /// What may stand for no number; the first is how it is written back.
    pub(crate) none: &'static [&'static str],
}

impl<T: Amount> Field for Count<T> {
    fn takes(&self) -> String {
        let number = format!("a number from {} to {}", self.range.start(), self.range.end());
        let words = self.none.iter().map(|word| format!("\"{word}\""));
        one_of(&std::iter::once(number).chain(words).collect::<Vec<_>>())
    }

    fn words(&self) -> Vec<&'static str> {
        self.none.to_vec()
    }

    fn read(&self, tree: &Tree, values: &mut Values) -> Result<(), Wrong> {
        let number = match &tree.kind {
            Kind::Whole(number) => Some(
                u64::try_from(*number)
                    .ok()
                    .filter(|number| self.range.contains(number))
                    .ok_or(Wrong::is(tree))?,
            ),
            Kind::Text(word) if self.none.contains(&word.as_str()) => None,
            Kind::Text(word) if word.parse::<u64>().is_ok() => {
                return Err(Wrong::is(tree).help(format!("write {word} without quotes")));
            }
            Kind::Text(word) => {
                let wrong = Wrong::is(tree);
                return Err(match nearest(word, self.none.iter().copied()) {
                    Some(near) => wrong.help(format!("did you mean \"{near}\"?")),
                    None => wrong,
                });
            }
            _ => return Err(Wrong::is(tree)),
        };
        *(self.at.get_mut)(values) = T::of(number);
        Ok(())
    }

    fn write(&self, values: &Values) -> Json {
        match ((self.at.get)(values).number(), self.none.first()) {
            (Some(number), _) => Json::from(number),
            (None, Some(word)) => Json::from(*word),
            (None, None) => Json::Null,
        }
    }

    fn width(&self, values: &Values) -> u64 {
        (self.at.get)(values).number().unwrap_or(u64::MAX)
    }
}
