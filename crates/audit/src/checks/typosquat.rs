//! PA130: packages whose name differs in one letter from that of a well-known one.

use memchr::memmem;

use super::push_finding;
use crate::report::RawFinding;
use crate::text::SourceText;

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

pub(super) fn check(text: &SourceText<'_>, raw: &mut Vec<RawFinding>) {
    let is_list = text.path.ends_with("requirements.txt");
    let mut names: Vec<usize> = match is_list {
        true => (0..text.line_count()).map(|line| text.line(line).0).collect(),
        false => Vec::new(),
    };
    for command in COMMANDS {
        names.extend(memmem::find_iter(&text.bytes, command).map(|start| start + command.len()));
    }
    for start in names {
        if !is_list && !is_package_manager(text, start) {
            continue;
        }
        let (line_start, line) = text.line(text.line_of(start));
        let rest = line.get(start.saturating_sub(line_start)..).unwrap_or_default();
        let end = memchr::memchr3(b'`', b'&', b'|', rest).unwrap_or(rest.len());
        let rest = String::from_utf8_lossy(rest.get(..end).unwrap_or_default()).to_ascii_lowercase();
        if let Some((name, imitated)) = rest.split_ascii_whitespace().find_map(imitated_package) {
            push_finding(raw, "PA130", start, Some(format!("{name} instead of {imitated}")));
        }
    }
}

/// Returns `true` if the command before this offset installs packages of a registry.
fn is_package_manager(text: &SourceText<'_>, start: usize) -> bool {
    let before = text.bytes.get(start.saturating_sub(24)..start).unwrap_or_default();
    let managers = ["npm ", "pip", "yarn ", "bun ", "uv ", "gem ", "cargo ", "poetry "];
    managers.iter().any(|name| memmem::find(before, name.as_bytes()).is_some())
}

/// Returns the name of a package and the well-known one that it imitates.
fn imitated_package(word: &str) -> Option<(String, &'static str)> {
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
    let tail = |name: &'_ [u8], skip: usize| name.get(common + skip..).unwrap_or_default().to_vec();
    match long.len() - short.len() {
        0 => {
            let swapped =
                short.get(common) == long.get(common + 1) && short.get(common + 1) == long.get(common);
            common < long.len()
                && (tail(short, 1) == tail(long, 1) || (swapped && tail(short, 2) == tail(long, 2)))
        }
        1 => tail(short, 0) == tail(long, 1),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_differ_in_one_letter_are_imitations() {
        for name in ["reqests", "panads", "expresss", "djanga==4.2", "'lodahs'", "seleniun>=4"] {
            assert!(imitated_package(name).is_some(), "{name}");
        }
        for name in ["requests", "preact", "express-session", "pytest-cov", "-g", "react@18", "torch==2.1"] {
            assert!(imitated_package(name).is_none(), "{name}");
        }
    }
}
