//! The files of a chat: uploads, downloads, limits, and names that break pages.

use crate::support::{ChatServer, ServeChats, TestStore, both, message_text, project_with_model, rejection};
use prowess::Preset;
use prowess_config::ChatProvider;
use prowess_testing::TestEnv;
use prowess_testing::model::ModelServer;
use prowess_testing::model::wire_format::text;
use reqwest::{Method, Response, StatusCode};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

const CHAT: ChatProvider = ChatProvider::OpenAiChat;

both![
    files_are_uploaded_listed_downloaded_and_deleted,
    files_are_reachable_from_every_server,
    the_model_is_told_the_names_of_files,
    uploads_are_limited,
    an_export_contains_the_files,
];

async fn site(
    test_store: &TestStore,
    change: impl FnOnce(&mut TestEnv),
) -> (ChatServer, ModelServer, TestEnv) {
    let model = ModelServer::scripted(CHAT, &[vec![text("one")], vec![text("two")]]).await;
    let mut env = project_with_model(Preset::Chat, CHAT, &model.base);
    change(&mut env);
    (test_store.serve(&env).await, model, env)
}

async fn put(site: &ChatServer, chat: &str, path: &str, content: impl Into<reqwest::Body>) -> Response {
    let path = format!("/api/chats/{chat}/files/{path}");
    site.request(Method::PUT, &path).body(content).send().await.unwrap()
}

async fn uploaded(site: &ChatServer, chat: &str, path: &str, content: &str) -> Value {
    let response = put(site, chat, path, content.to_owned()).await;
    assert_eq!(response.status(), StatusCode::OK);
    response.json::<Value>().await.unwrap()["file"].clone()
}

async fn get(site: &ChatServer, chat: &str, path: &str) -> Response {
    site.request(Method::GET, &format!("/api/chats/{chat}/files/{path}")).send().await.unwrap()
}

fn header(response: &Response, name: &str) -> String {
    response.headers().get(name).map_or("", |value| value.to_str().unwrap()).to_owned()
}

