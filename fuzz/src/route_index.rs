//! Damaged routing indexes.

use prowess_routing::{LexicalIndex, SkillTexts};

/// Reads the bytes as an index, and as changes of a valid one. Checks that nothing panics, that nothing is read past the end,
/// and that only existing skills are found.
pub fn route_index(bytes: &[u8]) {
    check_queries(bytes.to_vec(), u32::MAX as usize);
    let skills: Vec<SkillTexts> = (0..200).map(skill).collect();
    let mut index = LexicalIndex::bare_bytes(&skills);
    for change in bytes.chunks_exact(3) {
        let at = usize::from(u16::from_le_bytes([change[0], change[1]]));
        let length = index.len();
        if let Some(byte) = index.get_mut(at % length) {
            *byte = change[2];
        }
    }
    if let [cut, _] = bytes {
        index.truncate(usize::from(*cut) * 16);
    }
    check_queries(index, skills.len());
}

fn skill(number: usize) -> SkillTexts {
    SkillTexts {
        name: format!("skill-{}", number % 9),
        about: format!("Does things of kind{}. Use when common.", number % 3),
        body: format!("common words and {number}"),
    }
}

fn check_queries(bytes: Vec<u8>, skills: usize) {
    let Some(index) = LexicalIndex::from_bare_bytes(bytes) else { return };
    for query in ["common words of kind1", "skill 3", "使用 common 7", "sklil \"common words\" ski* sk", ""]
    {
        let found = index.rank(query, 9);
        assert!(found.len() <= 9);
        assert!(found.iter().all(|found| found.skill < skills), "{found:?}");
    }
}
