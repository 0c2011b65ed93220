use std::path::{Path, PathBuf};

use super::*;

/// The files of the folder, as paths with `/`.
fn on_disk(folder: &Path, above: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let path = format!("{above}{}", entry.file_name().to_str().unwrap());
        match entry.file_type().unwrap().is_dir() {
            true => found.extend(on_disk(&entry.path(), &format!("{path}/"))),
            false => found.push(path),
        }
    }
    found.sort();
    found
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("page")
}

#[test]
fn every_file_of_the_folder_is_served_and_no_other() {
    let mut wanted = on_disk(&folder(), "");
    // The document has a route of its own, and types are for those who write it.
    wanted.retain(|path| path != "index.html" && !path.ends_with(".d.ts"));
    let served: Vec<_> = FILES.iter().map(|file| file.path).collect();
    assert_eq!(served, wanted);
}

#[test]
fn every_file_has_a_media_type() {
    for file in FILES {
        assert_ne!(media_type(file.path), "application/octet-stream", "{}", file.path);
    }
}

#[test]
fn the_document_names_only_files_that_there_are() {
    let named: Vec<_> = DOCUMENT
        .split("\"/assets/")
        .skip(1)
        .map(|rest| rest.split('"').next().unwrap().strip_prefix(&format!("{}/", *VERSION)).unwrap())
        .collect();
    assert!(named.len() > 3);
    for path in named {
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

/// Markup is made from text in one place only, and no style is written as an attribute, which the policy would refuse.
#[test]
fn markup_comes_through_one_door() {
    let doors = [
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
        let uses = doors.iter().filter(|door| text.contains(**door));
        found.extend(uses.map(|door| format!("{} {door}", file.path)));
    }
    assert_eq!(found, ["lib/html.js innerHTML"]);
}

/// The page escapes the same characters as the terminal.
#[test]
fn the_page_knows_every_hidden_character() {
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
        let known = ranges.iter().any(|range| range.contains(&u32::from(c)));
        assert_eq!(known, is_hidden(c) || is_control(c), "{c:?}");
    }
}

#[tokio::test]
async fn what_a_browser_gets() {
    let told = |response: Response| {
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
    let (tag, page) = told(document(HeaderMap::new()).await);
    insta::assert_snapshot!("document", page);
    let mut known = HeaderMap::new();
    known.insert(header::IF_NONE_MATCH, tag.parse().unwrap());
    assert_eq!(document(known).await.status(), StatusCode::NOT_MODIFIED);
    let (plain_tag, script) =
        told(asset(axum::extract::Path(format!("{}/main.js", *VERSION)), HeaderMap::new()).await);
    insta::assert_snapshot!("script", script);
    let mut browser = HeaderMap::new();
    browser.insert(header::ACCEPT_ENCODING, "br;q=1.0, GZIP;q=0.8, *;q=0.1".parse().unwrap());
    let compressed = asset(axum::extract::Path(format!("{}/main.js", *VERSION)), browser.clone()).await;
    let (gzip_tag, headers) = told(compressed);
    insta::assert_snapshot!("script_in_gzip", headers);
    assert_ne!(gzip_tag, plain_tag, "what is encoded otherwise has another tag");
    browser.insert(header::IF_NONE_MATCH, gzip_tag.parse().unwrap());
    let again = asset(axum::extract::Path(format!("{}/main.js", *VERSION)), browser).await;
    assert_eq!(again.status(), StatusCode::NOT_MODIFIED);
    let mut without = HeaderMap::new();
    without.insert(header::ACCEPT_ENCODING, "gzip;q=0, identity".parse().unwrap());
    assert!(!document(without).await.headers().contains_key(header::CONTENT_ENCODING));
    let plain = asset(axum::extract::Path("main.js".to_owned()), HeaderMap::new()).await;
    assert_eq!(plain.headers()[header::CACHE_CONTROL], "no-cache");
    for path in ["nothing.js", "../Cargo.toml", "0000000000000000/main.js", "types.d.ts", ""] {
        let nothing = asset(axum::extract::Path(path.to_owned()), HeaderMap::new()).await;
        assert_eq!(nothing.status(), StatusCode::NOT_FOUND, "{path}");
    }
}

#[test]
fn what_is_compressed_is_what_there_is() {
    use std::io::Read;
    assert_eq!(COMPRESSED.len(), FILES.len() + 1);
    for file in FILES {
        let mut plain = Vec::new();
        flate2::read::GzDecoder::new(&*COMPRESSED[file.path]).read_to_end(&mut plain).unwrap();
        assert!(plain == file.bytes, "{}", file.path);
    }
}
