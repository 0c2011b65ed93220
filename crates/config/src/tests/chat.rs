//! Only the user selects the chat model, and API keys are never repeated.

use super::TestProject;
use crate::{ChatProvider, ChatSettings, ToolCalling};

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
