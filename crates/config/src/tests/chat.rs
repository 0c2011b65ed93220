//! Which model a chat talks to is the user's, and a key is never repeated.

use super::World;
use crate::{Chat, Provider, ToolCalling};

#[test]
fn the_user_says_which_model() {
    let world = World::new().user(
        "[chat]\nprovider = \"openai-chat\"\nmodel = \"qwen3:8b\"\nbase-url = \"http://127.0.0.1:11434/v1\"\n\
         key-env = \"MODEL_KEY\"\nkey-file = \"~/.secrets/key\"\ntools = \"off\"\nmax-steps = 3\n",
    );
    let chat = world.load().chat;
    assert_eq!((chat.provider, chat.tools, chat.limits.steps), (Provider::OpenAiChat, ToolCalling::Off, 3));
    assert_eq!(chat.model.as_deref(), Some("qwen3:8b"));
    assert_eq!(chat.base_url.as_deref(), Some("http://127.0.0.1:11434/v1"));
    assert_eq!(chat.key_env.as_deref(), Some("MODEL_KEY"));
    assert_eq!(chat.key_file, Some(world.path("home/.secrets/key")));
}

#[test]
fn a_project_says_nothing_but_less() {
    let world = World::new().user("[chat]\nmax-steps = 10\n").project(
        "[chat]\nprovider = \"openai\"\nmodel = \"theirs\"\nbase-url = \"https://theirs.example\"\n\
         allow-http = true\nkey-env = \"AWS_SECRET\"\nkey-file = \"/home/me/.ssh/id\"\nmax-steps = 11\n\
         tools = \"off\"\nretries = 0\n",
    );
    let mut expected = Chat::default();
    (expected.limits.steps, expected.limits.retries, expected.tools) = (10, 0, ToolCalling::Off);
    assert_eq!(world.load().chat, expected);
    insta::assert_snapshot!(world.said());
}

#[test]
fn where_chats_are_kept_is_the_users_and_a_password_is_not_shown() {
    let secret = "postgresql://ann:SECRET@db.example/prowess";
    let world = World::new().user(&format!("[chat]\nstore = \"{secret}\"\n"));
    let loaded = world.load();
    assert_eq!(loaded.chat.store.as_ref().map(|store| store.written()), Some(secret));
    assert_eq!(loaded.setting("chat.store").unwrap().value, "postgresql://db.example/prowess");
    assert!(!format!("{loaded:?}").contains("SECRET"));
    let files = World::new().user("[chat]\nstore = \"sqlite:~/chats\"\n");
    assert_eq!(files.load().chat.store.unwrap().written(), files.path("home/chats").to_str().unwrap());

    let theirs = World::new().project("[chat]\nstore = \"/their/chats\"\n");
    assert_eq!(theirs.load().chat, Chat::default());
    let wrong = World::new().user("[chat]\nstore = \"mysql://ann:SECRET@db.example\"\n");
    let told = format!("{:?}", wrong.load());
    assert!(!told.contains("SECRET"), "{told}");
    insta::assert_snapshot!(format!("{}\n{}", theirs.said(), wrong.said()));
}

#[test]
fn a_key_in_the_wrong_place_is_not_repeated() {
    let world = World::new().user(
        "[chat]\nkey-env = \"sk-ant-SECRET\"\nkey-file = \"sk-SECRET\"\nmodel = \"SECRET of mine\"\n\
         base-url = \"https://me:SECRET@models.example\"\napi-key = \"sk-SECRET\"\n",
    );
    let loaded = world.load();
    assert_eq!(loaded.chat, Chat::default());
    assert!(!format!("{loaded:?}").contains("SECRET"));
    // Nor is the line shown, which a place would do.
    assert!(loaded.diagnostics.iter().all(|said| said.diagnostic.at.is_none()));
    insta::assert_snapshot!(world.said());
}
