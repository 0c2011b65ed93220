//! Invalid requests, misbehaving models, failing disks and databases: each produces an error with a code, and the chat can
//! continue.

use std::process::Command;
use std::time::Duration;

use crate::support::process::Process;
use crate::support::stream::{is_contiguous, streamed_text};
use crate::support::{
    ChatServer, ServeChats, TestStore, message_text, project_with_model, rejection, wait_until,
};
use prowess::Preset;
use prowess_config::{ChatProvider, ChatSettings};
use prowess_testing::TestEnv;
use prowess_testing::model::wire_format::{PROVIDERS, ReplyPart, call, encode_reply, text, tool_results};
use prowess_testing::model::{ModelServer, Reply, ReplyPiece};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

const CHAT: ChatProvider = ChatProvider::OpenAiChat;

async fn site(
    test_store: &TestStore,
    provider: ChatProvider,
    replies: Vec<Reply>,
    set: impl Fn(&mut ChatSettings),
) -> (ChatServer, ModelServer, TestEnv) {
    let model = ModelServer::start(replies).await;
    let mut env = project_with_model(Preset::Chat, provider, &model.base);
    set(&mut env.chat);
    env.skill("report", "The BODY of report.");
    (test_store.serve(&env).await, model, env)
}

fn fine() -> Reply {
    Reply::events(encode_reply(CHAT, &[text("fine")]))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn missing_chats_are_not_found() {
    let test_store = TestStore::sqlite();
    let (site, _model, _env) = site(&test_store, CHAT, vec![fine()], |_| {}).await;
    let long = "a".repeat(5_000);
    for id in
        ["unknown", "0190aaaaaaaaaaaaaaaaaaaaaaaaaaaa", "..", "%2e%2e%2fetc", "%00", "'; DROP TABLE", &long]
    {
        let path = format!("/api/chats/{id}");
        let requests = [
            site.request(Method::GET, &path),
            site.request(Method::DELETE, &path),
            site.request(Method::PATCH, &path).json(&json!({"title": "x"})),
            site.request(Method::POST, &format!("{path}/messages")).json(&json!({"text": "x"})),
            site.request(Method::POST, &format!("{path}/stop")),
            site.request(Method::GET, &format!("{path}/events")),
            site.request(Method::GET, &format!("{path}/events?after=0")),
        ];
        for request in requests {
            let response = request.send().await.unwrap();
            // The client resolves two dots.
            if id == ".."
                && (response.status() == StatusCode::METHOD_NOT_ALLOWED || response.status().is_success())
            {
                continue;
            }
            let (status, code, _) = rejection(response).await;
            assert_eq!((status, code.as_str()), (404, "NOT_FOUND"), "{id}");
        }
    }
    let (status, code, _) =
        rejection(site.request(Method::GET, "/api/chats/%ff%fe").send().await.unwrap()).await;
    assert_eq!((status, code.as_str()), (400, "INVALID_PARAM"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn invalid_message_bodies_are_rejected() {
    let test_store = TestStore::sqlite();
    let (site, model, _env) = site(&test_store, CHAT, vec![fine()], |_| {}).await;
    let chat = site.chat().await;
    let path = format!("/api/chats/{chat}/messages");
    let mut observed = Vec::new();
    for (kind, body) in [
        ("application/json", &b""[..]),
        ("application/json", b"{"),
        ("application/json", b"[]"),
        ("application/json", br#" ["x"]"#),
        ("application/json", b"null"),
        ("application/json", b"{}"),
        ("application/json", br#"{"text":1}"#),
        ("application/json", br#"{"text":"x","more":1}"#),
        ("application/json", br#"{"text":"x"} trailing"#),
        ("application/json", br#"{"text":"\ud800"}"#),
        ("application/json", b"{\"text\":\"\xff\xfe\"}"),
        ("application/json", b"{\"text\":\"  \\n \"}"),
        ("application/json", b"{\"text\":\"a\\u0000b\"}"),
        ("text/plain", br#"{"text":"x"}"#),
        ("application/x-www-form-urlencoded", b"text=x"),
        ("", br#"{"text":"x"}"#),
    ] {
        let request = site.request(Method::POST, &path).header("content-type", kind).body(body.to_vec());
        let (status, code, detail) = rejection(request.send().await.unwrap()).await;
        observed.push(format!("{kind} {} → {status} {code} {detail}", String::from_utf8_lossy(body)));
    }
    insta::assert_snapshot!(observed.join("\n"));
    assert_eq!(
        (site.messages(&chat).await.len(), model.requests().len()),
        (0, 0),
        "nothing was stored or sent to the model"
    );
    for title in ["two\\nlines".to_owned(), "x".repeat(201)] {
        let body = format!(r#"{{"title":"{title}"}}"#);
        let request =
            site.request(Method::POST, "/api/chats").header("content-type", "application/json").body(body);
        assert_eq!(rejection(request.send().await.unwrap()).await.0, 400);
    }
    let wrong = rejection(site.request(Method::PUT, &path).send().await.unwrap()).await;
    assert_eq!(wrong.0, 405);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn too_long_messages_are_rejected() {
    let test_store = TestStore::sqlite();
    let (site, model, _env) = site(&test_store, CHAT, vec![fine()], |_| {}).await;
    let chat = site.chat().await;
    let path = format!("/api/chats/{chat}/messages");
    let body_with = |bytes: usize| json!({"text": "x".repeat(bytes)}).to_string();
    for (bytes, expected) in [
        (1024 * 1024 + 1, "the message has 1048577 bytes; the maximum is 1048576"),
        (10_000_000, "the body is longer than 8388608 bytes"),
    ] {
        let body = body_with(bytes);
        let whole =
            site.request(Method::POST, &path).header("content-type", "application/json").body(body.clone());
        // Without a declared length.
        let pieces: Vec<Result<Vec<u8>, std::io::Error>> =
            body.as_bytes().chunks(65_536).map(|piece| Ok(piece.to_vec())).collect();
        let stream = reqwest::Body::wrap_stream(futures_util::stream::iter(pieces));
        let chunked =
            site.request(Method::POST, &path).header("content-type", "application/json").body(stream);
        for request in [whole, chunked] {
            let response = request.send().await.unwrap();
            // The client may use the connection again, so the body must have been read completely.
            assert!(!response.headers().contains_key("connection"), "{bytes} bytes");
            let (status, code, detail) = rejection(response).await;
            assert_eq!((status, code.as_str(), detail.as_str()), (413, "TOO_LARGE", expected));
        }
    }
    assert_eq!((site.messages(&chat).await.len(), model.requests().len()), (0, 0));
    // A message of the maximum length is stored; it exceeds the context of this model, which is an error.
    let most = site.say(&chat, &"y".repeat(1024 * 1024)).await.all().await;
    assert!(most.last().unwrap().is_end(), "{:?}", most.last());
    assert_eq!(message_text(&site.messages(&chat).await[0]).len(), 1024 * 1024);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn invalid_tool_calls_are_reported_to_the_model() {
    let raw = |id, name, arguments: &str| ReplyPart::Call(id, name, arguments.to_owned());
    let steps = [
        vec![
            call("c1", "skills_activate", json!({})),
            call("c2", "skills_activate", json!({"name": 7})),
            call("c3", "skills_readResource", json!({"name": "report", "path": ["a"]})),
            call("c4", "no_such_tool", json!({"x": 1})),
            call("c5", "skills_activate", json!(["report"])),
            raw("c6", "skills_activate", "{\"name\": \"rep"),
            call("c7", "skills_activate", json!({"name": "report", "unknown": true})),
            raw("c8", "skills_activate", ""),
            call("c9", "skills_activat", json!({"name": "report"})),
        ],
        vec![text("I see.")],
    ];
    let test_store = TestStore::sqlite();
    let replies = steps.iter().map(|step| Reply::events(encode_reply(CHAT, step))).collect();
    let (site, model, _env) = site(&test_store, CHAT, replies, |_| {}).await;
    let chat = site.chat().await;
    let all = site.say(&chat, "go").await.all().await;
    assert_eq!(all.last().unwrap().data["reason"], "end", "no error ends the turn");
    let observed: Vec<String> = all
        .iter()
        .filter(|received| received.event == "tool_result")
        .map(|received| {
            format!("{} {} {}", received.data["id"], received.data["status"], received.data["data"]["error"])
        })
        .collect();
    insta::assert_snapshot!(observed.join("\n"));
    let request = model.requests().pop().unwrap();
    let results = tool_results(CHAT, &request);
    assert_eq!(results.len(), 9, "every call has a result");
    assert!(
        results[8].1.ends_with("did you mean skills_activate?"),
        "the name that the model knows: {results:?}"
    );
    // Arguments are sent back as an object, even if they were not one.
    let messages = request.body["messages"].as_array().unwrap();
    let calls = messages.iter().find(|message| message.get("tool_calls").is_some()).unwrap();
    for call in calls["tool_calls"].as_array().unwrap() {
        let arguments: Value = serde_json::from_str(call["function"]["arguments"].as_str().unwrap()).unwrap();
        assert!(arguments.is_object());
    }
}

/// Returns how a turn ended: the stored text and the last event.
async fn ended(provider: ChatProvider, reply: Reply, set: impl Fn(&mut ChatSettings)) -> String {
    let test_store = TestStore::sqlite();
    let fine = Reply::events(encode_reply(provider, &[text("fine")]));
    let (site, _model, _env) = site(&test_store, provider, vec![reply, fine], set).await;
    let chat = site.chat().await;
    let all = site.say(&chat, "go").await.all().await;
    assert!(is_contiguous(&all));
    let end = all.last().unwrap();
    let kept = &site.messages(&chat).await[1];
    assert_eq!(
        (message_text(kept), &kept["state"]),
        (streamed_text(&all), &json!("interrupted")),
        "the streamed text is stored"
    );
    assert_eq!(kept["reason"], end.data["message"]);
    assert_eq!(streamed_text(&site.say(&chat, "again").await.all().await), "fine", "the next message works");
    format!("{:?} {} {}", message_text(kept), end.data["code"], end.data["message"]).replace('"', "")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn providers_that_fail_while_streaming() {
    let mut observed = Vec::new();
    for provider in PROVIDERS {
        let whole = encode_reply(provider, &[text("as far as this goes")]);
        let half = whole.len() * 2 / 3;
        let cut = String::from_utf8(whole[..half].to_vec()).unwrap();
        let end = cut.rfind("\n\n").unwrap() + 2;
        let started = || Reply::events(cut[..end].to_owned());
        let error = match provider {
            ChatProvider::Anthropic => {
                "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n"
            }
            ChatProvider::OpenAi => {
                "event: error\ndata: {\"type\":\"error\",\"code\":\"server_error\",\"message\":\"Overloaded\"}\n\n"
            }
            ChatProvider::OpenAiChat | ChatProvider::Rehearsal => {
                "data: {\"error\":{\"message\":\"Overloaded\",\"code\":503}}\n\n"
            }
        };
        for (case, reply) in [
            ("an error", started().then(ReplyPiece::Bytes(error.as_bytes().to_vec()))),
            ("a reset", started().then(ReplyPiece::Reset)),
            ("an end", started()),
            ("invalid JSON", started().then(ReplyPiece::Bytes(b"data: {\"choices\": [\n\n".to_vec()))),
            ("silence", started().then(ReplyPiece::Hang)),
        ] {
            let end = ended(provider, reply, |chat| chat.timeouts.idle = Duration::from_millis(300)).await;
            observed.push(format!("{} {case}: {end}", provider.as_str()));
        }
    }
    insta::assert_snapshot!(observed.join("\n"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn providers_that_never_answer() {
    for provider in PROVIDERS {
        for pieces in
            [vec![ReplyPiece::Hang], vec![ReplyPiece::Bytes(b": hello\n\n".to_vec()), ReplyPiece::Hang]]
        {
            let never = Reply { pieces, ..Reply::events("") };
            let end = ended(provider, never, |chat| {
                chat.timeouts.first_byte = Duration::from_millis(300);
                chat.timeouts.idle = Duration::from_millis(300);
            });
            assert!(end.await.contains(" TIMEOUT "));
        }
        let rejection =
            ended(provider, Reply::failure(401, r#"{"error":{"message":"no such key"}}"#), |_| {}).await;
        assert!(rejection.contains("no such key"), "{rejection}");
    }
}

/// Limits files to 600 KB until `give_room`.
const LIMITED: [&str; 2] = ["-c", r#"trap '' XFSZ; ulimit -S -f 1200; exec "$0" "$@""#];

fn give_room(process: &Process) {
    let raised =
        Command::new("prlimit").args(["--fsize=unlimited", "--pid", &process.id().to_string()]).status();
    assert!(raised.expect("prlimit is installed (Debian: util-linux)").success());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_disk_recovers() {
    let test_store = TestStore::sqlite();
    let words_of = "many words ".repeat(100_000);
    let long = json!({"choices": [{"index": 0, "delta": {"content": words_of}, "finish_reason": null}]});
    let long = Reply::events(format!("data: {long}\n\n")).then(ReplyPiece::Bytes(encode_reply(CHAT, &[])));
    let model = ModelServer::start([fine(), long]).await;
    let mut command = Command::new("sh");
    command.args(LIMITED).arg(std::env::current_exe().unwrap());
    let process = Process::start_in(&test_store, &model.base, command);
    let client = process.client.clone();
    let chat = client.chat().await;
    assert_eq!(streamed_text(&client.say(&chat, "before").await.all().await), "fine");

    // A message that does not fit is rejected and not stored.
    let path = format!("/api/chats/{chat}/messages");
    let (status, code, detail) =
        rejection(client.post(&path, &json!({"text": "x".repeat(900_000)})).await).await;
    assert_eq!((status, code.as_str()), (503, "UNAVAILABLE"));
    assert!(!detail.contains(test_store.dir.path().to_str().unwrap()), "{detail}");
    assert_eq!(client.messages(&chat).await.len(), 2, "the chat is still readable");

    // An answer that does not fit waits for space.
    let events = client.say(&chat, "tell me all").await;
    wait_until(async || model.requests().len() == 2).await;
    tokio::time::sleep(Duration::from_millis(300)).await;
    let waiting = client.get(&format!("/api/chats/{chat}")).await;
    assert!(!waiting["writing"].is_null(), "{}", waiting["messages"][3]["state"]);
    give_room(&process);
    let all = events.all().await;
    assert_eq!((streamed_text(&all) == words_of, all.last().unwrap().event.as_str()), (true, "done"));
    assert!(message_text(&client.messages(&chat).await[3]) == words_of);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_locked_store_times_out_and_recovers() {
    let test_store = TestStore::sqlite();
    let mut slow = Reply::events("");
    for n in 0..40 {
        let delta =
            json!({"choices": [{"index": 0, "delta": {"content": format!("w{n} ")}, "finish_reason": null}]});
        slow = slow
            .then(ReplyPiece::Bytes(format!("data: {delta}\n\n").into_bytes()))
            .then(ReplyPiece::Pause(Duration::from_millis(40)));
    }
    let (site, _model, _env) =
        site(&test_store, CHAT, vec![slow.then(ReplyPiece::Bytes(encode_reply(CHAT, &[]))), fine()], |_| {})
            .await;
    let (chat, other) = (site.chat().await, site.chat().await);
    let mut events = site.say(&chat, "count").await;
    events.expect("delta").await;
    let held = rusqlite::Connection::open(test_store.file()).unwrap();
    held.execute_batch("BEGIN IMMEDIATE").unwrap();
    let path = format!("/api/chats/{other}/messages");
    let (status, code, detail) = rejection(site.post(&path, &json!({"text": "now"})).await).await;
    assert_eq!((status, code.as_str()), (504, "TIMEOUT"));
    assert_eq!(detail, "the store is locked by another process");
    assert!(site.get("/readyz").await["status"] == "ok", "the store is readable");
    // The client still receives events.
    events.expect("delta").await;
    held.execute_batch("ROLLBACK").unwrap();
    let all = events.all().await;
    assert_eq!(all.last().unwrap().event, "done");
    let expected: String = (0..40).map(|n| format!("w{n} ")).collect();
    assert_eq!(message_text(&site.messages(&chat).await[1]), expected);
    assert_eq!(streamed_text(&site.say(&other, "now").await.all().await), "fine");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_turn_survives_a_database_restart() {
    let mut test_store = TestStore::postgres();
    let mut slow = Reply::events("");
    for n in 0..60 {
        let delta =
            json!({"choices": [{"index": 0, "delta": {"content": format!("w{n} ")}, "finish_reason": null}]});
        slow = slow
            .then(ReplyPiece::Bytes(format!("data: {delta}\n\n").into_bytes()))
            .then(ReplyPiece::Pause(Duration::from_millis(40)));
    }
    let slow = slow.then(ReplyPiece::Bytes(encode_reply(CHAT, &[])));
    let (site, _model, env) = site(&test_store, CHAT, vec![slow, fine()], |_| {}).await;
    let other = test_store.serve(&env).await;
    let chat = site.chat().await;
    let mut events = site.say(&chat, "count").await;
    let first = events.expect("delta").await;
    let mut elsewhere = other.follow(&chat, first.id.unwrap() - 1).await;
    elsewhere.expect("delta").await;
    // As in a power failure.
    test_store.server.as_mut().unwrap().stop("QUIT");
    let away = site.request(Method::GET, "/readyz").send().await.unwrap();
    assert_eq!(away.headers()["retry-after"], "5");
    let (status, code, _) = rejection(away).await;
    assert_eq!((status, code.as_str()), (503, "UNAVAILABLE"));
    let (status, code, _) = rejection(site.post("/api/chats", &json!({})).await).await;
    assert_eq!((status, code.as_str()), (503, "UNAVAILABLE"));
    assert_eq!(site.get("/healthz").await["status"], "ok", "the process is alive");
    test_store.server.as_mut().unwrap().run();
    let mut all = vec![first];
    all.extend(events.turn().await);
    let expected: String = (0..60).map(|n| format!("w{n} ")).collect();
    assert_eq!((streamed_text(&all), all.last().unwrap().event.as_str()), (expected.clone(), "done"));
    assert!(is_contiguous(&all));
    let followed = elsewhere.turn().await;
    assert_eq!(followed, all[1..], "clients of the other server miss nothing");
    assert_eq!(message_text(&other.messages(&chat).await[1]), expected);
    wait_until(async || {
        other.request(Method::GET, "/readyz").send().await.unwrap().status() == StatusCode::OK
    })
    .await;
    assert_eq!(streamed_text(&other.say(&chat, "again").await.all().await), "fine");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn locked_tables_time_out() {
    let mut test_store = TestStore::postgres();
    test_store.options.call_timeout = Duration::from_secs(1);
    let (site, _model, _env) = site(&test_store, CHAT, vec![fine()], |_| {}).await;
    let chat = site.chat().await;
    let (mut client, connection) =
        tokio_postgres::connect(&test_store.address(), tokio_postgres::NoTls).await.unwrap();
    tokio::spawn(connection);
    let held = client.transaction().await.unwrap();
    held.batch_execute("LOCK TABLE prowess_chats IN ACCESS EXCLUSIVE MODE").await.unwrap();
    let path = format!("/api/chats/{chat}/messages");
    let (status, code, _) = rejection(site.post(&path, &json!({"text": "now"})).await).await;
    assert_eq!((status, code.as_str()), (504, "TIMEOUT"));
    held.rollback().await.unwrap();
    assert_eq!(streamed_text(&site.say(&chat, "now").await.all().await), "fine");
    let kept: Vec<Value> = site.messages(&chat).await;
    assert_eq!(kept.len(), 2);
}
