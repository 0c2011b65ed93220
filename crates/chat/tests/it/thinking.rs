//! The thinking of models is shown, kept, and sent back to the model that needs it.

use crate::support::{StartConversation, TestConversation, TestEnv};
use prowess::Preset;
use prowess_chat::{EndReason, Part, TurnEvent};
use prowess_config::{ChatProvider, Effort, ModelOverrides, Temperature, ThinkingMode};
use prowess_testing::model::wire_format::{
    PROVIDERS, ReplyPart, call, encode_reply, text, thinking, tool_results,
};
use prowess_testing::model::{ModelServer, Reply};
use serde_json::{Value, json};

fn steps() -> [Vec<ReplyPart>; 3] {
    [
        vec![
            thinking("First I look.\n\nThen I read."),
            ReplyPart::Redacted,
            text("One moment. "),
            call("c1", "skills_search", json!({"query": "pdf"})),
            call("c2", "skills_search", json!({"query": "csv"})),
        ],
        vec![thinking("Nothing there."), text("Nothing found.")],
        vec![text("You are welcome.")],
    ]
}

async fn server(provider: ChatProvider, steps: &[Vec<ReplyPart>]) -> ModelServer {
    ModelServer::start(steps.iter().map(|step| Reply::chunked(encode_reply(provider, step), 7))).await
}

/// Returns a project with a skill, so that the model has tools.
fn project() -> TestEnv {
    let env = TestEnv::new(Preset::Standard);
    env.skill("pdf", "READ-THE-FORM");
    env
}

fn thoughts(conversation: &TestConversation) -> String {
    let texts = conversation.events.iter().filter_map(|event| match event {
        TurnEvent::Thinking { text, seal: None } => Some(text.as_str()),
        TurnEvent::Thinking { seal: Some(_), .. } => panic!("seals are not reported"),
        _ => None,
    });
    texts.collect()
}

/// Returns the pieces of the conversation in a request that are thinking.
fn thinking_blocks(request: &Value) -> Vec<Value> {
    let messages = request["messages"].as_array().into_iter().flatten();
    let blocks = messages.flat_map(|message| message["content"].as_array().cloned().unwrap_or_default());
    let items = request["input"].as_array().cloned().unwrap_or_default();
    let is_thinking = |block: &Value| {
        ["thinking", "redacted_thinking", "reasoning"].iter().any(|kind| block["type"] == *kind)
    };
    blocks.chain(items).filter(is_thinking).collect()
}

#[tokio::test]
async fn thinking_is_shown_and_sent_back_with_every_provider() {
    for provider in PROVIDERS {
        for mode in [ThinkingMode::Auto, ThinkingMode::On, ThinkingMode::Budget(2_000)] {
            let server = server(provider, &steps()).await;
            let mut env = project().with_provider(provider, &server.base);
            env.chat.request.thinking = mode;
            let mut conversation = env.start();
            assert_eq!(conversation.send("look").await.end, Ok(EndReason::Finished), "{provider:?} {mode:?}");
            assert_eq!(thoughts(&conversation), "First I look.\n\nThen I read.Nothing there.");
            assert_eq!(conversation.reply_text(), "One moment. Nothing found.");
            let parts = &conversation.chat.messages[1].parts;
            assert!(
                matches!(&parts[0], Part::Thinking { text, .. } if text == "First I look.\n\nThen I read.")
            );
            assert_eq!(conversation.send("thanks").await.end, Ok(EndReason::Finished));

            let requests = server.requests();
            assert_eq!(requests.len(), 3, "{provider:?} {mode:?}");
            assert_eq!(tool_results(provider, &requests[1]).len(), 2);
            let counts: Vec<_> =
                requests.iter().map(|request| thinking_blocks(&request.body).len()).collect();
            let expected = if provider == ChatProvider::OpenAiChat { [0, 0, 0] } else { [0, 2, 3] };
            assert_eq!(counts, expected, "{provider:?} {mode:?}");
        }
    }
}

/// Returns the first turn of [`steps`] with this provider, continued with another model or provider.
async fn continued(first: ChatProvider, second: ChatProvider, model: &str) -> Vec<Value> {
    let servers = (server(first, &steps()).await, server(second, &[vec![text("ok")]]).await);
    let env = project().with_provider(first, &servers.0.base);
    let mut conversation = env.start();
    assert_eq!(conversation.send("look").await.end, Ok(EndReason::Finished));
    let mut other = project().with_provider(second, &servers.1.base);
    other.chat.model = Some(model.to_owned());
    let mut continued = other.start();
    continued.chat = conversation.chat;
    assert_eq!(continued.send("go on").await.end, Ok(EndReason::Finished));
    thinking_blocks(&servers.1.requests()[0].body)
}

