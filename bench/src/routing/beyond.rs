//! What it is worth to look for more than the words as they stand: typing errors, beginnings, phrases.

use prowess_routing::eval::{LabelledMessage, evaluate};
use prowess_routing::{LexicalIndex, QueryExpansion, SkillTexts};

use prowess_bench::catalog::data::{Data, hash};
use prowess_bench::catalog::say;
use prowess_bench::catalog::score::{row, sizes};

const ALL: [(&str, QueryExpansion); 3] = [
    ("typos", QueryExpansion::Typos),
    ("prefixes", QueryExpansion::Prefixes),
    ("phrases", QueryExpansion::Phrases),
];

/// Everything, and with each left out.
pub(crate) fn ablation(data: &Data) {
    for skills in sizes(data) {
        say(&format!("\n{} skills: hit@1, recall@5 with 95 % intervals, MRR", skills.len()));
        let index = || LexicalIndex::new(&skills, SkillTexts::clone);
        let all = rankings(&index(), &skills, &data.messages);
        judge("everything", &data.messages, &all);
        for (name, beyond) in ALL {
            let without = rankings(&index().without(beyond), &skills, &data.messages);
            let differing = all.iter().zip(&without).filter(|(one, other)| one != other).count();
            judge(&format!("without {name} ({differing} answers differ)"), &data.messages, &without);
        }
    }
}

/// Messages that name their skill, with a typing error in the name.
pub(crate) fn typos(data: &Data) {
    let (named, mistyped): (Vec<LabelledMessage>, Vec<LabelledMessage>) =
        data.messages.iter().filter_map(|message| Some((message.clone(), with_error(message)?))).unzip();
    for skills in sizes(data) {
        say(&format!(
            "\n{} messages that name their skill, {} skills: hit@1, recall@5 with 95 % intervals, MRR",
            named.len(),
            skills.len()
        ));
        let index = LexicalIndex::new(&skills, SkillTexts::clone);
        judge("as they are", &named, &rankings(&index, &skills, &named));
        judge("mistyped", &mistyped, &rankings(&index, &skills, &mistyped));
        let strict = index.without(QueryExpansion::Typos);
        judge("mistyped, without tolerance", &mistyped, &rankings(&strict, &skills, &mistyped));
    }
}

fn rankings(index: &LexicalIndex, skills: &[SkillTexts], messages: &[LabelledMessage]) -> Vec<Vec<String>> {
    let names = |message: &LabelledMessage| {
        let ranked = index.rank(&message.query, 10);
        ranked.iter().map(|found| skills[found.skill].name.clone()).collect()
    };
    messages.iter().map(names).collect()
}

fn judge(what: &str, messages: &[LabelledMessage], rankings: &[Vec<String>]) {
    say(&row(what, &evaluate(messages.iter().zip(rankings.iter().map(Vec::as_slice)), 5).all));
}

/// The message with one error in a word of its skill's name, wherever it stands; `None` where it does not name its skill.
fn with_error(message: &LabelledMessage) -> Option<LabelledMessage> {
    let query = message.query.to_ascii_lowercase();
    let is_named = |name: &&String| {
        let name = name.to_ascii_lowercase();
        query.contains(&name) || query.contains(&name.replace(['-', '_'], " "))
    };
    let name = message.skills.iter().find(is_named)?.to_ascii_lowercase();
    let words: Vec<&str> = name.split(['-', '_']).filter(|word| word.len() >= 4 && word.is_ascii()).collect();
    let seed = hash(&message.query);
    let word = words.get(seed as usize % words.len().max(1))?;
    let query = replaced(&message.query, &query, word, &mistyped(word, seed >> 8));
    Some(LabelledMessage { query, ..message.clone() })
}

/// A letter left out, doubled or changed, or two exchanged; the first letter stays, as it mostly does.
fn mistyped(word: &str, seed: u64) -> String {
    let mut letters: Vec<char> = word.chars().collect();
    let at = 1 + (seed >> 2) as usize % (letters.len() - 2);
    match seed % 4 {
        0 => {
            letters.remove(at);
        }
        1 => letters.insert(at, letters[at]),
        2 => letters[at] = if letters[at] == 'q' { 'x' } else { 'q' },
        _ if letters[at] != letters[at + 1] => letters.swap(at, at + 1),
        _ => {
            letters.remove(at);
        }
    }
    letters.into_iter().collect()
}

/// `text` with `new` in place of each `old`, which is looked for in `lower`.
fn replaced(text: &str, lower: &str, old: &str, new: &str) -> String {
    let (mut made, mut done) = (String::new(), 0);
    for (at, _) in lower.match_indices(old) {
        made.push_str(&text[done..at]);
        made.push_str(new);
        done = at + old.len();
    }
    made + &text[done..]
}
