//! Routing: document 003's tiers and ranking, and the mentions of documents 001 and 004.

use prowess::Preset;
use prowess::policy::{Mention, Recognised};
use prowess::usage::Usage;
use prowess_routing::{MatchKind, Options, Router, Routing};
use prowess_testing::library::{World, skill_md};

const NOW: u64 = 1_800_000_000;

fn triggered(name: &str, triggers: &str) -> String {
    format!("---\nname: {name}\ndescription: Does {name}.\ntriggers: {triggers}\n---\n\nDo it.\n")
}

/// A world without bundled skills.
fn bare() -> World {
    let mut world = World::new(Preset::Triggers);
    world.policy.scan.roots.retain(|root| root.to_string() != "bundled");
    world
}

fn route(world: &World, query: &str) -> Routing {
    route_with(world, query, &Usage::default(), 5)
}

fn route_with(world: &World, query: &str, usage: &Usage, k: usize) -> Routing {
    let router = Router::new(world.snapshot());
    router.route(query, &Options { k, ..Options::new(usage, NOW) })
}

fn told(routing: &Routing) -> String {
    let mut text = format!("tier {}, {} in full\n", routing.tier.number(), routing.full);
    for found in &routing.matches {
        let (name, kind) = (&found.name, found.kind.as_str());
        text.push_str(&format!("{name} {:.1} ({kind}) {}\n", found.score, found.reasons.join("; ")));
    }
    text
}

fn names(routing: &Routing) -> Vec<&str> {
    routing.matches.iter().map(|found| found.name.as_str()).collect()
}

fn hello() -> World {
    let world = bare();
    let triggers = r#"{keywords: [hello, say hello], verbs: [wave], patterns: ['greet\s+\w+']}"#;
    world.file(".agent/skills/hello-extended/SKILL.md", triggered("hello-extended", triggers));
    world.file(".agent/skills/pdf/SKILL.md", triggered("pdf", "{keywords: [pdf, hello]}"));
    world
}

#[test]
fn s003_02_nothing_without_skills() {
    assert_eq!(told(&route(&bare(), "hello")), "tier 0, 0 in full\n");
    assert_eq!(told(&route(&bare(), "what can you do?")), "tier 0, 0 in full\n");
}

#[test]
fn s003_03_a_breadcrumb_where_no_trigger_matches() {
    let world = hello();
    let routing = route(&world, "Othello reads pdfs");
    assert_eq!((routing.tier.number(), routing.full), (1, 0));
    assert!(routing.matches.iter().all(|found| found.kind == MatchKind::Lexical), "{routing:?}");
    assert_eq!(route(&world, "").tier.number(), 1);
    // Skills without triggers beside them, such as the bundled ones, change nothing.
    world.skill(".agent/skills/plain");
    assert_eq!(route(&world, "be plain").tier.number(), 1);
}

