//! Routing: the tiers and ranking of document 003, and the mentions of documents 001 and 004.

use prowess::Preset;
use prowess::policy::{MentionPolicy, MentionSyntax};
use prowess::usage::SkillUsage;
use prowess_routing::{MatchKind, RouteOptions, Router, Routing};
use prowess_testing::registry_env::{RegistryEnv, skill_md};

const NOW: u64 = 1_800_000_000;

fn triggered(name: &str, triggers: &str) -> String {
    format!("---\nname: {name}\ndescription: Does {name}.\ntriggers: {triggers}\n---\n\nDo it.\n")
}

/// A project without bundled skills.
fn bare() -> RegistryEnv {
    let mut project = RegistryEnv::new(Preset::Triggers);
    project.policy.scan.roots.retain(|root| root.to_string() != "bundled");
    project
}

fn route(project: &RegistryEnv, query: &str) -> Routing {
    route_with(project, query, &SkillUsage::default(), 5)
}

fn route_with(project: &RegistryEnv, query: &str, usage: &SkillUsage, k: usize) -> Routing {
    let router = Router::new(project.snapshot());
    router.route(query, &RouteOptions { k, ..RouteOptions::new(usage, NOW) })
}

fn render(routing: &Routing) -> String {
    let mut text = format!("tier {}, {} in full\n", routing.tier.number(), routing.full_count);
    for found in &routing.matches {
        let (name, kind) = (&found.name, found.kind.as_str());
        text.push_str(&format!("{name} {:.1} ({kind}) {}\n", found.score, found.reasons.join("; ")));
    }
    text
}

fn names(routing: &Routing) -> Vec<&str> {
    routing.matches.iter().map(|found| found.name.as_str()).collect()
}

fn hello() -> RegistryEnv {
    let project = bare();
    let triggers = r#"{keywords: [hello, say hello], verbs: [wave], patterns: ['greet\s+\w+']}"#;
    project.file(".agent/skills/hello-extended/SKILL.md", triggered("hello-extended", triggers));
    project.file(".agent/skills/pdf/SKILL.md", triggered("pdf", "{keywords: [pdf, hello]}"));
    project
}

#[test]
fn s003_02_nothing_without_skills() {
    assert_eq!(render(&route(&bare(), "hello")), "tier 0, 0 in full\n");
    assert_eq!(render(&route(&bare(), "what can you do?")), "tier 0, 0 in full\n");
}

#[test]
fn s003_03_a_breadcrumb_if_no_trigger_matches() {
    let project = hello();
    let routing = route(&project, "Othello reads pdfs");
    assert_eq!((routing.tier.number(), routing.full_count), (1, 0));
    assert!(routing.matches.iter().all(|found| found.kind == MatchKind::Lexical), "{routing:?}");
    assert_eq!(route(&project, "").tier.number(), 1);
    // Skills without triggers, such as the bundled ones, change nothing.
    project.skill(".agent/skills/plain");
    assert_eq!(route(&project, "be plain").tier.number(), 1);
}

