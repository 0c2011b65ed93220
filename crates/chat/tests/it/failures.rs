//! Providers that are overloaded, broken, unreachable or malformed; and keys that stay secret.

use std::time::Duration;

use crate::support::{StartConversation, TestConversation, TestEnv};
use prowess::Preset;
use prowess_chat::EndReason;
use prowess_chat::provider::connect;
use prowess_config::{ChatProvider, ChatSettings};
use prowess_testing::model::wire_format::{PROVIDERS, encode_reply, text};
use prowess_testing::model::{ModelServer, Reply, ReplyPiece};
use serde_json::json;

async fn start_conversation(
    provider: ChatProvider,
    replies: Vec<Reply>,
    set: impl Fn(&mut ChatSettings),
) -> (TestConversation, ModelServer) {
    let server = ModelServer::start(replies).await;
    let mut env = TestEnv::new(Preset::Standard).with_provider(provider, &server.base);
    env.chat.limits.retries = 2;
    set(&mut env.chat);
    let mut conversation = env.start();
    conversation.send("hello").await;
    let debug = format!("{:?} {:?} {:?}", conversation.agent, conversation.chat, conversation.events);
    assert!(!debug.contains("SECRET"), "{debug}");
    (conversation, server)
}

#[tokio::test]
async fn requests_to_a_busy_provider_are_retried() {
    let busy = || Reply::failure(429, r#"{"error":{"message":"slow down","type":"rate_limit_error"}}"#);
    for provider in PROVIDERS {
        let fine = Reply::events(encode_reply(provider, &[text("hello")]));
        for replies in [
            vec![busy().header("retry-after", "0"), fine.clone()],
            vec![busy().header("retry-after-ms", "5"), fine.clone()],
            vec![busy(), Reply::failure(500, ""), fine.clone()],
            vec![Reply::failure(503, "<h1>no</h1>"), Reply::failure(529, "{}"), fine.clone()],
            vec![Reply::events("").then(ReplyPiece::Reset), fine.clone()],
            vec![Reply { pieces: vec![ReplyPiece::Reset], ..Reply::events("") }, fine.clone()],
        ] {
            let attempts = replies.len();
            let (conversation, server) = start_conversation(provider, replies, |_| {}).await;
            assert_eq!((conversation.reply_text().as_str(), server.requests().len()), ("hello", attempts));
            let bodies: Vec<_> = server.requests().into_iter().map(|request| request.body).collect();
            assert!(bodies.windows(2).all(|pair| pair[0] == pair[1]), "the same request each time");
        }
    }
}

#[tokio::test]
async fn retries_are_limited() {
    for provider in PROVIDERS {
        let (conversation, server) =
            start_conversation(provider, vec![Reply::failure(500, r#"{"error":"boom"}"#)], |_| {}).await;
        assert_eq!(
            conversation.last_error(),
            ("UNAVAILABLE".to_owned(), "the provider failed (status 500): boom".to_owned())
        );
        assert_eq!(server.requests().len(), 3);
    }
}

#[tokio::test]
async fn a_long_retry_after_is_not_waited_for() {
    let reply = Reply::failure(429, r#"{"error":{"message":"tomorrow"}}"#).header("retry-after", "86400");
    let (conversation, server) = start_conversation(ChatProvider::OpenAiChat, vec![reply], |_| {}).await;
    assert_eq!((conversation.last_error().0.as_str(), server.requests().len()), ("UNAVAILABLE", 1));
}

#[tokio::test]
async fn errors_that_are_not_retried() {
    for (status, code) in [
        (400, "EXECUTION_ERROR"),
        (401, "ACCESS_DENIED"),
        (403, "ACCESS_DENIED"),
        (404, "EXECUTION_ERROR"),
        (413, "TOO_LARGE"),
    ] {
        for provider in PROVIDERS {
            let body = r#"{"error":{"message":"no: sk-SECRET-123 is wrong"}}"#;
            let (conversation, server) =
                start_conversation(provider, vec![Reply::failure(status, body)], |chat| {
                    chat.limits.steps = 1
                })
                .await;
            let (actual, message) = conversation.last_error();
            assert_eq!(actual, code);
            assert!(message.contains("no: [key] is wrong"), "{message}");
            // A conversation that is too long is retried twice, each time shorter.
            assert_eq!(server.requests().len(), if status == 413 { 3 } else { 1 });
        }
    }
}

#[tokio::test]
async fn redirects_are_not_followed() {
    let elsewhere = ModelServer::start([Reply::events("")]).await;
    for status in [301, 302, 303, 307, 308] {
        for provider in PROVIDERS {
            let reply = Reply::failure(status, "").header("location", &format!("{}/v1", elsewhere.base));
            let (conversation, _) = start_conversation(provider, vec![reply], |_| {}).await;
            assert!(
                conversation.last_error().1.contains(&format!("redirected the request (status {status})"))
            );
        }
    }
    assert!(elsewhere.requests().is_empty(), "the key is not sent elsewhere");
}

#[tokio::test]
async fn a_provider_that_never_responds() {
    for provider in PROVIDERS {
        for (set, expected) in [
            (
                Box::new(|chat: &mut ChatSettings| chat.timeouts.first_byte = Duration::from_millis(100))
                    as Box<dyn Fn(&mut ChatSettings)>,
                "no response within 100 ms (chat.first-byte-timeout-ms)",
            ),
            (
                Box::new(|chat: &mut ChatSettings| chat.timeouts.request = Duration::from_millis(100)),
                "the reply did not end within 100 ms (chat.request-timeout-ms)",
            ),
        ] {
            // Either nothing, or only headers.
            for pieces in [vec![ReplyPiece::Hang], vec![ReplyPiece::Pause(Duration::ZERO), ReplyPiece::Hang]]
            {
                let (conversation, server) =
                    start_conversation(provider, vec![Reply { pieces, ..Reply::events("") }], &*set).await;
                assert_eq!(conversation.last_error().0, "TIMEOUT");
                assert!(conversation.last_error().1.ends_with(expected), "{}", conversation.last_error().1);
                assert_eq!(server.requests().len(), 1);
            }
        }
    }
}

#[tokio::test]
async fn a_stream_of_comments_is_limited() {
    // Comments keep arriving: only the timeout of the whole request ends it.
    let mut drip = Reply::events("");
    for _ in 0..1_000 {
        drip = drip
            .then(ReplyPiece::Bytes(b": ping\n\n".to_vec()))
            .then(ReplyPiece::Pause(Duration::from_millis(20)));
    }
    let set = |chat: &mut ChatSettings| chat.timeouts.request = Duration::from_millis(300);
    let (conversation, _) = start_conversation(ChatProvider::OpenAiChat, vec![drip], set).await;
    assert!(conversation.last_error().1.contains("chat.request-timeout-ms"));
}

#[tokio::test]
async fn an_unreachable_provider() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let mut env = TestEnv::new(Preset::Standard).with_provider(ChatProvider::OpenAi, &base);
    env.chat.limits.retries = 1;
    let mut conversation = env.start();
    conversation.send("hello").await;
    let (code, message) = conversation.last_error();
    assert_eq!(code, "UNAVAILABLE");
    assert!(message.starts_with("cannot connect to the provider: Connection refused"), "{message}");
    assert!(!message.contains("127.0.0.1"));
}

#[tokio::test]
async fn cancelling_ends_a_request_at_once() {
    for provider in PROVIDERS {
        let half = encode_reply(provider, &[text("I was saying")]);
        let reply = Reply::events(half[..half.len() - 80].to_vec()).then(ReplyPiece::Hang);
        let server = ModelServer::start([reply]).await;
        let mut conversation = TestEnv::new(Preset::Standard).with_provider(provider, &server.base).start();
        let cancel = conversation.cancel.clone();
        let cancel_later = async {
            while server.requests().is_empty() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
            cancel.cancel();
        };
        let (outcome, ()) = tokio::join!(conversation.send("hello"), cancel_later);
        assert_eq!(
            (outcome.end, conversation.end_reason().as_str()),
            (Ok(EndReason::Cancelled), "cancelled")
        );
        assert_eq!(conversation.chat.messages.len(), 2);
    }
}

#[tokio::test]
async fn the_key_goes_into_one_header() {
    for (provider, header, value, path) in [
        (ChatProvider::Anthropic, "x-api-key", "sk-SECRET-123", "/v1/messages"),
        (ChatProvider::OpenAi, "authorization", "Bearer sk-SECRET-123", "/v1/responses"),
        (ChatProvider::OpenAiChat, "authorization", "Bearer sk-SECRET-123", "/v1/chat/completions"),
    ] {
        let (_, server) = start_conversation(
            provider,
            vec![Reply::events(encode_reply(provider, &[text("hello")]))],
            |_| {},
        )
        .await;
        let request = &server.requests()[0];
        assert_eq!((request.path.as_str(), request.header(header)), (path, Some(value)));
        assert_eq!(request.headers.iter().filter(|(_, value)| value.contains("SECRET")).count(), 1);
        assert!(!request.body.to_string().contains("SECRET"));
        assert_eq!(request.header("accept-encoding"), None, "compression is not requested");
    }
}

#[test]
fn incomplete_settings_are_reported() {
    let toolbox = TestEnv::new(Preset::Standard).toolbox();
    let chat = |provider, set: &dyn Fn(&mut ChatSettings)| {
        let mut chat = ChatSettings { provider, model: Some("m".to_owned()), ..ChatSettings::default() };
        set(&mut chat);
        let error = connect(&chat, |name| (name == "KEY").then(|| "sk-SECRET".into()), &toolbox).unwrap_err();
        assert!(!format!("{error:?}").contains("SECRET"));
        format!("{} {error}", error.code())
    };
    let all = [
        chat(ChatProvider::Anthropic, &|chat| chat.model = None),
        chat(ChatProvider::OpenAi, &|_| {}),
        chat(ChatProvider::OpenAiChat, &|_| {}),
        chat(ChatProvider::Anthropic, &|chat| chat.key_env = Some("OTHER".to_owned())),
        chat(ChatProvider::Anthropic, &|chat| {
            (chat.key_env, chat.key_file) = (Some("KEY".to_owned()), Some("/k".into()))
        }),
        chat(ChatProvider::Anthropic, &|chat| chat.key_file = Some("/no/such/key".into())),
        chat(ChatProvider::OpenAiChat, &|chat| chat.base_url = Some("http://10.0.0.1/v1".to_owned())),
        chat(ChatProvider::OpenAiChat, &|chat| {
            chat.base_url = Some("https://me:pw@models.example/v1".to_owned())
        }),
    ];
    insta::assert_snapshot!(all.join("\n"));
}

/// A model that cannot call tools does not affect other models of the same server.
#[tokio::test]
async fn tools_are_switched_off_for_the_model_that_cannot_call_them() {
    let provider = ChatProvider::OpenAiChat;
    let fine = encode_reply(provider, &[text("ok")]);
    let server = ModelServer::with_handler(move |request, _| {
        match (request.body.get("tools"), &request.body["model"]) {
            (Some(_), model) if model == "small" => {
                Reply::failure(400, r#"{"error": {"message": "small does not support tools"}}"#)
            }
            _ => Reply::events(fine.clone()),
        }
    })
    .await;
    let start = |model: &str| {
        let mut env = TestEnv::new(Preset::Standard).with_provider(provider, &server.base);
        env.skill("pdf", "Do it.");
        env.chat.model = Some(model.to_owned());
        let conversation = env.start();
        (env, conversation)
    };
    let ((_first, mut small), (_second, mut large)) = (start("small"), start("large"));
    assert_eq!(small.send("hello").await.end, Ok(EndReason::Finished));
    assert!(!small.agent.model().can_call_tools(), "the model reports it");
    assert_eq!(large.send("hello").await.end, Ok(EndReason::Finished));
    assert!(large.agent.model().can_call_tools());
    assert_eq!(small.send("again").await.end, Ok(EndReason::Finished));
    let requests: Vec<_> = server.requests();
    let with_tools = requests.iter().map(|request| {
        (request.body["model"].as_str().unwrap().to_owned(), request.body.get("tools").is_some())
    });
    let with_tools: Vec<_> = with_tools.collect();
    let expected = [("small", true), ("small", false), ("large", true), ("small", false)];
    assert_eq!(with_tools, expected.map(|(model, tools)| (model.to_owned(), tools)));
}

#[tokio::test]
async fn rejected_parameters_are_replaced_and_remembered() {
    let provider = ChatProvider::OpenAiChat;
    let fine = encode_reply(provider, &[text("ok")]);
    let server = ModelServer::with_handler(move |request, _| {
        let refused =
            |message: &str| Reply::failure(400, &json!({"error": {"message": message}}).to_string());
        if request.body.get("max_tokens").is_some() {
            return refused("Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.");
        }
        if request.body.get("stream_options").is_some() {
            return refused("Unknown field: stream_options");
        }
        Reply::events(fine.clone())
    })
    .await;
    let mut env = TestEnv::new(Preset::Chat).with_provider(provider, &server.base);
    env.chat.limits.retries = 0;
    let mut conversation = env.start();
    assert_eq!(conversation.send("hello").await.end, Ok(EndReason::Finished));
    assert_eq!(server.requests().len(), 3);
    assert_eq!(conversation.send("again").await.end, Ok(EndReason::Finished));
    assert_eq!(server.requests().len(), 4, "the accepted form is remembered");
    assert!(server.requests()[3].body["max_completion_tokens"].is_u64());
}
