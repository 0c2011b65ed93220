//! Skills with `paths`, and custom commands of other agents.

use std::sync::Arc;

use crate::support::{StartConversation, TestEnv};
use prowess::Preset;
use prowess_chat::turn::TurnInput;
use prowess_config::ChatProvider;
use prowess_testing::model::ModelServer;
use prowess_testing::model::wire_format::{call, system_prompt, text, tool_results};
use prowess_tools::{MemoryWorkspace, WorkspaceChanges, WorkspaceFiles};
use serde_json::json;

const CHAT: ChatProvider = ChatProvider::OpenAiChat;

async fn start() -> (TestEnv, ModelServer) {
    let server = ModelServer::scripted(CHAT, &[vec![text("ok")]]).await;
    let env = TestEnv::new(Preset::Standard).with_provider(CHAT, &server.base);
    env.skill("tables", "Format it.").file(
        "~/.agents/skills/migrations/SKILL.md",
        "---\nname: migrations\ndescription: Reviews.\npaths: '*.sql'\n---\nReview it.\n",
    );
    (env, server)
}

#[tokio::test]
async fn skills_with_paths_are_offered_for_known_files() {
    let (env, server) = start().await;
    let mut conversation = env.start();
    let is_offered = || system_prompt(CHAT, server.requests().last().unwrap()).contains("migrations");
    conversation.send("hello").await;
    assert!(!is_offered());
    conversation.send("look at db/a.sql").await;
    assert!(is_offered(), "the message names a file");
    conversation.send("and now?").await;
    assert!(is_offered(), "an earlier message names a file");

    let conversation = env.start();
    let files = MemoryWorkspace::default();
    let preview = |files: MemoryWorkspace| {
        let files: Arc<dyn WorkspaceFiles> = Arc::new(files);
        let agent = &conversation.agent;
        async move {
            let input =
                TurnInput { chat: "c", text: "hello", workspace: Some(&files), ..TurnInput::default() };
            agent.preview(input).await.unwrap().system
        }
    };
    assert!(!preview(MemoryWorkspace::default()).await.contains("migrations"));
    files.apply(WorkspaceChanges::write("in/b.sql", b"x", "text/plain")).unwrap();
    assert!(preview(files).await.contains("migrations"), "a file of the chat");
}

#[tokio::test]
async fn a_skill_with_paths_can_always_be_mentioned() {
    let (env, server) = start().await;
    let mut conversation = env.start();
    let report = conversation.send("/migrations now").await;
    assert_eq!(report.activated, ["migrations"]);
    assert!(tool_results(CHAT, &server.requests()[0])[0].1.contains("Review it."));
}

#[tokio::test]
async fn custom_commands_are_called_by_name() {
    let (env, server) = start().await;
    env.file("~/.claude/commands/github/fix.md", "---\narguments: [number]\n---\nFix $number.\n")
        .file("~/.codex/prompts/draft.md", "Draft $1 for $2.\n");
    let mut conversation = env.start();
    for (message, expected) in [
        ("/github:fix 12", "Fix 12."),
        ("/draft letter Ada", "Draft letter for Ada."),
        ("please $github:fix it", "Fix ."),
    ] {
        conversation.send(message).await;
        let results = tool_results(CHAT, server.requests().last().unwrap());
        assert!(results.last().unwrap().1.contains(expected), "{message}: {results:?}");
    }
    assert!(!system_prompt(CHAT, &server.requests()[0]).contains("draft"), "not offered to the model");
}

/// The model of a skill is used for the turn in which the skill is loaded, if the user allows it.
#[tokio::test]
async fn a_skill_chooses_an_allowed_model() {
    let steps = [
        vec![call("c1", "skills_activate", json!({"name": "quick"}))],
        vec![text("Done.")],
        vec![text("Later.")],
        vec![text("Not allowed.")],
    ];
    let server = ModelServer::scripted(CHAT, &steps).await;
    let env = TestEnv::new(Preset::Standard).with_provider(CHAT, &server.base);
    let skill = |name: &str, model: &str| {
        let manifest = format!("---\nname: {name}\ndescription: Does it.\nmodel: {model}\n---\nDo it.\n");
        env.file(&format!("~/.agents/skills/{name}/SKILL.md"), &manifest);
    };
    skill("quick", "haiku");
    skill("costly", "opus");
    let mut conversation = env.start();
    let models = vec!["haiku=small-model".to_owned(), "other".to_owned()];
    conversation.agent = conversation.agent.with_skill_models(models);
    conversation.send("quickly").await;
    conversation.send("and now?").await;
    conversation.send("/costly please").await;
    let requests = server.requests();
    let models: Vec<_> =
        requests.iter().map(|request| request.body["model"].as_str().unwrap_or_default()).collect();
    assert_eq!(models[1], "small-model");
    assert_eq!([models[2], models[3]], [models[0]; 2], "{models:?}");
    assert_ne!(models[0], "small-model");
}

/// A skill with `context: fork` sees only its own message, and only its answer becomes part of the conversation.
#[tokio::test]
async fn a_forked_skill_has_a_context_of_its_own() {
    let steps = [
        vec![text("First.")],
        vec![text("Looking."), call("c1", "skills_listResources", json!({"name": "alone"}))],
        vec![text("The answer.")],
        vec![text("Later.")],
    ];
    let server = ModelServer::scripted(CHAT, &steps).await;
    let env = TestEnv::new(Preset::Standard).with_provider(CHAT, &server.base);
    env.skill("usual", "Usual instructions.").file(
        "~/.agents/skills/alone/SKILL.md",
        "---\nname: alone\ndescription: Does it.\ncontext: fork\n---\nInstructions of alone.\n",
    );
    let mut conversation = env.start();
    conversation.send("/usual the secret plan").await;
    let report = conversation.send("/alone do it").await;
    assert_eq!(report.activated, ["usual"], "the skill is not active afterwards");
    conversation.send("and now?").await;
    let requests: Vec<String> =
        server.requests().iter().map(|request| request.body["messages"].to_string()).collect();
    for request in &requests[1..3] {
        assert!(request.contains("Instructions of alone.") && request.contains("do it"), "{request}");
        assert!(!request.contains("secret plan") && !request.contains("Usual instructions."), "{request}");
        assert!(!request.contains("already active in this conversation: usual"), "{request}");
    }
    let later = &requests[3];
    for kept in ["secret plan", "Usual instructions.", "do it", "The answer."] {
        assert!(later.contains(kept), "{kept}: {later}");
    }
    for dropped in ["Instructions of alone.", "Looking.", "skills_listResources"] {
        assert!(!later.contains(dropped), "{dropped}: {later}");
    }
}
