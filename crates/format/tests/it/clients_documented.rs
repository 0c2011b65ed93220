//! The tables of `docs/clients.md` match the dialect tables.
//!
//! After changing a table, run `UPDATE_DOCS=1 cargo test -p prowess-format --test it clients_documented` to update the
//! page, and review the difference.

use std::path::PathBuf;

use prowess_format::dialects::{
    Client, ClientRules, DescriptionLimit, DialectKey, Evidence, FieldType, FolderRule, InstructionsShown,
    KEYS, NameCharacters, NameFallback, client_list,
};

#[test]
fn the_tables_of_the_page_are_up_to_date() {
    let page = std::fs::read_to_string(path()).unwrap();
    let tables = [
        ("agents", agents()),
        ("directories", directories()),
        ("refused", refused()),
        ("keys", keys()),
        ("instructions", instructions()),
    ];
    let updated = tables.iter().fold(page.clone(), |page, (name, table)| replace_table(&page, name, table));
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(path(), updated).unwrap();
        return;
    }
    for (documented, actual) in page.lines().zip(updated.lines()) {
        assert_eq!(documented, actual, "docs/clients.md is out of date; see the top of this file");
    }
    assert_eq!(page.len(), updated.len(), "docs/clients.md is out of date; see the top of this file");
}

fn path() -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "../../docs/clients.md"].iter().collect()
}

/// Replaces the text between `<!-- NAME -->` and `<!-- end -->`.
fn replace_table(page: &str, name: &str, table: &str) -> String {
    let marker = format!("<!-- {name} -->\n");
    let (before, rest) = page.split_once(&marker).expect("the page has a table of this name");
    let (_, after) = rest.split_once("<!-- end -->").expect("the table ends");
    format!("{before}{marker}{table}<!-- end -->{after}")
}

fn table(header: &[&str], rows: impl Iterator<Item = Vec<String>>) -> String {
    let mut lines = vec![format!("| {} |", header.join(" | ")), format!("|{}", "---|".repeat(header.len()))];
    lines.extend(rows.map(|cells| format!("| {} |", cells.join(" | "))));
    lines.join("\n") + "\n"
}

fn code(text: &str) -> String {
    format!("`{text}`")
}

/// Formats a number with a comma: `1,024`.
fn number(n: usize) -> String {
    match n {
        0..=999 => n.to_string(),
        _ => format!("{},{:03}", n / 1_000, n % 1_000),
    }
}

fn agents() -> String {
    let row = |client: Client| {
        let rules = client.rules();
        vec![
            client.title().to_owned(),
            code(client.as_str()),
            missing_name(rules).to_owned(),
            names(rules),
            descriptions(rules),
            evidence(rules),
        ]
    };
    let header = ["agent", "`--agent`", "without `name`", "names", "descriptions", "facts from"];
    table(&header, Client::ALL.into_iter().map(row))
}

fn missing_name(rules: &ClientRules) -> &'static str {
    match rules.missing_name {
        NameFallback::Directory => "uses the directory's",
        NameFallback::Refused => "not loaded",
        NameFallback::Unknown => "not known",
    }
}

fn names(rules: &ClientRules) -> String {
    let characters = match rules.name {
        NameCharacters::Any => "any text",
        NameCharacters::DirectoryCounts => "any text, but the directory's name is used",
        NameCharacters::QwenCode => "letters, digits, `_`, `:`, `.` and `-`",
        NameCharacters::AsciiHyphens => "ASCII letters, digits and single hyphens",
        NameCharacters::Specification => "as in the specification",
    };
    let max = rules.name_max.map_or_else(String::new, |max| format!(", at most {max} characters"));
    let folder = match rules.folder {
        FolderRule::None => "",
        FolderRule::IgnoringCase => "; the same as the directory's, ignoring case",
        FolderRule::Equal => "; the same as the directory's",
    };
    format!("{characters}{max}{folder}")
}

fn descriptions(rules: &ClientRules) -> String {
    match rules.description_limit {
        DescriptionLimit::None => "whole".to_owned(),
        DescriptionLimit::Cut(max) => format!("the first {} characters", number(max)),
        DescriptionLimit::Refused(max) => format!("at most {} characters", number(max)),
    }
}