async fn files_are_uploaded_listed_downloaded_and_deleted(test_store: &mut TestStore) {
    let (site, _model, _env) = site(test_store, |_| {}).await;
    let chat = site.chat().await;
    let empty = site.get(&format!("/api/chats/{chat}/files")).await;
    assert_eq!(
        empty,
        json!({"schema": 1, "files": [], "bytes": 0,
            "limits": {"file_bytes": 33_554_432, "workspace_bytes": 268_435_456, "workspace_files": 500}})
    );
    let file = uploaded(&site, &chat, "data/%C3%9Cbersicht%20%22x%22.csv", "a,b").await;
    assert_eq!(file["path"], "data/Übersicht \"x\".csv");
    assert_eq!((&file["size"], &file["media_type"]), (&json!(3), &json!("text/csv")));
    assert_eq!((&file["origin"], &file["digest"]), (&json!("uploaded"), &json!(prowess::digest(b"a,b"))));
    uploaded(&site, &chat, "page.html", "<script>alert(1)</script>").await;
    let listed = site.get(&format!("/api/chats/{chat}/files")).await;
    assert_eq!((&listed["files"][0], &listed["bytes"]), (&file, &json!(28)));

    let response = get(&site, &chat, "data/%C3%9Cbersicht%20%22x%22.csv").await;
    let headers = [
        "content-type",
        "content-disposition",
        "content-security-policy",
        "x-content-type-options",
        "x-frame-options",
        "cache-control",
        "cross-origin-resource-policy",
    ];
    let shown = headers.map(|name| format!("{name}: {}", header(&response, name))).join("\n");
    insta::allow_duplicates! { insta::assert_snapshot!(shown, @r#"
    content-type: text/plain; charset=utf-8
    content-disposition: attachment; filename="_bersicht _x_.csv"; filename*=UTF-8''%C3%9Cbersicht%20%22x%22.csv
    content-security-policy: sandbox; default-src 'none'; frame-ancestors 'self'
    x-content-type-options: nosniff
    x-frame-options: SAMEORIGIN
    cache-control: private, no-cache
    cross-origin-resource-policy: same-origin
    "#); }
    let etag = header(&response, "etag");
    assert_eq!(response.text().await.unwrap(), "a,b");
    let path = format!("/api/chats/{chat}/files/data/%C3%9Cbersicht%20%22x%22.csv?inline=1");
    let unchanged = site.request(Method::GET, &path).header("if-none-match", etag).send().await.unwrap();
    assert_eq!(unchanged.status(), StatusCode::NOT_MODIFIED);
    // A compressed download is complete.
    uploaded(&site, &chat, "long.txt", &"line\n".repeat(1_000)).await;
    let path = format!("/api/chats/{chat}/files/long.txt");
    let compressed = site.request(Method::GET, &path).header("accept-encoding", "gzip").send().await.unwrap();
    assert_eq!(header(&compressed, "content-encoding"), "gzip");
    assert!(compressed.bytes().await.unwrap().starts_with(&[0x1f, 0x8b]));
    site.request(Method::DELETE, &path).send().await.unwrap();
    // A file of the chat cannot be loaded as a script or a style sheet of the page.
    for name in ["code.js", "image.svg", "page.html"] {
        uploaded(&site, &chat, name, "alert(1)").await;
        assert_eq!(
            header(&get(&site, &chat, name).await, "content-type"),
            "application/octet-stream",
            "{name}"
        );
    }
    // HTML is never displayed.
    let html = get(&site, &chat, "page.html?inline=1").await;
    assert!(header(&html, "content-disposition").starts_with("attachment"));
    assert!(header(&html, "content-security-policy").starts_with("sandbox"));

    // An upload replaces a file, unless it must be new.
    uploaded(&site, &chat, "page.html", "new").await;
    let path = format!("/api/chats/{chat}/files/page.html");
    let refused =
        site.request(Method::PUT, &path).header("if-none-match", "*").body("x").send().await.unwrap();
    let refused = rejection(refused).await;
    insta::allow_duplicates! {
        insta::assert_snapshot!(format!("{} {}: {}", refused.0, refused.1, refused.2), @"409 CONFLICT: this chat already has a file page.html");
    }
    let deleted = site.request(Method::DELETE, &path).send().await.unwrap();
    assert_eq!(deleted.status(), StatusCode::NO_CONTENT);
    let again = rejection(site.request(Method::DELETE, &path).send().await.unwrap()).await;
    insta::allow_duplicates! {
        insta::assert_snapshot!(format!("{} {}: {}", again.0, again.1, again.2), @"404 NOT_FOUND: this chat has no file page.html");
    }
    // Deleting the chat deletes the rest.
    site.request(Method::DELETE, &format!("/api/chats/{chat}")).send().await.unwrap();
    assert_eq!(get(&site, &chat, "data/%C3%9Cbersicht%20%22x%22.csv").await.status(), StatusCode::NOT_FOUND);
    assert_eq!(put(&site, &chat, "a", "a").await.status(), StatusCode::NOT_FOUND);
}

async fn files_are_reachable_from_every_server(test_store: &mut TestStore) {
    let (first, _model, env) = site(test_store, |_| {}).await;
    let second = test_store.serve(&env).await;
    let chat = first.chat().await;
    uploaded(&first, &chat, "a.txt", "from the first").await;
    assert_eq!(get(&second, &chat, "a.txt").await.text().await.unwrap(), "from the first");
    uploaded(&second, &chat, "a.txt", "from the second").await;
    assert_eq!(get(&first, &chat, "a.txt").await.text().await.unwrap(), "from the second");
}

async fn the_model_is_told_the_names_of_files(test_store: &mut TestStore) {
    let (site, model, _env) = site(test_store, |_| {}).await;
    let chat = site.chat().await;
    uploaded(&site, &chat, "prices.csv", "a,b").await;
    uploaded(&site, &chat, "notes.txt", "hello").await;
    let path = format!("/api/chats/{chat}/messages");
    let unknown = site.post(&path, &json!({"text": "x", "files": ["missing.csv"]})).await;
    assert_eq!(
        rejection(unknown).await,
        (404, "NOT_FOUND".into(), "this chat has no file missing.csv".into())
    );
    let sent = site.post(&path, &json!({"text": "Sum it up.", "files": ["prices.csv"]})).await;
    assert_eq!(sent.status(), StatusCode::OK);
    sent.text().await.unwrap();
    let stored = site.messages(&chat).await;
    assert_eq!(message_text(&stored[0]), "Sum it up.");
    assert_eq!(
        (&stored[0]["parts"][1]["type"], &stored[0]["parts"][1]["path"]),
        (&json!("file"), &json!("prices.csv"))
    );
    site.say(&chat, "And now?").await.all().await;
    let requests = model.requests();
    let user_texts = |index: usize| {
        let messages = requests[index].body["messages"].as_array().unwrap().clone();
        let users = messages.iter().filter(|message| message["role"] == "user");
        users.map(|message| message["content"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    insta::allow_duplicates! {
        insta::assert_snapshot!(user_texts(0).join("\n---\n"), @r#"
        Sum it up.

        [Files attached to this message:
        - "prices.csv" (3 bytes, text/csv)]

        [The workspace of this conversation has 2 files. Scripts run in it: pass these paths as arguments.
        - "notes.txt" (5 bytes, text/plain)
        - "prices.csv" (3 bytes, text/csv)]
        "#);
        insta::assert_snapshot!(user_texts(1).join("\n---\n"), @r#"
        Sum it up.

        [Files attached to this message:
        - "prices.csv" (3 bytes, text/csv)]
        ---
        And now?

        [The workspace of this conversation has 2 files. Scripts run in it: pass these paths as arguments.
        - "notes.txt" (5 bytes, text/plain)
        - "prices.csv" (3 bytes, text/csv)]
        "#);
    }
    assert_eq!(
        requests[0].body["messages"][0], requests[1].body["messages"][0],
        "the system prompt can be cached"
    );
}

async fn uploads_are_limited(test_store: &mut TestStore) {
    let (site, _model, _env) = site(test_store, |env| {
        env.chat.files.file_bytes = 1_000;
        env.chat.files.workspace_bytes = 1_500;
        env.chat.files.workspace_files = 2;
    })
    .await;
    let chat = site.chat().await;
    uploaded(&site, &chat, "a", &"x".repeat(1_000)).await;
    let mut refused = vec![
        rejection(put(&site, &chat, "b", "x".repeat(1_001)).await).await,
        rejection(put(&site, &chat, "b", "x".repeat(501)).await).await,
        rejection(put(&site, &chat, "a/b", "x").await).await,
    ];
    uploaded(&site, &chat, "b", "x").await;
    refused.push(rejection(put(&site, &chat, "c", "x").await).await);
    // A body without a length is not read beyond the limit.
    let pieces = futures_util::stream::iter((0..100).map(|_| Ok::<_, std::io::Error>(vec![0_u8; 1_000])));
    refused.push(rejection(put(&site, &chat, "a", reqwest::Body::wrap_stream(pieces)).await).await);
    let lines: Vec<_> =
        refused.iter().map(|(status, code, detail)| format!("{status} {code}: {detail}")).collect();
    insta::allow_duplicates! { insta::assert_snapshot!(lines.join("\n"), @"
    413 TOO_LARGE: the body is longer than 1000 bytes
    413 TOO_LARGE: the workspace of this chat has 1501 bytes; the maximum is 1500
    409 CONFLICT: a cannot be both a file and a directory of this chat
    413 TOO_LARGE: the workspace of this chat would have 3 files; the maximum is 2
    413 TOO_LARGE: the body is longer than 1000 bytes
    "); }
    let listed = site.get(&format!("/api/chats/{chat}/files")).await;
    assert_eq!((listed["files"].as_array().unwrap().len(), &listed["bytes"]), (2, &json!(1_001)));
}

/// Sends a request line as it is; HTTP clients would normalize the path.
async fn raw_request(site: &ChatServer, method: &str, path: &str) -> (u16, String) {
    let address = site.base.trim_start_matches("http://");
    let mut stream = TcpStream::connect(address).await.unwrap();
    let request = format!(
        "{method} {path} HTTP/1.1\r\nHost: {address}\r\nContent-Length: 1\r\nConnection: close\r\n\r\nx"
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut response = Vec::new();
    stream.read_to_end(&mut response).await.unwrap();
    let response = String::from_utf8_lossy(&response).into_owned();
    let status = response.split(' ').nth(1).unwrap().parse().unwrap();
    let body = response.split_once("\r\n\r\n").unwrap().1;
    let start = body.find('{').unwrap_or(body.len());
    let problem: Value =
        serde_json::from_str(body[start..].trim_end_matches(|c| c != '}')).unwrap_or_default();
    (status, problem["detail"].as_str().unwrap_or_default().to_owned())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dangerous_names_are_refused() {
    let test_store = TestStore::sqlite();
    let (site, _model, _env) = site(&test_store, |_| {}).await;
    let chat = site.chat().await;
    let long = "x".repeat(300);
    let names = [
        "../a",
        "a/../../b",
        "..%2Fa",
        "%2e%2e/a",
        "a%2fb",
        "%5C..%5Ca",
        "C:a",
        "/etc/passwd",
        "a//b",
        "a%00b",
        "a%0D%0AX-Evil:%20y",
        "%1B%5B31mred",
        "a%E2%80%AEfdp.exe",
        "a%E2%80%8Bb",
        "%FF%FE",
        "CON",
        ".git/config",
        "~root/x",
        &long,
    ];
    let mut lines = Vec::new();
    for name in names {
        let path = format!("/api/chats/{chat}/files/{name}");
        let (status, detail) = raw_request(&site, "PUT", &path).await;
        assert!(prowess::format::hidden::find_hidden(&detail).is_none() && !detail.contains('\u{1b}'));
        lines.push(format!("{status} {}", detail.replace(&long, "xxx…")));
        let (status, _) = raw_request(&site, "GET", &path).await;
        assert!(status == 404 || status == 400, "{name}: {status}");
    }
    insta::assert_snapshot!(lines.join("\n"), @r"
    400 the file name ../a is not allowed: it has a component “.” or “..”, or an empty one
    400 the file name a/../../b is not allowed: it has a component “.” or “..”, or an empty one
    400 the path of a file must not contain an encoded slash (%2F)
    400 the file name ../a is not allowed: it has a component “.” or “..”, or an empty one
    400 the path of a file must not contain an encoded slash (%2F)
    400 the file name \..\a is not allowed: it contains a backslash or a colon, which are special on other systems
    400 the file name C:a is not allowed: it contains a backslash or a colon, which are special on other systems
    400 the file name /etc/passwd is not allowed: it is absolute
    400 the file name a//b is not allowed: it has a component “.” or “..”, or an empty one
    400 the file name a\u{0}b is not allowed: it contains a control or hidden character
    400 the file name a  X-Evil: y is not allowed: it contains a backslash or a colon, which are special on other systems
    400 the file name \u{1b}[31mred is not allowed: it contains a control or hidden character
    400 the file name a\u{202e}fdp.exe is not allowed: it contains a control or hidden character
    400 the file name a\u{200b}b is not allowed: it contains a control or hidden character
    400 Invalid URL: Invalid UTF-8 in `path`
    400 the file name CON is not allowed: it contains a name that is a device, a home directory or another file on other systems
    400 the file name .git/config is not allowed: it is in a .git directory
    400 the file name ~root/x is not allowed: it contains a name that is a device, a home directory or another file on other systems
    400 the file name xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx… is not allowed: it is longer than 1024 bytes, or a name in it is longer than 255
    ");
    assert_eq!(site.get(&format!("/api/chats/{chat}/files")).await["files"], json!([]));
}

async fn an_export_contains_the_files(test_store: &mut TestStore) {
    let (site, _model, _env) = site(test_store, |_| {}).await;
    let chat = site.chat().await;
    uploaded(&site, &chat, "a.txt", "hello").await;
    let exported = site.get(&format!("/api/chats/{chat}/export")).await;
    assert_eq!(exported["chats"][0]["files"][0]["content"], "aGVsbG8=");
    let imported: Value = site.post("/api/chats/import", &exported).await.json().await.unwrap();
    let copy = imported["chats"][0]["to"].as_str().unwrap();
    assert_eq!(get(&site, copy, "a.txt").await.text().await.unwrap(), "hello");
}
