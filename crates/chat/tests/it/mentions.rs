//! Skills that the person calls by name, and what later turns have of them.

use crate::world::{Talk, Talks, World};
use prowess::Preset;
use prowess_chat::End;
use prowess_config::Provider;
use prowess_testing::model::speech::{ALL, answer, call, results, system, text};
use prowess_testing::model::{Asked, Reply, Server};
use serde_json::json;

async fn talk(preset: Preset, provider: Provider) -> (World, Talk, Server) {
    let server = Server::start([Reply::events(answer(provider, &[text("ok")]))]).await;
    let world = World::new(preset).talking(provider, &server.base);
    world.skill("pdf", "Merge with care.").skill("pdf-tools", "Other tools.");
    let talk = world.start();
    (world, talk, server)
}

/// What the person said, as the model was shown it.
fn said(asked: &Asked) -> Vec<String> {
    let messages = asked.body["messages"].as_array().unwrap().iter();
    messages.filter(|m| m["role"] == "user").map(|m| m["content"].as_str().unwrap().to_owned()).collect()
}

const CHAT: Provider = Provider::OpenAiChat;

#[tokio::test]
async fn s004_13_a_slash_at_the_start_is_stripped_and_marks_the_turn() {
    let (_world, mut talk, server) = talk(Preset::Chat, CHAT).await;
    let outcome = talk.say("/pdf  merge these").await;
    assert_eq!((outcome.end, outcome.activated), (Ok(End::Finished), vec!["pdf".to_owned()]));
    let asked = &server.asked()[0];
    assert_eq!(said(asked), ["merge these"]);
    assert!(results(CHAT, asked)[0].1.contains("Merge with care."));
    assert_eq!(talk.results()[0].0, "skills.activate", "the turn is marked before the model is asked");
    // What is kept is what was said.
    assert_eq!(serde_json::to_value(&talk.chat.messages[0].parts).unwrap()[0]["text"], "/pdf  merge these");
}

#[tokio::test]
async fn s004_13_an_unknown_name_is_text_like_any_other() {
    let (world, mut talk, server) = talk(Preset::Chat, CHAT).await;
    world.file(".skills/off/SKILL.md", "no frontmatter");
    for message in
        ["/nope merge", "/pdf-toolsx y", " /pdf late", "say /pdf", "//pdf", "/", "/off x", "$pdf x"]
    {
        assert_eq!(talk.say(message).await.activated, Vec::<String>::new(), "{message}");
        assert_eq!(said(server.asked().last().unwrap()).last().unwrap(), message);
        assert!(talk.results().is_empty());
    }
}

#[tokio::test]
async fn a_skill_that_is_not_for_people_is_not_called_by_name() {
    for preset in [Preset::Standard, Preset::Chat] {
        let (world, mut talk, _server) = talk(preset, CHAT).await;
        let root = if preset == Preset::Chat { ".skills" } else { ".agents/skills" };
        let text = "---\nname: inner\ndescription: For models.\nuser-invocable: false\n---\nInner.";
        world.file(&format!("{root}/inner/SKILL.md"), text);
        for message in ["/inner x", "use $inner"] {
            assert_eq!(talk.say(message).await.activated, Vec::<String>::new(), "{preset} {message}");
        }
    }
}

#[tokio::test]
async fn s004_13_nothing_but_a_name() {
    let (_world, mut talk, server) = talk(Preset::Chat, CHAT).await;
    talk.say("/pdf-tools").await;
    assert_eq!(said(&server.asked()[0]), ["(The person called the skill and said nothing else.)"]);
    assert!(results(CHAT, &server.asked()[0])[0].1.contains("Other tools."));
}

#[tokio::test]
async fn s001_17_a_dollar_anywhere_loads_and_stays() {
    for preset in [Preset::Standard, Preset::SkillTool] {
        let (_world, mut talk, server) = talk(preset, CHAT).await;
        let outcome = talk.say("merge with $pdf, not $pdf-tools or `$other`").await;
        assert_eq!(outcome.activated, ["pdf", "pdf-tools"]);
        assert_eq!(said(&server.asked()[0]), ["merge with $pdf, not $pdf-tools or `$other`"]);
        let tool = if preset == Preset::SkillTool { "Skill" } else { "skills.activate" };
        assert!(talk.results().iter().all(|(name, ..)| name == tool));
    }
}

#[tokio::test]
async fn s000_06_an_app_reads_the_file_for_the_person() {
    let (_world, mut talk, server) = talk(Preset::App, CHAT).await;
    let outcome = talk.say("/pdf merge").await;
    assert_eq!(outcome.activated, ["pdf"]);
    let calls = server.asked()[0].body["messages"].to_string();
    assert!(calls.contains(".agents/skills/pdf/SKILL.md") && calls.contains("Merge with care."), "{calls}");
    talk.say("more").await;
    assert_eq!(said(server.asked().last().unwrap()), ["merge", "more"]);
}