#[test]
fn s003_04_the_registry_on_request_or_without_triggers() {
    assert_eq!(render(&route(&hello(), "Hello, what can you do?")), "tier 2, 0 in full\n");
    assert_eq!(route(&hello(), "list skills").tier.number(), 2);
    assert_eq!(route(&hello(), "你有哪些技能？").tier.number(), 2);
    let plain = bare();
    plain.skill(".agent/skills/plain");
    insta::assert_snapshot!(render(&route(&plain, "be plain")), @"
    tier 2, 0 in full
    plain 18.4 (lexical) lexical: 18.4; in its name: plain
    ");
    assert_eq!(route(&plain, "zzz").tier.number(), 2);
}

#[test]
fn s003_05_complete_skills_if_triggers_match() {
    insta::assert_snapshot!(render(&route(&hello(), "Say HELLO, wave and greet Anna")), @r"
    tier 3, 2 in full
    hello-extended 2003.6 (trigger) phrase: say hello; keyword: hello; verb: wave; pattern: greet\s+\w+; lexical: 11.0
    pdf 1000.6 (trigger) keyword: hello; lexical: 3.3
    ");
}

#[test]
fn s003_06_mention_then_phrase_then_keyword_then_words() {
    let project = bare();
    project.file(".agent/skills/phrase/SKILL.md", triggered("phrase", "{keywords: [merge files]}"));
    project.file(".agent/skills/keyword/SKILL.md", triggered("keyword", "{keywords: [merge]}"));
    project.file(".agent/skills/used/SKILL.md", triggered("used", "{verbs: [merge]}"));
    project.file(".agent/skills/named-one/SKILL.md", triggered("named-one", "{verbs: [merge]}"));
    project.file(".agent/skills/words/SKILL.md", skill_md("words", "Can merge things."));
    let mut usage = SkillUsage::default();
    usage.record_at("used", NOW - 60);
    insta::assert_snapshot!(render(&route_with(&project, "merge files with named-one", &usage, 5)), @"
    tier 3, 3 in full
    named-one 3000.5 (explicit) mentioned by name; verb: merge; lexical: 18.4
    phrase 2001.0 (trigger) phrase: merge files; lexical: 6.8
    used 1001.5 (trigger) verb: merge; used recently; lexical: 4.3
    keyword 1000.5 (trigger) keyword: merge; lexical: 4.8
    words 4.3 (lexical) lexical: 4.3; in its description: merge
    ");
    let routing = route_with(&project, "merge files with named-one", &usage, 0);
    assert_eq!(names(&routing), ["named-one", "phrase", "used"]);
    assert_eq!(routing.full_matches().len(), 3);
    // A name alone is not a mention.
    assert_eq!(route(&project, "named-one").tier.number(), 1);
}

#[test]
fn s003_06_recent_use_decides_between_similar_matches() {
    let project = bare();
    for name in ["blue-report", "grey-report"] {
        let description = format!("Writes the weekly report, as {name} does.");
        project.file(&format!(".agent/skills/{name}/SKILL.md"), skill_md(name, &description));
    }
    project.file(".agent/skills/mail/SKILL.md", skill_md("mail", "Writes mail, and may report."));
    let mut usage = SkillUsage::default();
    assert_eq!(names(&route_with(&project, "write the weekly report", &usage, 3))[0], "blue-report");
    usage.record_at("grey-report", NOW);
    (0..50).for_each(|_| usage.record_at("mail", NOW));
    let routing = route_with(&project, "write the weekly report", &usage, 3);
    // Usage only adds a small bonus: it does not lift a worse match to the top.
    assert_eq!(names(&routing)[0], "grey-report");
    assert!(routing.matches[0].reasons.contains(&"used recently".to_owned()), "{routing:?}");
}

#[test]
fn s001_17_a_skill_mentioned_by_name() {
    let project = RegistryEnv::new(Preset::SkillTool);
    project.skill("skills/code-review").skill("skills/other");
    for query in
        ["look at this with $code-review", "please use the Code-Review skill", "use code-review skill"]
    {
        let routing = route(&project, query);
        assert_eq!((names(&routing)[0], routing.full_count), ("code-review", 1), "{query}");
        assert_eq!(routing.matches[0].reasons[0], "mentioned by name");
    }
    assert_eq!(route(&project, "use `$code-review-pro`").full_count, 0);
}

#[test]
fn s004_13_a_slash_at_the_start_of_a_message() {
    let project = RegistryEnv::new(Preset::Chat);
    project.skill(".skills/pdf");
    assert_eq!(names(&route(&project, "/pdf merge"))[0], "pdf");
    assert_eq!(route(&project, "/none merge").full_count, 0);
    let usage = SkillUsage::default();
    let disabled = MentionPolicy { slash: MentionSyntax::Disabled, dollar: MentionSyntax::Disabled };
    let options = RouteOptions { mention: disabled, ..RouteOptions::new(&usage, NOW) };
    assert_eq!(Router::new(project.snapshot()).route("/pdf $pdf", &options).full_count, 0);
}

#[test]
fn a_name_matches_in_any_unicode_normal_form() {
    let project = RegistryEnv::new(Preset::Standard);
    project.skill("~/.agents/skills/übersetzung");
    assert_eq!(route(&project, "/u\u{308}bersetzung Hallo").full_matches()[0].name, "übersetzung");
    assert_eq!(route(&project, "bitte: use the ÜBERSETZUNG skill").full_matches()[0].name, "übersetzung");
}

#[test]
fn skills_hidden_from_the_model_are_found_only_by_name() {
    let mut project = RegistryEnv::new(Preset::Standard);
    project.policy.scan.roots.retain(|root| root.to_string() != "bundled");
    let hidden = "---\nname: deploy\ndescription: Ships.\ndisable-model-invocation: true\n\
                  triggers: {keywords: [ship]}\n---\nx";
    project.file("~/.agents/skills/deploy/SKILL.md", hidden);
    assert_eq!(render(&route(&project, "ship it")), "tier 0, 0 in full\n");
    assert_eq!(route(&project, "/deploy").matches[0].kind, MatchKind::Explicit);
    let router = Router::with_filter(hello().snapshot(), |skill| skill.name() != "pdf");
    let usage = SkillUsage::default();
    assert_eq!(names(&router.route("hello", &RouteOptions::new(&usage, NOW))), ["hello-extended"]);
    assert_eq!(router.route("$pdf", &RouteOptions::new(&usage, NOW)).full_matches()[0].name, "pdf");
}

#[test]
fn the_directory_is_the_name_if_the_preset_says_so() {
    let project = RegistryEnv::new(Preset::App);
    project.file(".agents/skills/reader/SKILL.md", skill_md("PDF Reader", "Reads invoices."));
    assert_eq!(names(&route(&project, "read my invoices"))[0], "reader");
    assert_eq!(route(&project, "/reader x").full_matches()[0].name, "reader");
}

#[test]
fn invalid_triggers_are_reported_with_their_file() {
    let project = bare();
    project.file(".agent/skills/a/SKILL.md", triggered("a", "{keywords: [zeppelin], patterns: ['(']}"));
    let router = Router::new(project.snapshot());
    let [located] = router.diagnostics() else { panic!("one diagnostic") };
    assert_eq!(located.path, project.path(".agent/skills/a/SKILL.md"));
    assert_eq!(located.diagnostic.to_string(), "warning[SK055]: invalid pattern \"(\": unclosed group");
    assert_eq!(route(&project, "zeppelin").full_count, 1);
}

#[test]
fn everyday_keywords_do_not_outrank_an_exact_match() {
    let project = bare();
    project.file(
        ".agent/skills/greedy/SKILL.md",
        triggered("greedy", "{keywords: [write, please, the, help me]}"),
    );
    project.file(".agent/skills/poems/SKILL.md", skill_md("poems", "Writes poems and songs."));
    let routing = route(&project, "please help me write the poems");
    assert_eq!((names(&routing)[0], routing.full_count), ("poems", 0));
    // A mention by name stays first.
    assert_eq!(route(&project, "/greedy write the poems").full_matches()[0].name, "greedy");
}

#[test]
fn keywords_that_most_skills_share_do_not_activate_all_of_them() {
    let project = bare();
    for number in 0..12 {
        let triggers = format!("{{keywords: [acme, part{number}]}}");
        project
            .file(&format!(".agent/skills/s{number}/SKILL.md"), triggered(&format!("s{number}"), &triggers));
    }
    assert_eq!(route(&project, "acme").full_count, 0);
    let routing = route(&project, "the part7 of acme");
    assert_eq!((names(&routing)[0], routing.full_count), ("s7", 1));
    assert_eq!(routing.matches[0].score, 1001.0);
    let router = Router::new(project.snapshot());
    let (names, advice) = router.lint();
    assert_eq!((names.len(), advice.len()), (12, 12));
    assert!(advice.iter().all(|advice| advice.general_triggers == ["acme"]));
}

#[test]
fn bodies_and_chinese_are_found() {
    let project = RegistryEnv::new(Preset::Standard);
    let body = |name: &str, body: &str| format!("---\nname: {name}\ndescription: d\n---\n{body}\n");
    project.file("~/.agents/skills/a/SKILL.md", body("a", "Zeppelins are repaired here."));
    project.file("~/.agents/skills/b/SKILL.md", body("b", "把合同翻译成英文"));
    assert_eq!(names(&route(&project, "repaired zeppelins"))[0], "a");
    assert_eq!(names(&route(&project, "帮我翻译这份合同"))[0], "b");
}

#[test]
fn a_long_message_is_handled() {
    route(&hello(), &"merge hello $pdf `x` ".repeat(50_000));
}
