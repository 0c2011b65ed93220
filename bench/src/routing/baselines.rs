//! Baselines of routing: plain keyword match and variants of BM25 with k1 = 1.2 and b = 0.75. Words are lower-case runs of
//! letters and digits, or single Chinese characters.

use std::collections::HashMap;

use prowess_routing::SkillTexts;

const K1: f32 = 1.2;
const B: f32 = 0.75;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Baseline {
    Keywords,
    About,
    WithBody,
    Fields,
    Sum,
}

impl Baseline {
    pub(crate) const ALL: [Self; 5] = [Self::Keywords, Self::About, Self::WithBody, Self::Fields, Self::Sum];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Keywords => "plain keyword match",
            Self::About => "BM25, name + description",
            Self::WithBody => "BM25, with body as one text",
            Self::Fields => "BM25F, name 3, description 2, body 1",
            Self::Sum => "BM25(name + description) + BM25(body)",
        }
    }
}

fn words(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    for c in text.chars() {
        let cjk = matches!(u32::from(c), 0x3041..=0x30FF | 0x3400..=0x9FFF | 0xF900..=0xFAFF);
        if !c.is_alphanumeric() || cjk {
            words.push(String::new());
        }
        if c.is_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.extend(c.to_lowercase());
        }
        if cjk {
            words.push(String::new());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// A field of all skills.
struct Field {
    postings: HashMap<String, Vec<(usize, f32)>>,
    lengths: Vec<f32>,
    mean: f32,
}

impl Field {
    fn new(texts: impl Iterator<Item = Vec<(f32, Vec<String>)>>) -> Self {
        let mut postings: HashMap<String, Vec<(usize, f32)>> = HashMap::new();
        let mut lengths = Vec::new();
        for (skill, weighed) in texts.enumerate() {
            let mut counts: HashMap<String, f32> = HashMap::new();
            let mut length = 0.0;
            for (weight, words) in weighed {
                for word in words {
                    *counts.entry(word).or_default() += weight;
                    length += weight;
                }
            }
            lengths.push(length);
            for (word, count) in counts {
                postings.entry(word).or_default().push((skill, count));
            }
        }
        let mean = lengths.iter().sum::<f32>() / lengths.len().max(1) as f32;
        Self { postings, lengths, mean }
    }

    fn add(&self, words: &[String], scores: &mut [f32]) {
        let all = self.lengths.len() as f32;
        for postings in words.iter().filter_map(|word| self.postings.get(word)) {
            let having = postings.len() as f32;
            let rarity = (1.0 + (all - having + 0.5) / (having + 0.5)).ln();
            for (skill, count) in postings {
                let norm = K1 * (1.0 - B + B * self.lengths[*skill] / self.mean);
                scores[*skill] += rarity * count * (K1 + 1.0) / (count + norm);
            }
        }
    }

    fn count(&self, words: &[String], scores: &mut [f32]) {
        for (skill, _) in words.iter().filter_map(|word| self.postings.get(word)).flatten() {
            scores[*skill] += 1.0;
        }
    }
}

/// All baselines for one catalog.
pub(crate) struct Baselines<'s> {
    skills: &'s [SkillTexts],
    about: Field,
    body: Field,
    one: Field,
    fields: Field,
}

impl<'s> Baselines<'s> {
    pub(crate) fn new(skills: &'s [SkillTexts]) -> Self {
        let field = |weights: [f32; 3]| {
            Field::new(skills.iter().map(|skill| {
                let texts = [&skill.name, &skill.about, &skill.body].into_iter().zip(weights);
                texts
                    .filter(|(_, weight)| *weight > 0.0)
                    .map(|(text, weight)| (weight, words(text)))
                    .collect()
            }))
        };
        Self {
            skills,
            about: field([1.0, 1.0, 0.0]),
            body: field([0.0, 0.0, 1.0]),
            one: field([1.0, 1.0, 1.0]),
            fields: field([3.0, 2.0, 1.0]),
        }
    }

    /// Returns the names of the best `k` skills.
    pub(crate) fn rank(&self, baseline: Baseline, message: &str, k: usize) -> Vec<String> {
        let mut words = words(message);
        words.sort_unstable();
        words.dedup();
        let mut scores = vec![0.0; self.skills.len()];
        match baseline {
            Baseline::Keywords => self.about.count(&words, &mut scores),
            Baseline::About => self.about.add(&words, &mut scores),
            Baseline::WithBody => self.one.add(&words, &mut scores),
            Baseline::Fields => self.fields.add(&words, &mut scores),
            Baseline::Sum => {
                self.about.add(&words, &mut scores);
                self.body.add(&words, &mut scores);
            }
        }
        let mut order: Vec<usize> = (0..scores.len()).filter(|skill| scores[*skill] > 0.0).collect();
        let name = |skill: usize| &self.skills[skill].name;
        order.sort_unstable_by(|a, b| scores[*b].total_cmp(&scores[*a]).then_with(|| name(*a).cmp(name(*b))));
        order.into_iter().take(k).map(|skill| name(skill).clone()).collect()
    }
}