#[tokio::test]
async fn arguments_go_where_the_instructions_have_a_place_for_them() {
    let (world, mut talk, server) = talk(Preset::Standard, CHAT).await;
    world.skill("greet", "Greet $ARGUMENTS warmly.").skill("second", "Take $1.").skill("plain", "No place.");
    for (message, words) in
        [("/greet Ada L", "Greet Ada L warmly."), ("/second a b", "Take b."), ("/plain x", "No place.")]
    {
        talk.say(message).await;
        let told = results(CHAT, server.asked().last().unwrap()).pop().unwrap().1;
        assert!(told.contains(words) && !told.contains("ARGUMENTS"), "{told}");
    }
}

#[tokio::test]
async fn s004_19_names_are_kept_and_in_the_next_prompt_and_the_instructions_where_they_stood() {
    for provider in ALL {
        let (world, mut talk, server) = talk(Preset::Chat, provider).await;
        talk.say("/pdf merge").await;
        assert_eq!(talk.chat.activated, ["pdf"]);
        talk.say("go on").await;
        let asked = &server.asked()[1];
        let prompt = system(provider, asked);
        assert!(prompt.contains("Skills already active in this conversation: pdf."), "{prompt}");
        assert!(!prompt.contains("Merge with care."), "by name only");
        assert!(results(provider, asked)[0].1.contains("Merge with care."), "read again, where it stood");
        let before = server.asked()[0].body.to_string();
        let stays = asked.body.to_string();
        assert!(
            before.contains("\"merge\"") && stays.contains("\"merge\""),
            "stripped then, and stripped now"
        );

        // It changes, and then it goes.
        world.skill("pdf", "Merge with more care.");
        let mut talk_again = world.start();
        std::mem::swap(&mut talk_again.chat, &mut talk.chat);
        talk_again.say("and now?").await;
        let told = results(provider, server.asked().last().unwrap())[0].1.clone();
        assert!(
            told.starts_with("[The skill pdf has changed since.") && told.contains("more care"),
            "{told}"
        );
        std::fs::remove_dir_all(world.path(".skills/pdf")).unwrap();
        let mut talk_last = world.start();
        std::mem::swap(&mut talk_last.chat, &mut talk_again.chat);
        talk_last.say("and now?").await;
        let told = results(provider, server.asked().last().unwrap())[0].1.clone();
        assert_eq!(told, "[The skill pdf is no longer there.]");
    }
}

#[tokio::test]
async fn s004_19_what_the_model_loads_counts_and_what_it_fails_to_load_does_not() {
    let steps = [
        vec![
            call("c1", "skills_activate", json!({"name": "nope"})),
            call("c2", "skills_activate", json!({"name": "pdf"})),
        ],
        vec![text("done")],
        vec![call("c1", "skills_activate", json!({"name": "pdf"}))],
        vec![text("again")],
    ];
    let server = Server::start(steps.iter().map(|step| Reply::events(answer(CHAT, step)))).await;
    let world = World::new(Preset::Chat).talking(CHAT, &server.base);
    world.skill("pdf", "Merge with care.");
    let mut talk = world.start();
    assert_eq!(talk.say("merge").await.activated, ["pdf"]);
    talk.say("again").await;
    // The conversation has the instructions: a reminder is enough.
    let told = results(CHAT, server.asked().last().unwrap());
    assert!(told.last().unwrap().1.contains("already loaded in this conversation"), "{told:?}");
    assert!(told[1].1.contains("Merge with care."));
}

#[tokio::test]
async fn files_that_were_read_are_read_again_if_they_are_the_same() {
    let steps = [
        vec![
            call("c1", "skills_readResource", json!({"name": "pdf", "path": "a.md"})),
            call("c2", "skills_readResource", json!({"name": "pdf", "path": "b.md"})),
        ],
        vec![text("done")],
        vec![text("again")],
    ];
    let server = Server::start(steps.iter().map(|step| Reply::events(answer(CHAT, step)))).await;
    let world = World::new(Preset::Chat).talking(CHAT, &server.base);
    world.skill("pdf", "x").file(".skills/pdf/a.md", "AAA").file(".skills/pdf/b.md", "BBB");
    let mut talk = world.start();
    talk.say("read").await;
    assert!(!serde_json::to_string(&talk.chat.messages).unwrap().contains("AAA"));
    world.file(".skills/pdf/b.md", "CCC");
    talk.say("again").await;
    let told: Vec<String> = results(CHAT, &server.asked()[2]).into_iter().map(|(_, text)| text).collect();
    assert_eq!(told, ["AAA", "[b.md was read here, and has changed since. Read it again if you need it.]"]);
}
