//! Other names of words: abbreviations of tools and terms, file formats, and British spellings.

use std::collections::HashMap;
use std::sync::OnceLock;

use super::words::{Term, for_each_term};

/// Groups of equivalent names, one per line, separated by commas. A name has one or two words. Inflected forms are
/// equal. Capitals matter where the lower-case word means something else.
const ALIASES: &str = include_str!("aliases.txt");

#[derive(Default)]
struct AliasTable {
    words: HashMap<Term, Vec<(&'static str, &'static str)>>,
    pairs: HashMap<(Term, Term), Vec<&'static str>>,
}

fn table() -> &'static AliasTable {
    static TABLE: OnceLock<AliasTable> = OnceLock::new();
    TABLE.get_or_init(|| {
        let mut table = AliasTable::default();
        for line in ALIASES.lines() {
            let names: Vec<&'static str> = line.split(',').map(str::trim).collect();
            for name in &names {
                let others = names.iter().filter(|other| *other != name);
                let mut terms = Vec::new();
                for_each_term(name, |term| terms.push(term));
                match terms[..] {
                    [first, second] if name.contains(' ') => {
                        table.pairs.entry((first, second)).or_default().extend(others);
                    }
                    [term] => {
                        table.words.entry(term).or_default().extend(others.map(|other| (*name, *other)));
                    }
                    _ => {}
                }
            }
        }
        table
    })
}

/// Returns the other names of a word.
pub(super) fn aliases(term: Term, text: &str) -> impl Iterator<Item = &'static str> {
    let is_capital = text.starts_with(char::is_uppercase);
    let aliases = table().words.get(&term).into_iter().flatten();
    aliases
        .filter(move |(name, _)| is_capital || !name.starts_with(char::is_uppercase))
        .map(|(_, other)| *other)
}

/// Returns the other names of two adjacent words.
pub(super) fn aliases_of_pair(first: Term, second: Term) -> impl Iterator<Item = &'static str> {
    table().pairs.get(&(first, second)).into_iter().flatten().copied()
}

#[cfg(test)]
mod tests {
    use super::super::words::single_term;
    use super::*;

    fn aliases_of(word: &str) -> Vec<&'static str> {
        aliases(single_term(word).unwrap(), word).collect()
    }

    #[test]
    fn aliases_work_in_both_directions() {
        assert_eq!(aliases_of("K8s"), ["kubernetes"]);
        assert_eq!(aliases_of("kubernetes"), ["k8s", "kubectl"]);
        assert_eq!(aliases_of("Go"), ["golang"]);
        assert_eq!(aliases_of("go"), [] as [&str; 0]);
        assert_eq!(aliases_of("spreadsheets"), ["xlsx", "excel", "xls"]);
        assert_eq!(aliases_of("slide"), ["deck", "presentation", "pptx", "powerpoint", "ppt"]);
        let pair: Vec<_> =
            aliases_of_pair(single_term("word").unwrap(), single_term("documents").unwrap()).collect();
        assert_eq!(pair, ["docx", "word doc"]);
    }

    #[test]
    fn every_line_has_several_names_of_one_or_two_words() {
        for line in ALIASES.lines() {
            let names: Vec<&str> = line.split(',').map(str::trim).collect();
            assert!(
                names.len() > 1 && names.iter().all(|name| (1..=2).contains(&name.split(' ').count())),
                "{line}"
            );
        }
    }
}
