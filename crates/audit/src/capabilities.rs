//! What a skill can access according to its files, shown when an update adds to it.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use prowess_format::{Capabilities, Rules, parse};
use regex::bytes::Regex;

use super::checks::{grant, hosts};
use super::rule::compile;
use super::text::{LineKind, SourceText, TextKind, decode_texts};
use super::{AuditFile, AuditKind, SCAN_MAX, unpack};

/// Variables that say nothing about a script.
const COMMON_VARIABLES: &str = "\
    PATH HOME PWD OLDPWD USER SHELL TMPDIR TMP TEMP LANG TERM IFS OPTARG OPTIND RANDOM BASH_SOURCE EUID UID \
    LINENO FUNCNAME ARGUMENTS SECONDS";

/// Collects the capabilities of one skill from its files.
pub fn capabilities<'a>(files: impl Iterator<Item = AuditFile<'a>>) -> Capabilities {
    let mut all = Capabilities::default();
    let mut unpacked = 0;
    for file in files.filter(|file| file.kind == AuditKind::File) {
        let scanned = file.bytes.get(..SCAN_MAX).unwrap_or(file.bytes);
        if file.executable || decode_texts(file.path, scanned).any(|text| is_script(&text)) {
            all.scripts.insert(file.path.to_owned());
        }
        decode_texts(file.path, scanned).for_each(|text| collect_from_text(&text, &mut all));
        collect_from_archive(file.path, scanned, 0, &mut unpacked, &mut all);
    }
    all
}

/// Collects the scripts in an archive, and what they access. The audit reports archives that cannot be unpacked.
fn collect_from_archive(path: &str, bytes: &[u8], depth: usize, unpacked: &mut u64, all: &mut Capabilities) {
    let Some(format) = unpack::detect_format(bytes) else { return };
    if depth >= unpack::DEPTH_MAX || *unpacked >= unpack::TOTAL_MAX {
        return;
    }
    let files = unpack::unpack_archive(format, path, bytes).unwrap_or_default();
    *unpacked += files.iter().map(|file| file.bytes.len() as u64).sum::<u64>();
    for file in &files {
        let scanned = file.bytes.get(..SCAN_MAX).unwrap_or(&file.bytes);
        // Other files are parts of documents, in which URLs are often only names, such as XML namespaces.
        for text in decode_texts(&file.path, scanned).filter(|text| file.executable || is_script(text)) {
            all.scripts.insert(file.path.clone());
            collect_from_text(&text, all);
        }
        collect_from_archive(&file.path, scanned, depth + 1, unpacked, all);
    }
}

fn collect_from_text(text: &SourceText<'_>, all: &mut Capabilities) {
    if text.is_binary() {
        return;
    }
    let in_licence = is_licence(text);
    let mentioned_hosts = hosts::find_urls(&text.bytes).filter_map(|address| hosts::host_name(&address));
    all.hosts.extend(mentioned_hosts.filter(|host| !(in_licence && is_publisher(host))));
    if grant::is_skill_md(text.path)
        && let Some(document) = parse(&text.bytes, Some(grant::UNNAMED), &Rules::standard()).document
    {
        let tools = document.manifest.allowed_tools().unwrap_or_default();
        all.tools.extend(tools.iter().map(ToString::to_string));
        all.env.extend(document.manifest.required_env());
    }
    collect_env(text, &mut all.env);
}

/// Returns `true` if the file name is that of a licence.
fn is_licence(text: &SourceText<'_>) -> bool {
    const NAMES: [&str; 6] = ["license", "licence", "copying", "notice", "unlicense", "ofl"];
    let name = text.path.rsplit('/').next().unwrap_or(text.path).to_ascii_lowercase();
    let stem = name.split(['.', '-', '_']).next().unwrap_or_default();
    !is_script(text) && NAMES.contains(&stem)
}

/// Returns `true` for hosts that common licences mention. Any other host in a licence counts.
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

fn is_script(text: &SourceText<'_>) -> bool {
    text.kind == TextKind::Script && !text.path.ends_with(".html") && !text.path.ends_with(".htm")
}

/// Collects variable names from calls that read the environment, and from shell expansions.
fn collect_env(text: &SourceText<'_>, env: &mut BTreeSet<String>) {
    static PATTERNS: OnceLock<Option<(Regex, Regex, Regex)>> = OnceLock::new();
    if matches!(text.kind, TextKind::Data | TextKind::Plain) {
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
        let groups =
            regex.captures_iter(bytes).filter_map(|captures| captures.iter().skip(1).flatten().next());
        groups.map(|group| String::from_utf8_lossy(group.as_bytes()).into_owned()).collect()
    };
    env.extend(names(calls, &text.bytes));
    let is_shell =
        ["sh", "bash", "zsh"].iter().any(|extension| text.path.ends_with(&format!(".{extension}")))
            || (text.kind == TextKind::Script && text.bytes.starts_with(b"#!") && !text.path.contains('.'));
    let assigned_names: BTreeSet<_> = if is_shell || text.kind == TextKind::Markdown {
        names(assigned, &text.bytes).into_iter().collect()
    } else {
        return;
    };
    for captures in expanded.captures_iter(&text.bytes) {
        let Some(group) = captures.get(1) else { continue };
        let braced = group.start().checked_sub(1).and_then(|offset| text.bytes.get(offset)) == Some(&b'{');
        // A JavaScript template such as ${JSON.stringify(x)} is not a shell expansion.
        let next = text.bytes.get(group.end()).copied().unwrap_or(b'}');
        if braced && !b"}:-=+?#%/^,@[".contains(&next) {
            continue;
        }
        let name = String::from_utf8_lossy(group.as_bytes()).into_owned();
        let in_code = is_shell || text.line_kind(text.line_of(group.start())) == LineKind::Code;
        if in_code
            && !assigned_names.contains(&name)
            && !COMMON_VARIABLES.split(' ').any(|common| common == name)
        {
            env.insert(name);
        }
    }
}
