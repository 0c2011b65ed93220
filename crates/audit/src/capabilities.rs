//! What a skill can do, as far as its files say: shown when an update brings more of it.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use prowess_format::{Capabilities, Rules, parse};
use regex::bytes::Regex;

use super::checks::{grant, hosts};
use super::rule::compile;
use super::text::{Kind, Part, Text, texts};
use super::{AuditFile, AuditKind, LOOKED_AT};

/// Variables that say nothing about a script.
const COMMON: &str = "\
    PATH HOME PWD OLDPWD USER SHELL TMPDIR TMP TEMP LANG TERM IFS OPTARG OPTIND RANDOM BASH_SOURCE EUID UID \
    LINENO FUNCNAME ARGUMENTS SECONDS";

/// Gathers them from the files of one skill.
pub fn capabilities<'a>(files: impl Iterator<Item = AuditFile<'a>>) -> Capabilities {
    let mut all = Capabilities::default();
    for file in files.filter(|file| file.kind == AuditKind::File) {
        let kept = file.bytes.get(..LOOKED_AT).unwrap_or(file.bytes);
        if file.executable || texts(file.path, kept).any(|text| is_script(&text)) {
            all.scripts.insert(file.path.to_owned());
        }
        texts(file.path, kept).for_each(|text| of_text(&text, &mut all));
    }
    all
}

fn of_text(text: &Text<'_>, all: &mut Capabilities) {
    if text.is_binary() {
        return;
    }
    let licence = is_licence(text);
    let named = hosts::addresses(&text.bytes).filter_map(|address| hosts::name(&address));
    all.hosts.extend(named.filter(|host| !(licence && is_publisher(host))));
    if grant::is_skill_md(text.path)
        && let Some(document) = parse(&text.bytes, None, &Rules::standard()).document
    {
        let tools = document.manifest.allowed_tools().unwrap_or_default();
        all.tools.extend(tools.iter().map(ToString::to_string));
        all.env.extend(document.manifest.needed_variables());
    }
    variables(text, &mut all.env);
}

/// Whether a text is a licence by its name.
fn is_licence(text: &Text<'_>) -> bool {
    const NAMES: [&str; 6] = ["license", "licence", "copying", "notice", "unlicense", "ofl"];
    let name = text.path.rsplit('/').next().unwrap_or(text.path).to_ascii_lowercase();
    let stem = name.split(['.', '-', '_']).next().unwrap_or_default();
    !is_script(text) && NAMES.contains(&stem)
}

/// Whether a host is one that the texts of common licences name. Any other host in such a file counts.
fn is_publisher(host: &str) -> bool {
    const HOSTS: [&str; 9] = [
        "apache.org",
        "opensource.org",
        "gnu.org",
        "fsf.org",
        "creativecommons.org",
        "mozilla.org",
        "unlicense.org",
        "spdx.org",
        "sil.org",
    ];
    let host = host.strip_prefix("www.").or_else(|| host.strip_prefix("scripts.")).unwrap_or(host);
    HOSTS.contains(&host)
}

fn is_script(text: &Text<'_>) -> bool {
    text.kind == Kind::Script && !text.path.ends_with(".html") && !text.path.ends_with(".htm")
}

/// Names in the calls that read the environment, and in what a shell would expand.
fn variables(text: &Text<'_>, env: &mut BTreeSet<String>) {
    static PATTERNS: OnceLock<Option<(Regex, Regex, Regex)>> = OnceLock::new();
    if matches!(text.kind, Kind::Data | Kind::Plain) {
        return;
    }
    let patterns = PATTERNS.get_or_init(|| {
        Some((
            compile(r"(?:environ(?:\.get)?\s*[(\[]|getenv\s*\(|env::var(?:_os)?\s*\(|\bENV\s*(?:\.fetch\s*\(|\[))\s*['\x22]([A-Z_][A-Z0-9_]{2,63})['\x22]|process\.env(?:\.|\[['\x22])([A-Z_][A-Z0-9_]{2,63})|\$env:([A-Z_][A-Z0-9_]{2,63})")?,
            compile(r"\$\{?((?-i:[A-Z_][A-Z0-9_]{2,63}))\b")?,
            compile(r"(?:^|[\s;(])(?:export\s+|local\s+|readonly\s+|read\s+(?:-\w+\s+)*|for\s+)?((?-i:[A-Z_][A-Z0-9_]{2,63}))(?:=|\s+in\s)")?,
        ))
    });
    let Some((calls, expanded, assigned)) = patterns else { return };
    let names = |regex: &Regex, bytes: &[u8]| -> Vec<String> {
        let groups = regex.captures_iter(bytes).filter_map(|found| found.iter().skip(1).flatten().next());
        groups.map(|group| String::from_utf8_lossy(group.as_bytes()).into_owned()).collect()
    };
    env.extend(names(calls, &text.bytes));
    let shell = ["sh", "bash", "zsh"].iter().any(|it| text.path.ends_with(&format!(".{it}")))
        || (text.kind == Kind::Script && text.bytes.starts_with(b"#!") && !text.path.contains('.'));
    let own: BTreeSet<_> = if shell || text.kind == Kind::Markdown {
        names(assigned, &text.bytes).into_iter().collect()
    } else {
        return;
    };
    for found in expanded.captures_iter(&text.bytes) {
        let Some(group) = found.get(1) else { continue };
        let braced = group.start().checked_sub(1).and_then(|at| text.bytes.get(at)) == Some(&b'{');
        // A template of JavaScript, such as ${JSON.stringify(x)}, is not an expansion of a shell.
        let after = text.bytes.get(group.end()).copied().unwrap_or(b'}');
        if braced && !b"}:-=+?#%/^,@[".contains(&after) {
            continue;
        }
        let name = String::from_utf8_lossy(group.as_bytes()).into_owned();
        let code = shell || text.part(text.line_of(group.start())) == Part::Code;
        if code && !own.contains(&name) && !COMMON.split(' ').any(|common| common == name) {
            env.insert(name);
        }
    }
}
