//! A package index on loopback.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv4Addr, TcpListener};

use crate::builders::{ZipEntry, zip};

/// A package index on loopback with hand-made wheels.
pub struct LocalIndex {
    /// Its address, for `environments.python-index`.
    pub url: String,
}

impl LocalIndex {
    /// Serves these files, named `NAME-VERSION-….whl`.
    pub fn start(files: Vec<(String, Vec<u8>)>) -> Self {
        let files: BTreeMap<String, Vec<u8>> = files.into_iter().collect();
        Self::serve(move |path| answer(path, &files))
    }

    /// Serves these files, each after a delay, so that a build takes long enough to be interrupted.
    pub fn start_slow(files: Vec<(String, Vec<u8>)>, delay: std::time::Duration) -> Self {
        let files: BTreeMap<String, Vec<u8>> = files.into_iter().collect();
        Self::serve(move |path| {
            if path.starts_with("/files/") {
                std::thread::sleep(delay);
            }
            answer(path, &files)
        })
    }

    /// Serves this page for a package, and nothing else.
    pub fn start_with_page(package: &str, page: &str) -> Self {
        let (path, page) = (format!("/simple/{package}/"), page.to_owned());
        Self::serve(move |asked| match asked == path {
            true => (
                "200 OK",
                "text/html",
                format!("<!DOCTYPE html><html><body>{page}</body></html>").into_bytes(),
            ),
            false => ("404 Not Found", "text/plain", Vec::new()),
        })
    }

    fn serve(answer: impl Fn(&str) -> (&'static str, &'static str, Vec<u8>) + Send + 'static) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let mut reader = BufReader::new(stream.try_clone().unwrap());
                let mut first = String::new();
                let _ = reader.read_line(&mut first);
                let mut line = String::new();
                while reader.read_line(&mut line).is_ok_and(|count| count > 2) {
                    line.clear();
                }
                let (status, kind, body) = answer(first.split(' ').nth(1).unwrap_or_default());
                let head = format!(
                    "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
                    body.len()
                );
                let _ = stream.write_all(head.as_bytes());
                let _ = stream.write_all(&body);
            }
        });
        Self { url: format!("http://127.0.0.1:{port}/simple") }
    }
}

fn answer(path: &str, files: &BTreeMap<String, Vec<u8>>) -> (&'static str, &'static str, Vec<u8>) {
    if let Some(bytes) = path.strip_prefix("/files/").and_then(|name| files.get(name)) {
        return ("200 OK", "application/octet-stream", bytes.clone());
    }
    let name = path.trim_start_matches("/simple/").trim_end_matches('/');
    let links: String = files
        .iter()
        .filter(|(file, _)| file.split('-').next().is_some_and(|package| package.replace('_', "-") == name))
        .map(|(file, bytes)| {
            let digest = prowess::digest(bytes).replace(':', "=");
            format!("<a href=\"/files/{file}#{digest}\">{file}</a>\n")
        })
        .collect();
    match links.is_empty() {
        true => ("404 Not Found", "text/plain", Vec::new()),
        false => {
            ("200 OK", "text/html", format!("<!DOCTYPE html><html><body>{links}</body></html>").into_bytes())
        }
    }
}

/// Returns a wheel with these files besides its metadata.
pub fn wheel(name: &str, version: &str, requires: &[&str], files: &[(&str, &str)]) -> (String, Vec<u8>) {
    let info = format!("{name}-{version}.dist-info");
    let requires: String = requires.iter().map(|line| format!("Requires-Dist: {line}\n")).collect();
    let metadata = format!("Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{requires}");
    let wheel = "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n";
    let mut entries: Vec<(String, String)> =
        files.iter().map(|(path, text)| ((*path).into(), (*text).into())).collect();
    entries.push((format!("{info}/METADATA"), metadata));
    entries.push((format!("{info}/WHEEL"), wheel.to_owned()));
    let record: String = entries.iter().map(|(path, _)| format!("{path},,\n")).collect();
    entries.push((format!("{info}/RECORD"), format!("{record}{info}/RECORD,,\n")));
    let bytes = zip(entries.iter().map(|(path, text)| ZipEntry::stored(path, text.as_bytes()))).bytes();
    (format!("{name}-{version}-py3-none-any.whl"), bytes)
}