#[tokio::test]
async fn only_the_model_that_thought_gets_its_thinking() {
    for first in [ChatProvider::Anthropic, ChatProvider::OpenAi] {
        for second in PROVIDERS {
            for model in ["model-1", "model-2"] {
                let expected = if first == second && model == "model-1" { 3 } else { 0 };
                let blocks = continued(first, second, model).await;
                assert_eq!(blocks.len(), expected, "{first:?} {second:?} {model}: {blocks:?}");
            }
        }
    }
}

#[tokio::test]
async fn thinking_that_is_no_longer_accepted_is_left_out() {
    for provider in [ChatProvider::Anthropic, ChatProvider::OpenAi] {
        let server = server(provider, &[vec![text("ok")], vec![text("ok")]]).await;
        let env = project().with_provider(provider, &server.base);
        let mut conversation = env.start();
        conversation.send("hello").await;
        let name = format!("{}: model-1", provider.as_str());
        let seal = match provider {
            ChatProvider::OpenAi => {
                json!({"model": name, "kind": "reasoning", "id": "rs_1", "summary": [], "encrypted": "x"})
            }
            _ => json!({"model": name, "kind": "signature", "signature": "x"}),
        };
        let part = json!({"type": "thinking", "text": "hm", "seal": seal});
        conversation.chat.messages[1].parts.insert(0, serde_json::from_value(part).unwrap());
        assert_eq!(conversation.send("go on").await.end, Ok(EndReason::Finished), "{provider:?}");
        let counts: Vec<_> =
            server.requests().iter().map(|request| thinking_blocks(&request.body).len()).collect();
        assert_eq!(counts, [0, 1, 0], "{provider:?}");
    }
}

#[tokio::test]
async fn a_mentioned_skill_is_sent_as_text_to_a_model_with_a_budget() {
    let provider = ChatProvider::Anthropic;
    let server = server(provider, &steps()).await;
    let mut env = project().with_provider(provider, &server.base);
    env.chat.request.thinking = ThinkingMode::Budget(1_000_000);
    let mut conversation = env.start();
    assert_eq!(conversation.send("/pdf look").await.end, Ok(EndReason::Finished));
    let requests = server.requests();
    assert_eq!(requests[0].body["thinking"], json!({"type": "enabled", "budget_tokens": 8_191}));
    let question = &requests[0].body["messages"][0]["content"];
    assert_eq!(question[0]["text"], "look");
    let skill = question[1]["text"].as_str().unwrap();
    assert!(
        skill.starts_with("[The tool skills_activate was called with {\"name\":\"pdf\"}. Its result:]"),
        "{skill}"
    );
    assert!(skill.contains("READ-THE-FORM"));
    assert_eq!(requests[1].body["messages"][1]["content"][0]["type"], "thinking");
}

#[tokio::test]
async fn another_form_is_used_if_a_model_rejects_the_first_one() {
    let provider = ChatProvider::Anthropic;
    let rejected_by = |kind: &'static str, message: &'static str| {
        let reply = encode_reply(provider, &[text("ok")]);
        ModelServer::with_handler(move |request, _| match request.body["thinking"]["type"] == kind {
            true => Reply::failure(400, &json!({"error": {"message": message}}).to_string()),
            false => Reply::events(reply.clone()),
        })
    };
    for (mode, kind, message, expected) in [
        (
            ThinkingMode::On,
            "adaptive",
            "adaptive thinking is not supported on this model",
            json!({"type": "enabled", "budget_tokens": 4_096}),
        ),
        (
            ThinkingMode::Budget(2_000),
            "enabled",
            "\"thinking.type.enabled\" is not supported for this model. Use \"thinking.type.adaptive\" and \"output_config.effort\"",
            json!({"type": "adaptive", "display": "summarized"}),
        ),
        (
            ThinkingMode::Off,
            "disabled",
            "thinking.type: disabled is not supported by this model",
            Value::Null,
        ),
    ] {
        let server = rejected_by(kind, message).await;
        let mut env = project().with_provider(provider, &server.base);
        env.chat.request.thinking = mode;
        let mut conversation = env.start();
        for _ in 0..2 {
            assert_eq!(conversation.send("hello").await.end, Ok(EndReason::Finished), "{kind}");
        }
        let sent: Vec<Value> =
            server.requests().iter().map(|request| request.body["thinking"].clone()).collect();
        assert_eq!(sent.len(), 3, "the form is remembered");
        assert_eq!((&sent[1], &sent[2]), (&expected, &expected));
    }
}

