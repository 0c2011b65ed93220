//! The value of query expansion: typos, prefixes and phrases.

use prowess_routing::eval::{LabelledMessage, evaluate};
use prowess_routing::{LexicalIndex, QueryExpansion, SkillTexts};

use prowess_bench::catalog::data::{Data, hash};
use prowess_bench::catalog::print_line;
use prowess_bench::catalog::score::{row, sizes};

const ALL: [(&str, QueryExpansion); 3] = [
    ("typos", QueryExpansion::Typos),
    ("prefixes", QueryExpansion::Prefixes),
    ("phrases", QueryExpansion::Phrases),
];

/// Compares all expansions with those without one of them.
pub(crate) fn ablation(data: &Data) {
    for skills in sizes(data) {
        print_line(&format!("\n{} skills: hit@1, recall@5 with 95 % intervals, MRR", skills.len()));
        let index = || LexicalIndex::new(&skills, SkillTexts::clone);
        let all = rankings(&index(), &skills, &data.messages);
        print_score("everything", &data.messages, &all);
        for (name, beyond) in ALL {
            let without = rankings(&index().without(beyond), &skills, &data.messages);
            let differing = all.iter().zip(&without).filter(|(with_all, other)| with_all != other).count();
            print_score(&format!("without {name} ({differing} rankings differ)"), &data.messages, &without);
        }
    }
}

/// Measures messages that contain the name of their skill, with and without a typo in it.
pub(crate) fn typos(data: &Data) {
    let (named, mistyped): (Vec<LabelledMessage>, Vec<LabelledMessage>) =
        data.messages.iter().filter_map(|message| Some((message.clone(), with_typo(message)?))).unzip();
    for skills in sizes(data) {
        print_line(&format!(
            "\n{} messages that name their skill, {} skills: hit@1, recall@5 with 95 % intervals, MRR",
            named.len(),
            skills.len()
        ));
        let index = LexicalIndex::new(&skills, SkillTexts::clone);
        print_score("without typos", &named, &rankings(&index, &skills, &named));
        print_score("with typos", &mistyped, &rankings(&index, &skills, &mistyped));
        let strict = index.without(QueryExpansion::Typos);
        print_score("with typos, without tolerance", &mistyped, &rankings(&strict, &skills, &mistyped));
    }
}

fn rankings(index: &LexicalIndex, skills: &[SkillTexts], messages: &[LabelledMessage]) -> Vec<Vec<String>> {
    let names = |message: &LabelledMessage| {
        let ranked = index.rank(&message.query, 10);
        ranked.iter().map(|found| skills[found.skill].name.clone()).collect()
    };
    messages.iter().map(names).collect()
}

fn print_score(label: &str, messages: &[LabelledMessage], rankings: &[Vec<String>]) {
    print_line(&row(label, &evaluate(messages.iter().zip(rankings.iter().map(Vec::as_slice)), 5).all));
}

/// Returns the message with a typo in a word of the name of its skill, or `None` if it does not contain the name.
fn with_typo(message: &LabelledMessage) -> Option<LabelledMessage> {
    let query = message.query.to_ascii_lowercase();
    let is_named = |name: &&String| {
        let name = name.to_ascii_lowercase();
        query.contains(&name) || query.contains(&name.replace(['-', '_'], " "))
    };
    let name = message.skills.iter().find(is_named)?.to_ascii_lowercase();
    let words: Vec<&str> = name.split(['-', '_']).filter(|word| word.len() >= 4 && word.is_ascii()).collect();
    let seed = hash(&message.query);
    let word = words.get(seed as usize % words.len().max(1))?;
    let query = replace_ignoring_case(&message.query, &query, word, &mistyped(word, seed >> 8));
    Some(LabelledMessage { query, ..message.clone() })
}

/// Removes, doubles or replaces a letter, or swaps two. The first letter stays, as in most typos.
fn mistyped(word: &str, seed: u64) -> String {
    let mut letters: Vec<char> = word.chars().collect();
    let index = 1 + (seed >> 2) as usize % (letters.len() - 2);
    match seed % 4 {
        0 => {
            letters.remove(index);
        }
        1 => letters.insert(index, letters[index]),
        2 => letters[index] = if letters[index] == 'q' { 'x' } else { 'q' },
        _ if letters[index] != letters[index + 1] => letters.swap(index, index + 1),
        _ => {
            letters.remove(index);
        }
    }
    letters.into_iter().collect()
}

/// Replaces each `old` in `text` with `new`, where `lower` is the text in lower case.
fn replace_ignoring_case(text: &str, lower: &str, old: &str, new: &str) -> String {
    let (mut replaced, mut end) = (String::new(), 0);
    for (start, _) in lower.match_indices(old) {
        replaced.push_str(&text[end..start]);
        replaced.push_str(new);
        end = start + old.len();
    }
    replaced + &text[end..]
}
