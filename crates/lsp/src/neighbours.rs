//! The skills that are hard to tell from a skill by their descriptions.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use prowess_format::{Rules, parse};
use prowess_fs::read_bounded;
use prowess_routing::{CONFUSABLE_SHARE, LexicalIndex, SkillTexts};

use crate::workspace::{SKILL_MD_MAX, WorkspaceSkill};

/// The number of neighbours that are shown.
const NEIGHBOURS_MAX: usize = 3;

/// A routing index of the workspace, built in the background. It is as old as the last scan or save.
#[derive(Debug)]
pub(crate) struct NeighbourIndex {
    index: LexicalIndex,
    skills: Vec<WorkspaceSkill>,
    positions: HashMap<PathBuf, usize>,
}

/// The neighbours of a skill.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Neighbours {
    /// The names of the nearest skills, the nearest one first.
    pub(crate) nearest: Vec<String>,
    /// How many of them match the description about as well as the skill itself.
    pub(crate) confusable: usize,
}

impl NeighbourIndex {
    /// Reads and indexes the skills.
    pub(crate) fn build(skills: Vec<WorkspaceSkill>, rules: &Rules) -> Self {
        let texts = |skill: &WorkspaceSkill| skill_texts(&skill.path, rules);
        let index = LexicalIndex::new(&skills, texts);
        let positions =
            skills.iter().enumerate().map(|(position, skill)| (skill.path.clone(), position)).collect();
        Self { index, skills, positions }
    }

    /// Returns the neighbours of a skill with these texts.
    pub(crate) fn neighbours(&self, about: &str, path: Option<&Path>) -> Neighbours {
        let own = path.and_then(|path| self.positions.get(path)).copied();
        let ranked = self.index.similar(about, NEIGHBOURS_MAX + 1);
        let own_score = ranked.iter().find(|(skill, _)| Some(*skill) == own).map(|(_, score)| *score);
        let others: Vec<_> = ranked
            .into_iter()
            .filter(|(skill, score)| Some(*skill) != own && *score > 0.0)
            .take(NEIGHBOURS_MAX)
            .collect();
        // A skill that does not find itself is behind all of its neighbours.
        let is_confusable = |score: f32| match (own, own_score) {
            (Some(_), Some(own_score)) => score >= own_score * CONFUSABLE_SHARE,
            (Some(_), None) => true,
            (None, _) => false,
        };
        let confusable = others.iter().filter(|(_, score)| is_confusable(*score)).count();
        let name = |(skill, _): &(usize, f32)| self.skills.get(*skill).map(|skill| skill.name.clone());
        Neighbours { nearest: others.iter().filter_map(name).collect(), confusable }
    }
}

fn skill_texts(path: &Path, rules: &Rules) -> SkillTexts {
    let source = read_bounded(path, SKILL_MD_MAX).unwrap_or_default();
    match parse(&source, None, rules).document {
        Some(document) => SkillTexts::from_manifest(&document.manifest, document.body(&source)),
        None => SkillTexts::default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_the_skills_with_similar_descriptions() {
        let temp = tempfile::tempdir().unwrap();
        let skill = |name: &str, description: &str| {
            let path = temp.path().join(name).join("SKILL.md");
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, format!("---\nname: {name}\ndescription: {description}\n---\nText."))
                .unwrap();
            WorkspaceSkill { path, name: name.to_owned() }
        };
        let about = "Merges and splits PDF files.";
        let skills = vec![
            skill("pdf", about),
            skill("pdf-copy", about),
            skill("pdf-forms", "Fills in forms of PDF files."),
            skill("weather", "Tells the forecast of any city."),
        ];
        let own = skills[0].path.clone();
        let index = NeighbourIndex::build(skills, &Rules::standard());
        let neighbours = index.neighbours(about, Some(&own));
        assert_eq!(
            neighbours,
            Neighbours { nearest: vec!["pdf-copy".into(), "pdf-forms".into()], confusable: 1 }
        );
        let unsaved = index.neighbours(about, None);
        assert_eq!((unsaved.nearest.len(), unsaved.confusable), (3, 0));
        assert_eq!(index.neighbours("Xylophone", None), Neighbours::default());
    }
}