#[tokio::test]
async fn models_that_do_not_think_get_no_request_for_it() {
    let provider = ChatProvider::OpenAi;
    let reply = encode_reply(provider, &[text("ok")]);
    let server = ModelServer::with_handler(move |request, _| {
        let problem = match (request.body.get("include"), request.body.get("reasoning")) {
            (_, Some(_)) => "Unsupported parameter: 'reasoning.summary' is not supported with this model.",
            (Some(_), _) => "Encrypted content is not supported with this model.",
            (None, None) => return Reply::events(reply.clone()),
        };
        Reply::failure(400, &json!({"error": {"message": problem}}).to_string())
    });
    let server = server.await;
    let env = project().with_provider(provider, &server.base);
    let mut conversation = env.start();
    for _ in 0..2 {
        assert_eq!(conversation.send("hello").await.end, Ok(EndReason::Finished));
    }
    assert_eq!(server.requests()[0].body["include"], json!(["reasoning.encrypted_content"]));
    assert_eq!(server.requests()[0].body["reasoning"], json!({"summary": "auto"}));
    assert_eq!(server.requests().len(), 4, "the form is remembered");
}

#[tokio::test]
async fn inline_thinking_is_separated_and_never_sent_back() {
    let provider = ChatProvider::OpenAiChat;
    let server = server(provider, &[vec![text("<think>\nhm\n</think>\n\nhello")], vec![text("ok")]]).await;
    let env = project().with_provider(provider, &server.base);
    let mut conversation = env.start();
    conversation.send("hi").await;
    assert_eq!(
        (thoughts(&conversation), conversation.reply_text()),
        ("\nhm\n".to_owned(), "hello".to_owned())
    );
    assert_eq!(conversation.send("go on").await.end, Ok(EndReason::Finished));
    assert_eq!(server.requests()[1].body["messages"][2], json!({"role": "assistant", "content": "hello"}));
}

#[tokio::test]
async fn a_paused_reply_is_continued_up_to_the_step_limit() {
    let paused = |text: &str| {
        let events = [
            json!({"type": "message_start", "message": {"usage": {"input_tokens": 1, "output_tokens": 1}}}),
            json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
            json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}}),
            json!({"type": "content_block_stop", "index": 0}),
            json!({"type": "message_delta", "delta": {"stop_reason": "pause_turn"}, "usage": {"output_tokens": 2}}),
            json!({"type": "message_stop"}),
        ];
        Reply::events(events.iter().map(|event| format!("data: {event}\n\n")).collect::<String>())
    };
    let provider = ChatProvider::Anthropic;
    let last = Reply::events(encode_reply(provider, &[text("done")]));
    let server = ModelServer::start([paused("a "), paused("b "), last]).await;
    let mut env = project().with_provider(provider, &server.base);
    let mut conversation = env.start();
    assert_eq!(conversation.send("hi").await.end, Ok(EndReason::Finished));
    assert_eq!(conversation.reply_text(), "a b done");
    let messages = &server.requests()[2].body["messages"];
    let texts: Vec<_> =
        messages[1]["content"].as_array().unwrap().iter().map(|block| &block["text"]).collect();
    assert_eq!((messages[1]["role"].as_str(), texts), (Some("assistant"), vec![&json!("a"), &json!("b")]));

    let server = ModelServer::start([paused("again ")]).await;
    env = env.with_provider(provider, &server.base);
    env.chat.limits.steps = 3;
    let mut conversation = env.start();
    assert_eq!(conversation.send("hi").await.end, Ok(EndReason::Steps));
    assert_eq!(server.requests().len(), 3);
}

#[tokio::test]
async fn a_filtered_or_refused_reply_is_a_refusal() {
    let event = |data: Value| format!("event: {}\ndata: {data}\n\n", data["type"].as_str().unwrap());
    let responses = |kind: &str, response: Value| {
        event(json!({"type": "response.refusal.delta", "output_index": 0, "delta": "I cannot do that."}))
            + &event(json!({"type": kind, "response": response}))
    };
    let refused = responses("response.completed", json!({}));
    let filtered =
        responses("response.incomplete", json!({"incomplete_details": {"reason": "content_filter"}}));
    for reply in [refused, filtered] {
        let server = ModelServer::start([Reply::events(reply)]).await;
        let env = project().with_provider(ChatProvider::OpenAi, &server.base);
        let mut conversation = env.start();
        assert_eq!(conversation.send("hi").await.end, Ok(EndReason::Declined));
        assert_eq!(conversation.reply_text(), "I cannot do that.");
        assert_eq!(conversation.end_reason(), "declined");
    }
}

