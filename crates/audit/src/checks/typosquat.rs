//! PA130: packages whose name differs in one letter from that of a well-known one.

use memchr::memmem;

use super::push_finding;
use crate::context;
use crate::report::RawFinding;
use crate::text::{LineKind, SourceText};

/// Well-known packages of npm, PyPI, RubyGems and crates.io that are often imitated, and real packages with
/// similar names.
const KNOWN: &str = "\
    express lodash axios react react-dom preact redux webpack typescript eslint tslint prettier chalk commander \
    mongoose mongodb dotenv cross-env puppeteer playwright nodemon jsonwebtoken socket.io body-parser discord.js \
    electron tailwindcss styled-components prisma vitest fastify sequelize moment rollup request request-promise \
    node-fetch babel-cli jquery underscore bootstrap requests beautifulsoup4 pandas numpy scipy scapy spacy \
    matplotlib tensorflow scikit-learn selenium cryptography sqlalchemy python-dateutil urllib3 certifi setuptools \
    colorama django flask fastapi pillow pytest aiohttp httpx uvicorn gunicorn celery boto3 botocore torch keras \
    polars pydantic pyyaml openpyxl pycryptodome paramiko ansible jupyter opencv-python transformers langchain \
    nokogiri rails rspec sinatra bundler jekyll rest-client devise serde tokio reqwest anyhow color colors colour";

/// The words in front of the names of packages.
const COMMANDS: [&str; 3] = ["install ", " add ", "npm i "];

/// Package managers of these registries. Other programs have longer names, such as `pipeline`.
const MANAGERS: [&str; 13] =
    ["npm", "pnpm", "pip", "pip2", "pip3", "pipx", "pipenv", "yarn", "bun", "uv", "gem", "cargo", "poetry"];

/// Words after which a sentence no longer names packages.
const PREPOSITIONS: &str = "on in to from for with at by before after into inside when if is as then";

pub(super) fn check(text: &SourceText<'_>, findings: &mut Vec<RawFinding>) {
    let is_list = text.path.ends_with("requirements.txt");
    let mut starts: Vec<usize> = match is_list {
        true => (0..text.line_count()).map(|line| text.line(line).0).collect(),
        false => Vec::new(),
    };
    for command in COMMANDS {
        starts.extend(memmem::find_iter(&text.bytes, command).map(|start| start + command.len()));
    }
    for start in starts {
        let (line_start, line) = text.line(text.line_of(start));
        let (before, rest) = line.split_at(start.saturating_sub(line_start).min(line.len()));
        if !before.is_empty() && !follows_package_manager(text, start) {
            continue;
        }
        let is_end = |index: &usize| match rest.get(*index) {
            Some(b'`' | b'&' | b'|' | b';') => true,
            Some(b'#') => {
                index.checked_sub(1).and_then(|index| rest.get(index)).is_none_or(u8::is_ascii_whitespace)
            }
            _ => false,
        };
        let end = (0..rest.len()).find(is_end).unwrap_or(rest.len());
        let rest = String::from_utf8_lossy(rest.get(..end).unwrap_or_default()).to_ascii_lowercase();
        let is_sentence =
            text.line_kind(text.line_of(start)) == LineKind::Prose && !context::is_in_code_span(start, text);
        let is_name = |word: &&str| {
            !is_sentence || is_list || !PREPOSITIONS.split_ascii_whitespace().any(|listed| listed == *word)
        };
        let words_max = if is_list && before.is_empty() { 1 } else { usize::MAX };
        let mut words = rest.split_ascii_whitespace().take_while(is_name).take(words_max);
        if let Some((name, imitated)) = words.find_map(find_imitation) {
            push_finding(findings, "PA130", start, Some(format!("{name} instead of {imitated}")));
        }
    }
}

