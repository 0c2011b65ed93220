//! Skills beyond those of the catalog, recombined from their names, descriptions and bodies.

use prowess_routing::SkillTexts;

use super::data::Data;

/// The maximum number of skills that are created in advance. More might not fit into memory.
const CACHED_MAX: usize = 100_000;

/// A deterministic collection of skills.
pub struct RecombinedSkills<'d> {
    data: &'d Data,
    /// The number of skills.
    pub size: usize,
    body_max: usize,
    /// The texts, or empty if they are created on demand.
    cached: Vec<SkillTexts>,
}

impl<'d> RecombinedSkills<'d> {
    /// Parses `SIZE` or `SIZE:BODY`, where `BODY` is the maximum length of bodies in bytes.
    pub fn new(data: &'d Data, spec: &str) -> Result<Self, String> {
        let (size, body_max) = match spec.split_once(':') {
            Some((size, max)) => (size, max.parse().map_err(|_| "SIZE:BODY must be numbers")?),
            None => (spec, usize::MAX),
        };
        let size: usize = size.parse().map_err(|_| "SIZE must be a number")?;
        let cached_size = if size <= CACHED_MAX { size } else { 0 };
        let cached = (0..cached_size).map(|number| recombine(data, number, body_max)).collect();
        Ok(Self { data, size, body_max, cached })
    }

    /// Returns the numbers of all skills.
    pub fn numbers(&self) -> Vec<usize> {
        (0..self.size).collect()
    }

    /// Returns the texts of a skill.
    pub fn texts(&self, number: usize) -> SkillTexts {
        self.cached.get(number).cloned().unwrap_or_else(|| recombine(self.data, number, self.body_max))
    }

    /// Returns the size of names and descriptions, and that of bodies, in bytes.
    pub fn bytes(&self) -> (u64, u64) {
        (0..self.size).fold((0, 0), |(abouts, bodies), number| {
            let texts = self.texts(number);
            (abouts + (texts.name.len() + texts.about.len()) as u64, bodies + texts.body.len() as u64)
        })
    }

    /// Describes whether the time of building an index includes creating the texts.
    pub fn text_creation(&self) -> &'static str {
        if self.cached.len() == self.size {
            "created in advance"
        } else {
            "created while building (included)"
        }
    }
}

fn recombine(data: &Data, number: usize, body_max: usize) -> SkillTexts {
    let originals = &data.skills;
    if number < originals.len() && body_max == usize::MAX {
        return originals[number].clone();
    }
    let mut seed = (number as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut pick = || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        &originals[(seed % originals.len() as u64) as usize]
    };
    let (head, tail, name_end) = (pick(), pick(), pick());
    let part = |name: &str| name.split('-').next().unwrap_or(name).to_owned();
    let (first, second) = (first_half(&head.body), second_half(&tail.body));
    let body = truncate(first, body_max).to_owned() + truncate(second, body_max.saturating_sub(first.len()));
    SkillTexts {
        name: format!("{}-{}", part(&head.name), second_half(&name_end.name).trim_matches('-')),
        about: first_half(&head.about).to_owned() + second_half(&tail.about),
        body,
    }
}

fn truncate(text: &str, max: usize) -> &str {
    &text[..text.floor_char_boundary(max)]
}

fn first_half(text: &str) -> &str {
    truncate(text, text.len() / 2)
}

fn second_half(text: &str) -> &str {
    &text[first_half(text).len()..]
}
