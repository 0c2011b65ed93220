use std::path::{Path, PathBuf};

use super::*;

/// Returns the files of a directory, as paths with `/`.
fn on_disk(dir: &Path, prefix: &str) -> Vec<String> {
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(dir).unwrap() {
        let entry = entry.unwrap();
        let path = format!("{prefix}{}", entry.file_name().to_str().unwrap());
        match entry.file_type().unwrap().is_dir() {
            true => paths.extend(on_disk(&entry.path(), &format!("{path}/"))),
            false => paths.push(path),
        }
    }
    paths.sort();
    paths
}

fn page_dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("page")
}

#[test]
fn exactly_the_files_of_the_directory_are_served() {
    let mut expected = on_disk(&page_dir(), "");
    // The document has its own route, and type declarations are only for development.
    expected.retain(|path| path != "index.html" && !path.ends_with(".d.ts"));
    let served: Vec<_> = FILES.iter().map(|file| file.path).collect();
    assert_eq!(served, expected);
}

#[test]
fn every_file_has_a_media_type() {
    for file in FILES {
        assert_ne!(media_type(file.path), "application/octet-stream", "{}", file.path);
    }
}

#[test]
fn the_document_refers_only_to_existing_files() {
    let paths: Vec<_> = DOCUMENT
        .split("\"/assets/")
        .skip(1)
        .map(|rest| rest.split('"').next().unwrap().strip_prefix(&format!("{}/", *VERSION)).unwrap())
        .collect();
    assert!(paths.len() > 3);
    for path in paths {
        assert!(FILES.iter().any(|file| file.path == path), "{path}");
    }
}

#[test]
fn nothing_in_the_document_is_inline() {
    for word in ["<style", "style=", "onclick", "onload", "javascript:", "http://", "https://"] {
        assert!(!INDEX.contains(word), "{word}");
    }
    for script in INDEX.split("<script").skip(1) {
        let (tag, body) = script.split_once('>').unwrap();
        assert!(tag.contains("src=") && body.starts_with("</script>"), "{tag}");
    }
}

/// Only one module creates HTML from text.
#[test]
fn html_is_created_in_one_module() {
    let sinks = [
        "innerHTML",
        "outerHTML",
        "insertAdjacentHTML",
        "document.write",
        "setHTMLUnsafe",
        "eval(",
        "new Function",
    ];
    let mut found = Vec::new();
    for file in FILES.iter().filter(|file| file.path.ends_with(".js")) {
        let text = std::str::from_utf8(file.bytes).unwrap();
        let uses = sinks.iter().filter(|sink| text.contains(**sink));
        found.extend(uses.map(|sink| format!("{} {sink}", file.path)));
    }
    assert_eq!(found, ["lib/html.js innerHTML"]);
}

/// The page escapes the same characters as the terminal.
#[test]
fn the_page_escapes_every_hidden_character() {
    use prowess::format::hidden::{is_control, is_hidden};
    let file = FILES.iter().find(|file| file.path == "lib/hidden.js").unwrap();
    let text = std::str::from_utf8(file.bytes).unwrap();
    let number = |text: &str| u32::from_str_radix(text.trim().strip_prefix("0x")?, 16).ok();
    let ranges: Vec<_> = text
        .lines()
        .filter_map(|line| line.trim().strip_prefix('[')?.strip_suffix("],")?.split_once(','))
        .filter_map(|(first, last)| Some(number(first)?..=number(last)?))
        .collect();
    assert!(ranges.len() > 10);
    for c in '\0'..=char::MAX {
        let is_listed = ranges.iter().any(|range| range.contains(&u32::from(c)));
        assert_eq!(is_listed, is_hidden(c) || is_control(c), "{c:?}");
    }
}

#[tokio::test]
async fn responses_to_browsers() {
    let describe = |response: Response| {
        let headers: Vec<_> = response
            .headers()
            .iter()
            .map(|(name, value)| format!("{name}: {}", value.to_str().unwrap()))
            .collect();
        let headers = headers.join("\n").replace(&*VERSION, "VERSION");
        let (_, rest) = headers.split_once("etag: ").unwrap();
        let tag = rest.lines().next().unwrap().to_owned();
        (tag.clone(), format!("{}\n{}", response.status(), headers.replace(&tag, "TAG")))
    };
    let (tag, page) = describe(document(HeaderMap::new()).await);
    insta::assert_snapshot!("document", page);
    let mut conditional = HeaderMap::new();
    conditional.insert(header::IF_NONE_MATCH, tag.parse().unwrap());
    assert_eq!(document(conditional).await.status(), StatusCode::NOT_MODIFIED);
    let (plain_tag, script) =
        describe(asset(axum::extract::Path(format!("{}/main.js", *VERSION)), HeaderMap::new()).await);
    insta::assert_snapshot!("script", script);
    let mut browser = HeaderMap::new();
    browser.insert(header::ACCEPT_ENCODING, "br;q=1.0, GZIP;q=0.8, *;q=0.1".parse().unwrap());
    let compressed = asset(axum::extract::Path(format!("{}/main.js", *VERSION)), browser.clone()).await;
    let (gzip_tag, headers) = describe(compressed);
    insta::assert_snapshot!("script_in_gzip", headers);
    assert_ne!(gzip_tag, plain_tag, "encodings have different tags");
    browser.insert(header::IF_NONE_MATCH, gzip_tag.parse().unwrap());
    let again = asset(axum::extract::Path(format!("{}/main.js", *VERSION)), browser).await;
    assert_eq!(again.status(), StatusCode::NOT_MODIFIED);
    let mut without = HeaderMap::new();
    without.insert(header::ACCEPT_ENCODING, "gzip;q=0, identity".parse().unwrap());
    assert!(!document(without).await.headers().contains_key(header::CONTENT_ENCODING));
    let plain = asset(axum::extract::Path("main.js".to_owned()), HeaderMap::new()).await;
    assert_eq!(plain.headers()[header::CACHE_CONTROL], "no-cache");
    for path in ["nothing.js", "../Cargo.toml", "0000000000000000/main.js", "types.d.ts", ""] {
        let not_found = asset(axum::extract::Path(path.to_owned()), HeaderMap::new()).await;
        assert_eq!(not_found.status(), StatusCode::NOT_FOUND, "{path}");
    }
}

#[test]
fn compressed_files_match_the_originals() {
    use std::io::Read;
    assert_eq!(COMPRESSED.len(), FILES.len() + 1);
    for file in FILES {
        let mut original = Vec::new();
        flate2::read::GzDecoder::new(&*COMPRESSED[file.path]).read_to_end(&mut original).unwrap();
        assert!(original == file.bytes, "{}", file.path);
    }
}