/// Returns `true` if the command before this offset, in the same line or one that continues, installs packages of a
/// registry.
fn follows_package_manager(text: &SourceText<'_>, start: usize) -> bool {
    let is_break = |index: &usize| {
        text.bytes.get(*index) == Some(&b'\n')
            && index.checked_sub(1).and_then(|index| text.bytes.get(index)) != Some(&b'\\')
    };
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    let from = start.saturating_sub(24);
    // The first name may start in front of the window.
    let outside = text.bytes.get(from.saturating_sub(64)..from).unwrap_or_default();
    let from = from - outside.iter().rev().take_while(|byte| is_part(byte)).count();
    let from = (from..start).rev().find(is_break).unwrap_or(from);
    let before = text.bytes.get(from..start).unwrap_or_default();
    let mut words = before.split(|byte| !is_part(byte));
    words.any(|word| {
        let name = word.split(|byte| *byte == b'.').next().unwrap_or_default();
        MANAGERS.iter().any(|manager| manager.as_bytes() == name)
    })
}

/// Returns the name of a package and the well-known one that it imitates.
fn find_imitation(word: &str) -> Option<(String, &'static str)> {
    let name = word.trim_matches(['"', '\'', ',', ';', ')']);
    let name = name.split(['=', '>', '<', '~', '!', '[', '@']).next()?;
    let is_known = KNOWN.split_ascii_whitespace().any(|package| package == name);
    if name.len() < 5 || is_known {
        return None;
    }
    let package =
        KNOWN.split_ascii_whitespace().find(|package| is_one_edit(name.as_bytes(), package.as_bytes()))?;
    Some((name.to_owned(), package))
}

/// Returns `true` if two names differ in one letter that was added, removed, replaced or swapped with the next one.
fn is_one_edit(a: &[u8], b: &[u8]) -> bool {
    let (short, long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    let common = short.iter().zip(long).take_while(|(a, b)| a == b).count();
    match long.len() - short.len() {
        0 => {
            let swapped =
                short.get(common) == long.get(common + 1) && short.get(common + 1) == long.get(common);
            common < long.len()
                && (tail(short, common + 1) == tail(long, common + 1)
                    || (swapped && tail(short, common + 2) == tail(long, common + 2)))
        }
        1 => tail(short, common) == tail(long, common + 1),
        _ => false,
    }
}

/// Returns the part of a name from an offset.
fn tail(name: &[u8], from: usize) -> &[u8] {
    name.get(from..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_differ_in_one_letter_are_imitations() {
        for name in ["reqests", "panads", "expresss", "djanga==4.2", "'lodahs'", "seleniun>=4"] {
            assert!(find_imitation(name).is_some(), "{name}");
        }
        for name in ["requests", "preact", "express-session", "pytest-cov", "-g", "react@18", "torch==2.1"] {
            assert!(find_imitation(name).is_none(), "{name}");
        }
    }

    #[test]
    fn only_arguments_of_package_managers_are_names() {
        let count = |path: &str, text: &str| {
            let mut findings = Vec::new();
            check(&SourceText::new(path, text.as_bytes().into()), &mut findings);
            findings.len()
        };
        for text in [
            "gem install bundler; bundle install\n",
            "npm install; touch x\n",
            "pip install requests # not reqeusts\n",
            "pipeline install reqeusts\n",
            "pip\ninstall reqeusts\n",
        ] {
            assert_eq!(count("a.sh", text), 0, "{text}");
        }
        assert_eq!(count("SKILL.md", "Run pip install on the device.\n"), 0);
        assert_eq!(count("requirements.txt", "# reqeusts\nrequests # the device\nflask ; touch\n"), 0);
        for text in [
            "npm install; pip install reqeusts\n",
            "python3 -m pip install -q reqeusts\n",
            ".venv/bin/pip3.11 install reqeusts\n",
            "pip \\\n  install reqeusts\n",
            "pnpm add lodahs\n",
        ] {
            assert_eq!(count("a.sh", text), 1, "{text}");
        }
        assert_eq!(count("SKILL.md", "Run pip install reqeusts on the device.\n"), 1);
        assert_eq!(count("requirements.txt", "numpy\nreqeusts==2 # http\n"), 1);
    }
}