fn evidence(rules: &ClientRules) -> String {
    match rules.evidence {
        Evidence::Run(version) => format!("a run of {version}"),
        Evidence::Source => "its source code".to_owned(),
        Evidence::Documentation => "its documentation".to_owned(),
    }
}

fn directories() -> String {
    let list = |dirs: &[&str], prefix: &str| {
        dirs.iter().map(|dir| code(&format!("{prefix}{dir}"))).collect::<Vec<_>>().join(", ")
    };
    let row = |client: Client| {
        let dirs = client.skill_dirs();
        let depth = match client.rules().depth {
            Some(1) => "directly in the directory".to_owned(),
            Some(depth) => format!("up to {depth} levels deep"),
            None => "not known".to_owned(),
        };
        vec![client.title().to_owned(), list(dirs.project, ""), list(dirs.home, "~/"), depth]
    };
    let header = ["agent", "in the project", "in the home directory", "finds skills"];
    table(&header, Client::ALL.into_iter().map(row))
}

fn refused() -> String {
    let row = |client: Client| {
        let rules = client.rules();
        let mut reasons: Vec<String> = [
            (rules.frontmatter_required, "no frontmatter"),
            (rules.description_required, "no `description`"),
            (rules.description_must_be_text, "a `description` that is a list"),
            (rules.name_must_be_text, "a `name` that is a number"),
            (rules.refuses_byte_order_mark, "a byte-order mark"),
            (rules.refuses_unquoted_values, "values that lack quotes"),
        ]
        .into_iter()
        .filter(|(is_refused, _)| *is_refused)
        .map(|(_, reason)| reason.to_owned())
        .collect();
        for (types, phrase) in FIELD_TYPES {
            let is_of_type = |(_, field_type): &&(&str, FieldType)| field_type == types;
            let fields: Vec<_> =
                rules.field_types.iter().filter(is_of_type).map(|(field, _)| code(field)).collect();
            if !fields.is_empty() {
                reasons.push(format!("{} that is not {phrase}", fields.join(" or ")));
            }
        }
        (!reasons.is_empty()).then(|| vec![client.title().to_owned(), reasons.join("; ")])
    };
    table(&["agent", "does not load a skill with"], Client::ALL.into_iter().filter_map(row))
}

const FIELD_TYPES: &[(FieldType, &str)] = &[
    (FieldType::Text, "text"),
    (FieldType::TextOrList, "text or a list"),
    (FieldType::List, "a list"),
    (FieldType::Boolean, "`true` or `false`"),
    (FieldType::Number, "a number"),
    (FieldType::Map, "a mapping"),
    (FieldType::TextMap, "a mapping of texts"),
];

fn keys() -> String {
    let is_plugin = |key: &&DialectKey| key.purpose == "part of a plugin manifest";
    let row = |key: &DialectKey| {
        let prowess = match (key.in_specification, key.used_by_prowess) {
            (true, _) => "yes, in the specification",
            (false, true) => "yes",
            (false, false) => "kept",
        };
        let agents = match key.clients {
            [] => "–".to_owned(),
            clients if clients.len() == Client::ALL.len() => "all".to_owned(),
            clients => client_list(clients),
        };
        vec![code(key.key), key.purpose.to_owned(), prowess.to_owned(), agents]
    };
    let rows = KEYS.iter().filter(|key| !is_plugin(key)).map(row);
    let plugin: Vec<_> = KEYS.iter().filter(is_plugin).map(|key| code(key.key)).collect();
    let text = table(&["key", "meaning", "used by Prowess", "used by"], rows);
    format!(
        "{text}\nParts of a plugin manifest, which Claude Code also reads in `SKILL.md`: {}.\n",
        plugin.join(", ")
    )
}

fn instructions() -> String {
    let row = |client: Client| {
        let shown = match client.rules().instructions {
            InstructionsShown::All => "all".to_owned(),
            InstructionsShown::Cut(max) => format!("{} characters", number(max)),
            InstructionsShown::None => "nothing".to_owned(),
            InstructionsShown::Unknown => return None,
        };
        let name = client.mcp_name().map_or_else(|| "not known".to_owned(), code);
        Some(vec![client.title().to_owned(), name, shown])
    };
    table(
        &["agent", "`clientInfo.name`", "instructions that its model sees"],
        Client::ALL.into_iter().filter_map(row),
    )
}