#[tokio::test]
async fn prefixes_are_marked_for_the_cache() {
    let provider = ChatProvider::Anthropic;
    let steps = [
        vec![call("c1", "skills_activate", json!({"name": "pdf"}))],
        vec![thinking("hm"), call("c2", "skills_search", json!({"query": "csv"}))],
        vec![text("ok")],
    ];
    let server = server(provider, &steps).await;
    let env = project().with_provider(provider, &server.base);
    let mut conversation = env.start();
    let outcome = conversation.send("hi").await;
    assert_eq!(outcome.end, Ok(EndReason::Finished));
    assert_eq!(outcome.usage.map(|usage| (usage.cached, usage.cache_writes)), Some((30, 15)));
    let body = &server.requests()[2].body;
    let marked = |value: &Value| value.get("cache_control") == Some(&json!({"type": "ephemeral"}));
    assert!(marked(&body["system"][0]));
    let messages = body["messages"].as_array().unwrap();
    let marks: Vec<_> = messages
        .iter()
        .enumerate()
        .filter(|(_, message)| message["content"].as_array().unwrap().iter().any(marked))
        .map(|(number, _)| number)
        .collect();
    // The result with the skill, and the last message.
    assert_eq!(marks, [2, 4]);
}

#[tokio::test]
async fn waiting_and_disabled_tools_are_reported_but_not_part_of_the_message() {
    let provider = ChatProvider::OpenAiChat;
    let reply = Reply::events(encode_reply(provider, &[text("ok")]));
    let busy = Reply::failure(429, r#"{"error": {"message": "slow down, sk-SECRET-123"}}"#);
    let no_tools = Reply::failure(400, r#"{"error": {"message": "model-1 does not support tools"}}"#);
    let server = ModelServer::start([busy.header("retry-after", "1"), no_tools, reply]).await;
    let env = project().with_provider(provider, &server.base);
    let mut conversation = env.start();
    assert_eq!(conversation.send("hi").await.end, Ok(EndReason::Finished));
    let notices: Vec<Value> =
        conversation.events.iter().take(2).map(|event| serde_json::to_value(event).unwrap()).collect();
    assert_eq!(
        notices,
        [
            json!({"type": "waiting", "seconds": 1,
                "reason": "the provider is busy (status 429): slow down, [key]"}),
            json!({"type": "tools_disabled", "reason": "model-1 does not support tools"}),
        ]
    );
    assert_eq!(conversation.chat.messages[1].parts, [Part::Text { text: "ok".into() }]);
}

#[tokio::test]
async fn settings_are_sent_in_the_words_of_each_provider() {
    for provider in PROVIDERS {
        let server = server(provider, &[vec![text("ok")]]).await;
        let mut env = project().with_provider(provider, &server.base);
        let request = &mut env.chat.request;
        request.effort = Effort::Max;
        request.temperature = Temperature::new(0.5);
        request.extra_headers.0.insert("x-team".to_owned(), "blue".to_owned());
        request.extra_body =
            object(json!({"model": "theirs", "messages": [], "input": [], "stream": false, "tools": [],
            "metadata": {"user": "u"}, "reasoning": {"mode": "m"}}));
        let single = ModelOverrides { output_tokens: Some(5_000), ..ModelOverrides::default() };
        env.chat.models.insert("model-1".to_owned(), single);
        let mut conversation = env.start();
        assert_eq!(conversation.send("hi").await.end, Ok(EndReason::Finished), "{provider:?}");
        let sent = &server.requests()[0];
        assert_eq!(sent.header("x-team"), Some("blue"));
        let body = &sent.body;
        assert_eq!(
            (&body["model"], &body["stream"], &body["temperature"]),
            (&json!("model-1"), &json!(true), &json!(0.5))
        );
        assert!(!body["tools"].as_array().unwrap().is_empty());
        assert_eq!(body["metadata"], json!({"user": "u"}));
        let (limit, effort) = match provider {
            ChatProvider::Anthropic => ("max_tokens", &body["output_config"]["effort"] == "max"),
            ChatProvider::OpenAi => {
                let expected = json!({"effort": "xhigh", "summary": "auto", "mode": "m"});
                ("max_output_tokens", body["reasoning"] == expected)
            }
            _ => ("max_tokens", body["reasoning_effort"] == "xhigh"),
        };
        assert!(effort && body[limit] == 5_000, "{provider:?}: {body}");
    }
}

#[tokio::test]
async fn values_of_headers_are_not_part_of_errors() {
    for reply in [
        Reply::failure(400, r#"{"error": {"message": "invalid token TOP-SECRET-1"}}"#),
        Reply::events("data: {\"error\": {\"message\": \"invalid token TOP-SECRET-1\"}}\n\n"),
    ] {
        let server = ModelServer::start([reply]).await;
        let mut env = project().with_provider(ChatProvider::OpenAiChat, &server.base);
        env.chat.request.extra_headers.0.insert("x-auth".to_owned(), "Token TOP-SECRET-1".to_owned());
        let mut conversation = env.start();
        conversation.send("hi").await;
        let (_, message) = conversation.last_error();
        assert!(message.ends_with("invalid token [header]"), "{message}");
    }
}

fn object(value: Value) -> serde_json::Map<String, Value> {
    value.as_object().cloned().unwrap()
}