#[test]
fn s003_04_the_registry_when_asked_or_without_triggers() {
    assert_eq!(told(&route(&hello(), "Hello, what can you do?")), "tier 2, 0 in full\n");
    assert_eq!(route(&hello(), "list skills").tier.number(), 2);
    assert_eq!(route(&hello(), "你有哪些技能？").tier.number(), 2);
    let plain = bare();
    plain.skill(".agent/skills/plain");
    insta::assert_snapshot!(told(&route(&plain, "be plain")), @"
    tier 2, 0 in full
    plain 12.7 (lexical) lexical: 12.7; in its name: plain
    ");
    assert_eq!(route(&plain, "zzz").tier.number(), 2);
}

#[test]
fn s003_05_whole_skills_where_triggers_match() {
    insta::assert_snapshot!(told(&route(&hello(), "Say HELLO, wave and greet Anna")), @r"
    tier 3, 2 in full
    hello-extended 2004.0 (trigger) phrase: say hello; keyword: hello; verb: wave; pattern: greet\s+\w+; lexical: 10.3
    pdf 1001.0 (trigger) keyword: hello; lexical: 3.4
    ");
}

#[test]
fn s003_06_mention_then_phrase_then_keyword_then_words() {
    let world = bare();
    world.file(".agent/skills/phrase/SKILL.md", triggered("phrase", "{keywords: [merge files]}"));
    world.file(".agent/skills/keyword/SKILL.md", triggered("keyword", "{keywords: [merge]}"));
    world.file(".agent/skills/used/SKILL.md", triggered("used", "{verbs: [merge]}"));
    world.file(".agent/skills/named-one/SKILL.md", triggered("named-one", "{verbs: [merge]}"));
    world.file(".agent/skills/words/SKILL.md", skill_md("words", "Can merge things."));
    let mut usage = Usage::default();
    usage.note("used", NOW - 60);
    insta::assert_snapshot!(told(&route_with(&world, "merge files with named-one", &usage, 5)), @"
    tier 3, 3 in full
    named-one 3001.0 (explicit) mentioned by name; verb: merge; lexical: 13.7
    phrase 2001.0 (trigger) phrase: merge files; lexical: 6.7
    used 1002.0 (trigger) verb: merge; used recently; lexical: 3.4
    keyword 1001.0 (trigger) keyword: merge; lexical: 4.1
    words 3.4 (lexical) lexical: 3.4; in its description: merge
    ");
    let routing = route_with(&world, "merge files with named-one", &usage, 0);
    assert_eq!(names(&routing), ["named-one", "phrase", "used"]);
    assert_eq!(routing.pushed().len(), 3);
    // A name alone is no call.
    assert_eq!(route(&world, "named-one").tier.number(), 1);
}

#[test]
fn s003_06_of_two_that_answer_about_as_well_the_one_in_use_comes_first() {
    let world = bare();
    for name in ["blue-report", "grey-report"] {
        let description = format!("Writes the weekly report, as {name} does.");
        world.file(&format!(".agent/skills/{name}/SKILL.md"), skill_md(name, &description));
    }
    world.file(".agent/skills/mail/SKILL.md", skill_md("mail", "Writes mail, and may report."));
    let mut usage = Usage::default();
    assert_eq!(names(&route_with(&world, "write the weekly report", &usage, 3))[0], "blue-report");
    usage.note("grey-report", NOW);
    (0..50).for_each(|_| usage.note("mail", NOW));
    let routing = route_with(&world, "write the weekly report", &usage, 3);
    // Use is a gentle word: it does not bring what answers worse to the top.
    assert_eq!(names(&routing)[0], "grey-report");
    assert!(routing.matches[0].reasons.contains(&"used recently".to_owned()), "{routing:?}");
}

#[test]
fn s001_17_a_skill_called_by_name() {
    let world = World::new(Preset::SkillTool);
    world.skill("skills/code-review").skill("skills/other");
    for query in
        ["look at this with $code-review", "please use the Code-Review skill", "use code-review skill"]
    {
        let routing = route(&world, query);
        assert_eq!((names(&routing)[0], routing.full), ("code-review", 1), "{query}");
        assert_eq!(routing.matches[0].reasons[0], "mentioned by name");
    }
    assert_eq!(route(&world, "use `$code-review-pro`").full, 0);
}

#[test]
fn s004_13_a_slash_at_the_start_of_a_message() {
    let world = World::new(Preset::Chat);
    world.skill(".skills/pdf");
    assert_eq!(names(&route(&world, "/pdf merge"))[0], "pdf");
    assert_eq!(route(&world, "/none merge").full, 0);
    let usage = Usage::default();
    let deaf = Mention { slash: Recognised::No, dollar: Recognised::No };
    let options = Options { mention: deaf, ..Options::new(&usage, NOW) };
    assert_eq!(Router::new(world.snapshot()).route("/pdf $pdf", &options).full, 0);
}

#[test]
fn a_name_may_be_written_in_any_normal_form() {
    let world = World::new(Preset::Standard);
    world.skill("~/.agents/skills/übersetzung");
    assert_eq!(route(&world, "/u\u{308}bersetzung Hallo").pushed()[0].name, "übersetzung");
    assert_eq!(route(&world, "bitte: use the ÜBERSETZUNG skill").pushed()[0].name, "übersetzung");
}

#[test]
fn skills_that_the_model_may_not_choose_are_found_only_by_name() {
    let mut world = World::new(Preset::Standard);
    world.policy.scan.roots.retain(|root| root.to_string() != "bundled");
    let hidden = "---\nname: deploy\ndescription: Ships.\ndisable-model-invocation: true\n\
                  triggers: {keywords: [ship]}\n---\nx";
    world.file("~/.agents/skills/deploy/SKILL.md", hidden);
    assert_eq!(told(&route(&world, "ship it")), "tier 0, 0 in full\n");
    assert_eq!(route(&world, "/deploy").matches[0].kind, MatchKind::Explicit);
    let router = Router::offering(hello().snapshot(), |skill| skill.name() != "pdf");
    let usage = Usage::default();
    assert_eq!(names(&router.route("hello", &Options::new(&usage, NOW))), ["hello-extended"]);
    assert_eq!(router.route("$pdf", &Options::new(&usage, NOW)).pushed()[0].name, "pdf");
}

#[test]
fn where_folders_count_they_are_the_names() {
    let world = World::new(Preset::App);
    world.file(".agents/skills/reader/SKILL.md", skill_md("PDF Reader", "Reads invoices."));
    assert_eq!(names(&route(&world, "read my invoices"))[0], "reader");
    assert_eq!(route(&world, "/reader x").pushed()[0].name, "reader");
}

#[test]
fn bad_triggers_are_said_with_their_file() {
    let world = bare();
    world.file(".agent/skills/a/SKILL.md", triggered("a", "{keywords: [ok], patterns: ['(']}"));
    let router = Router::new(world.snapshot());
    let [located] = router.diagnostics() else { panic!("one diagnostic") };
    assert_eq!(located.path, world.path(".agent/skills/a/SKILL.md"));
    assert_eq!(
        located.diagnostic.to_string(),
        "warning[SK055]: the pattern \"(\" cannot be used: unclosed group"
    );
    assert_eq!(route(&world, "ok").full, 1);
}

#[test]
fn bodies_and_chinese_are_found() {
    let world = World::new(Preset::Standard);
    let body = |name: &str, body: &str| format!("---\nname: {name}\ndescription: d\n---\n{body}\n");
    world.file("~/.agents/skills/a/SKILL.md", body("a", "Zeppelins are repaired here."));
    world.file("~/.agents/skills/b/SKILL.md", body("b", "把合同翻译成英文"));
    assert_eq!(names(&route(&world, "repaired zeppelins"))[0], "a");
    assert_eq!(names(&route(&world, "帮我翻译这份合同"))[0], "b");
}

#[test]
fn a_long_message_ends_soon() {
    route(&hello(), &"merge hello $pdf `x` ".repeat(50_000));
}
