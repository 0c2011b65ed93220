//! More skills than the catalog has, made of pieces of others: their names, sentences and lines.

use prowess_routing::SkillTexts;

use super::data::Data;

/// Up to this many are made beforehand; of more, all texts at once would not fit into memory.
const BEFOREHAND: usize = 100_000;

/// So many skills, always the same.
pub struct Recombined<'d> {
    data: &'d Data,
    /// How many.
    pub size: usize,
    body_max: usize,
    /// Empty where they are made when they are asked for.
    made: Vec<SkillTexts>,
}

impl<'d> Recombined<'d> {
    /// As many as `SIZE` or `SIZE:BODY` says, with bodies cut at that many bytes.
    pub fn new(data: &'d Data, wanted: &str) -> Result<Self, String> {
        let (size, body_max) = match wanted.split_once(':') {
            Some((size, max)) => (size, max.parse().map_err(|_| "SIZE:BODY are numbers")?),
            None => (wanted, usize::MAX),
        };
        let size: usize = size.parse().map_err(|_| "SIZE is a number")?;
        let before = if size <= BEFOREHAND { size } else { 0 };
        let made = (0..before).map(|number| recombined(data, number, body_max)).collect();
        Ok(Self { data, size, body_max, made })
    }

    /// The number of each.
    pub fn numbers(&self) -> Vec<usize> {
        (0..self.size).collect()
    }

    /// The texts of one.
    pub fn texts(&self, number: usize) -> SkillTexts {
        self.made.get(number).cloned().unwrap_or_else(|| recombined(self.data, number, self.body_max))
    }

    /// How many bytes names and descriptions have, and bodies.
    pub fn bytes(&self) -> (u64, u64) {
        (0..self.size).fold((0, 0), |(abouts, bodies), number| {
            let texts = self.texts(number);
            (abouts + (texts.name.len() + texts.about.len()) as u64, bodies + texts.body.len() as u64)
        })
    }

    /// Whether the time of building an index has that of making the texts in it.
    pub fn made_when(&self) -> &'static str {
        if self.made.len() == self.size { "made beforehand" } else { "made while building, which counts" }
    }
}

fn recombined(data: &Data, number: usize, body_max: usize) -> SkillTexts {
    let all = &data.skills;
    if number < all.len() && body_max == usize::MAX {
        return all[number].clone();
    }
    let mut seed = (number as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut pick = || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        &all[(seed % all.len() as u64) as usize]
    };
    let (one, other, third) = (pick(), pick(), pick());
    let part = |name: &str| name.split('-').next().unwrap_or(name).to_owned();
    let (first, second) = (first_half(&one.body), second_half(&other.body));
    let body = cut(first, body_max).to_owned() + cut(second, body_max.saturating_sub(first.len()));
    SkillTexts {
        name: format!("{}-{}", part(&one.name), second_half(&third.name).trim_matches('-')),
        about: first_half(&one.about).to_owned() + second_half(&other.about),
        body,
    }
}

fn cut(text: &str, max: usize) -> &str {
    &text[..text.floor_char_boundary(max)]
}

fn first_half(text: &str) -> &str {
    cut(text, text.len() / 2)
}

fn second_half(text: &str) -> &str {
    &text[first_half(text).len()..]
}
