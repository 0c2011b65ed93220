//! The catalog and the labelled messages, read from a directory that is given on the command line.

use std::collections::HashSet;
use std::path::Path;
use std::process::{Command, Stdio};

use prowess_routing::SkillTexts;
use prowess_routing::eval::LabelledMessage;
use serde_json::Value;

/// A catalog and messages labelled with its skills.
pub struct Data {
    /// All skills of the catalog.
    pub skills: Vec<SkillTexts>,
    /// Messages with their correct skills.
    pub messages: Vec<LabelledMessage>,
    /// Messages with wrong skills.
    pub negatives: Vec<LabelledMessage>,
}

impl Data {
    /// Reads `catalog*.jsonl` or `catalog*.jsonl.zst`, `queries.jsonl` and `negatives.jsonl`.
    pub fn read(dir: &Path) -> Result<Self, String> {
        let lines = |name: &str| {
            let text = std::fs::read_to_string(dir.join(name)).map_err(|error| format!("{name}: {error}"))?;
            LabelledMessage::parse_lines(&text).map_err(|error| format!("{name}: {error}"))
        };
        Ok(Self {
            skills: read_catalog(dir)?,
            messages: lines("queries.jsonl")?,
            negatives: lines("negatives.jsonl")?,
        })
    }

    /// Returns all labelled skills and others, up to `size`. The sample is deterministic.
    pub fn sample(&self, size: usize) -> Vec<SkillTexts> {
        let is_labelled = |labelled: &LabelledMessage| {
            labelled.skills.iter().chain(&labelled.not_skills).cloned().collect::<Vec<_>>()
        };
        let labelled: HashSet<String> =
            self.messages.iter().chain(&self.negatives).flat_map(is_labelled).collect();
        let mut others: Vec<(u64, usize)> = (0..)
            .zip(&self.skills)
            .filter(|(_, skill)| !labelled.contains(&skill.name))
            .map(|(index, skill)| (hash(&skill.name), index))
            .collect();
        others.sort_unstable();
        let room = size.saturating_sub(self.skills.len() - others.len());
        let chosen: HashSet<usize> = others.into_iter().take(room).map(|(_, index)| index).collect();
        let keep =
            |(index, skill): &(usize, &SkillTexts)| labelled.contains(&skill.name) || chosen.contains(index);
        self.skills.iter().enumerate().filter(keep).map(|(_, skill)| skill.clone()).collect()
    }
}

impl Data {
    /// Returns a small sample that depends on `number`. Half of it are correct skills of messages.
    pub fn small_sample(&self, size: usize, number: usize) -> Vec<SkillTexts> {
        let labelled: HashSet<&String> = self.messages.iter().flat_map(|message| &message.skills).collect();
        let order = |texts: &&SkillTexts| hash(&format!("{number} {}", texts.name));
        let mut skills: Vec<&SkillTexts> = self.skills.iter().collect();
        skills.sort_by_key(order);
        let (named, others): (Vec<&SkillTexts>, Vec<&SkillTexts>) =
            skills.into_iter().partition(|skill| labelled.contains(&skill.name));
        named.into_iter().take(size / 2).chain(others.into_iter().take(size - size / 2)).cloned().collect()
    }
}

/// Returns the FNV-1a hash, multiplied to spread its bits.
pub fn hash(text: &str) -> u64 {
    let fold = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    text.bytes().fold(0xcbf2_9ce4_8422_2325, fold).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

fn read_catalog(dir: &Path) -> Result<Vec<SkillTexts>, String> {
    let named = |entry: std::fs::DirEntry| {
        let name = entry.file_name().into_string().ok()?;
        (name.starts_with("catalog") && name.contains(".jsonl")).then(|| entry.path())
    };
    let entries = std::fs::read_dir(dir).map_err(|error| format!("{}: {error}", dir.display()))?;
    let path = entries.flatten().filter_map(named).min().ok_or("no catalog*.jsonl found")?;
    let text = if path.extension().is_some_and(|ending| ending == "zst") {
        let unpacked = Command::new("zstd").args(["-dcq"]).arg(&path).stderr(Stdio::inherit()).output();
        String::from_utf8_lossy(&unpacked.map_err(|error| format!("zstd: {error}"))?.stdout).into_owned()
    } else {
        std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?
    };
    let skill = |line: &str| {
        let value: Value = serde_json::from_str(line).map_err(|error| error.to_string())?;
        let field = |name: &str| value.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        Ok(SkillTexts { name: field("name"), about: field("description"), body: field("body") })
    };
    text.lines().map(skill).collect()
}
