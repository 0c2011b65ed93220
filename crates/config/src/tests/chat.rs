//! Only the user selects the chat model, and API keys are never repeated.

use super::TestProject;
use crate::{ChatProvider, ChatSettings, Effort, Temperature, ThinkingMode, ToolCalling};

#[test]
fn the_user_selects_the_model() {
    let setup = TestProject::new().user(
        "[chat]\nprovider = \"openai-chat\"\nmodel = \"qwen3:8b\"\nbase-url = \"http://127.0.0.1:11434/v1\"\n\
         key-env = \"MODEL_KEY\"\nkey-file = \"~/.secrets/key\"\ntools = \"off\"\nmax-steps = 3\n",
    );
    let chat = setup.load().chat;
    assert_eq!(
        (chat.provider, chat.tools, chat.limits.steps),
        (ChatProvider::OpenAiChat, ToolCalling::Off, 3)
    );
    assert_eq!(chat.model.as_deref(), Some("qwen3:8b"));
    assert_eq!(chat.base_url.as_deref(), Some("http://127.0.0.1:11434/v1"));
    assert_eq!(chat.key_env.as_deref(), Some("MODEL_KEY"));
    assert_eq!(chat.key_file, Some(setup.path("home/.secrets/key")));
}

#[test]
fn a_project_can_only_restrict_chats() {
    let setup = TestProject::new().user("[chat]\nmax-steps = 10\n").project(
        "[chat]\nprovider = \"openai\"\nmodel = \"theirs\"\nbase-url = \"https://theirs.example\"\n\
         allow-http = true\nkey-env = \"AWS_SECRET\"\nkey-file = \"/home/me/.ssh/id\"\nmax-steps = 11\n\
         tools = \"off\"\nretries = 0\n",
    );
    let mut expected = ChatSettings::default();
    (expected.limits.steps, expected.limits.retries, expected.tools) = (10, 0, ToolCalling::Off);
    assert_eq!(setup.load().chat, expected);
    insta::assert_snapshot!(setup.report());
}

#[test]
fn only_the_user_sets_the_store_and_its_password_is_not_shown() {
    let secret = "postgresql://ann:SECRET@db.example/prowess";
    let setup = TestProject::new().user(&format!("[chat]\nstore = \"{secret}\"\n"));
    let loaded = setup.load();
    assert_eq!(loaded.chat.store.as_ref().map(|store| store.expose()), Some(secret));
    assert_eq!(loaded.setting("chat.store").unwrap().value, "postgresql://db.example/prowess");
    assert!(!format!("{loaded:?}").contains("SECRET"));
    let files = TestProject::new().user("[chat]\nstore = \"sqlite:~/chats\"\n");
    assert_eq!(files.load().chat.store.unwrap().expose(), files.path("home/chats").to_str().unwrap());

    let theirs = TestProject::new().project("[chat]\nstore = \"/their/chats\"\n");
    assert_eq!(theirs.load().chat, ChatSettings::default());
    let wrong = TestProject::new().user("[chat]\nstore = \"mysql://ann:SECRET@db.example\"\n");
    let debug = format!("{:?}", wrong.load());
    assert!(!debug.contains("SECRET"), "{debug}");
    insta::assert_snapshot!(format!("{}\n{}", theirs.report(), wrong.report()));
}

#[test]
fn a_misplaced_api_key_is_not_repeated() {
    let setup = TestProject::new().user(
        "[chat]\nkey-env = \"sk-ant-SECRET\"\nkey-file = \"sk-SECRET\"\nmodel = \"SECRET of mine\"\n\
         base-url = \"https://me:SECRET@models.example\"\napi-key = \"sk-SECRET\"\n",
    );
    let loaded = setup.load();
    assert_eq!(loaded.chat, ChatSettings::default());
    assert!(!format!("{loaded:?}").contains("SECRET"));
    // The line is not shown either, so there is no location.
    assert!(loaded.diagnostics.iter().all(|found| found.diagnostic.location.is_none()));
    insta::assert_snapshot!(setup.report());
}

#[test]
fn requests_have_settings_for_all_models_and_for_single_ones() {
    let setup = TestProject::new().user(
        "[chat]\nthinking = \"on\"\neffort = \"high\"\ntemperature = 0.5\n\
         extra-headers = { \"X-Team\" = \"SECRET blue\" }\nextra-body = { top_k = 5, options = { seed = 1 } }\n\
         [chat.models.\"qwen3:8b\"]\nthinking = 4000\neffort = \"low\"\nmax-output-tokens = 900\nextra-body = { top_k = 6 }\n",
    );
    let loaded = setup.load();
    assert_eq!(setup.report(), "");
    let all = loaded.chat.settings_of("other");
    assert_eq!((all.thinking, all.effort, all.output_tokens), (ThinkingMode::On, Effort::High, None));
    assert_eq!(all.extra_headers.0["x-team"], "SECRET blue");
    let single = loaded.chat.settings_of("qwen3:8b");
    assert_eq!(
        (single.thinking, single.effort, single.output_tokens),
        (ThinkingMode::Budget(4_000), Effort::Low, Some(900))
    );
    assert_eq!(single.temperature, Temperature::new(0.5));
    assert_eq!((&single.extra_body["top_k"], &single.extra_body["options"]["seed"]), (&6.into(), &1.into()));
    assert!(!format!("{loaded:?}").contains("SECRET"), "values of headers are not printed");
    assert_eq!(loaded.setting("chat.extra-headers").unwrap().value["x-team"], "***");
}

#[test]
fn a_project_cannot_change_requests() {
    let setup = TestProject::new().project(
        "[chat]\nthinking = \"on\"\neffort = \"max\"\ntemperature = 2\nextra-headers = { x-a = \"SECRET\" }\n\
         extra-body = { user = \"SECRET\" }\n[chat.models.m.extra-headers]\nx-a = \"SECRET\"\n",
    );
    assert_eq!(setup.load().chat, ChatSettings::default());
    insta::assert_snapshot!(setup.report());
}

#[test]
fn invalid_settings_of_requests_are_not_repeated() {
    let problems: Vec<String> = [
        "thinking = 100",
        "effort = \"huge\"",
        "temperature = 2.5",
        "extra-headers = \"SECRET\"",
        "extra-headers = { \"x a\" = \"SECRET\" }",
        "extra-headers = { Host = \"SECRET\" }",
        "extra-headers = { x-a = \"SECRET\\nx-b: c\" }",
        "extra-body = { messages = [] }",
        "extra-body = { since = 2020-01-01 }",
        "models = { m = { thinkin = \"on\" } }",
        "models = { m = { temperature = 3 } }",
        "models = { m = { extra-body = { model = \"SECRET\" } } }",
        "models = { \"m m\" = {} }",
    ]
    .map(|line| {
        let setup = TestProject::new().user(&format!("[chat]\n{line}\n"));
        assert_eq!(setup.load().chat, ChatSettings::default(), "{line}");
        setup.report()
    })
    .to_vec();
    let report = problems.join("\n");
    assert!(!report.contains("SECRET"), "{report}");
    insta::assert_snapshot!(report);
}
