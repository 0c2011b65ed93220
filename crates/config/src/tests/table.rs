//! Every key can be set, written back, and is documented.

use serde_json::{Value as Json, json};

use super::TestProject;
use crate::choices::NamedChoice;
use crate::tree::parse_toml;
use crate::values::ConfigValues;
use crate::{
    ChatFileLimits, ChatLimits, ChatProvider, ChatSettings, ChatTimeouts, CheckSettings, ConfigKey,
    EmbeddingsProvider, EmbeddingsSettings, KEYS, ModelSettings, SettingOrigin, TestSettings, find_key,
};
use prowess::policy::{
    CatalogPolicy, EnvironmentSettings, MentionPolicy, Policy, Preset, ReadLimits, RunLimits, RunPolicy,
    ScanPolicy, SkillSelection,
};
use prowess_format::Rules;

/// Values of every type; each key accepts some of them.
pub(super) fn samples(key: &ConfigKey) -> Vec<Json> {
    let lists = [
        json!([]),
        json!(["pdf", "source:/opt/skills"]),
        json!(["/opt/a", "/opt/b"]),
        json!([".skills", "~/s"]),
        json!(["https://skills.example"]),
        json!(["SK044", "vendor/**:SK063"]),
        json!([
            {"label": "docs", "command": "docs-server", "args": ["--skills"], "env": ["DOCS_KEY"]},
            {"label": "team", "url": "https://skills.example/mcp", "token-env": "TEAM", "timeout-ms": 100, "enabled": false},
        ]),
    ];
    let tables = [
        json!({}),
        json!({"x-a": "***"}),
        json!({"top_k": 5, "options": {"seeds": [1, 0.5], "exact": true}}),
        json!({"model-1": {"thinking": 2_000, "effort": "low", "temperature": 0.25, "max-output-tokens": 9,
            "extra-headers": {"x-a": "***"}, "extra-body": {"top_k": 5}}}),
    ];
    let plain =
        [json!(0.5), json!(true), json!(false), json!(1), json!(7), json!(100), json!(5_000), json!(6_000)];
    let texts = [json!("https://models.example/v1"), json!("MODEL_KEY"), json!("/opt/key")];
    let words = key.field.words().into_iter().map(|word| match word {
        "true" | "false" => json!(word == "true"),
        word => json!(word),
    });
    words.chain(plain).chain(texts).chain(lists).chain(tables).filter(|sample| accepts(key, sample)).collect()
}

/// Formats a value as TOML on one line.
pub(super) fn as_toml(value: &Json) -> String {
    match value {
        Json::Object(entries) => {
            let entries: Vec<_> =
                entries.iter().map(|(key, value)| format!("{key} = {}", as_toml(value))).collect();
            format!("{{ {} }}", entries.join(", "))
        }
        Json::Array(items) => format!("[{}]", items.iter().map(as_toml).collect::<Vec<_>>().join(", ")),
        other => other.to_string(),
    }
}

fn accepts(key: &ConfigKey, sample: &Json) -> bool {
    let tree = parse_toml(&format!("x = {}", as_toml(sample)), &["x"]).unwrap().unwrap();
    key.field
        .parse_into(&tree, &mut ConfigValues::from_policy(Policy::default(), Some("/home".into())))
        .is_ok()
}

#[test]
fn every_key_round_trips_through_toml_and_yaml() {
    for key in KEYS {
        let written: Vec<Json> = samples(key)
            .iter()
            .map(|sample| {
                let (section, name) = key.name.split_once('.').unwrap_or(("", key.name));
                let yaml = match section {
                    "" => format!("{name}: {sample}\n"),
                    section => format!("{section}:\n  {name}: {sample}\n"),
                };
                let toml = TestProject::new()
                    .config_file("g.toml", &format!("{} = {}\n", key.name, as_toml(sample)))
                    .load();
                let yaml = TestProject::new().config_file("g.yaml", &yaml).load();
                assert_eq!(
                    (&toml.diagnostics, &toml.policy, &toml.chat, &toml.embeddings),
                    (&yaml.diagnostics, &yaml.policy, &yaml.chat, &yaml.embeddings),
                    "{}",
                    key.name
                );
                let setting = toml.setting(key.name).unwrap();
                assert!(matches!(setting.origin, SettingOrigin::File { line: 1, .. }), "{setting:?}");
                let again = TestProject::new()
                    .config_file("g.toml", &format!("{} = {}\n", key.name, as_toml(&setting.value)))
                    .load();
                assert_eq!(again.setting(key.name).unwrap().value, setting.value);
                assert_eq!((again.policy, again.chat), (toml.policy.clone(), toml.chat.clone()));
                setting.value.clone()
            })
            .collect();
        assert!(
            written.iter().any(|value| *value != written[0]),
            "{} accepts two values: {written:?}",
            key.name
        );
    }
}

#[test]
fn every_key_sets_itself_and_nothing_else() {
    for key in KEYS.iter().filter(|key| key.name != "preset") {
        let before = TestProject::new().load();
        for sample in samples(key) {
            let after = TestProject::new()
                .config_file("g.toml", &format!("{} = {}\n", key.name, as_toml(&sample)))
                .load();
            for (before, after) in before.settings.iter().zip(&after.settings) {
                assert!(before.key == key.name || before == after, "{} changed {}", key.name, before.key);
            }
        }
    }
}

/// A new field of the policy does not compile here until it is listed; then update the number of keys.
#[test]
fn every_field_of_the_policy_has_a_key() {
    let Policy {
        preset: _,
        enabled: _,
        scan:
            ScanPolicy {
                roots: _,
                ancestors: _,
                depth: _,
                max_directories: _,
                max_entries: _,
                max_skills: _,
                links: _,
                identity: _,
                duplicates: _,
                requires: _,
            },
        manifest:
            Rules {
                name: _,
                name_form: _,
                name_max: _,
                name_missing: _,
                name_folder: _,
                description_max: _,
                description_long: _,
                field_form: _,
                metadata_values: _,
                known_keys: _,
                unknown_keys: _,
                duplicate_keys: _,
                preamble: _,
                lowercase_file: _,
                repair: _,
            },
        trust: _,
        selection:
            SkillSelection {
                disabled: _,
                enabled: _,
                disabled_bundled: _,
                enabled_bundled: _,
                pinned: _,
                name_only: _,
                manual: _,
            },
        read_extensions: _,
        limits: ReadLimits { skill_md_bytes: _, resource_bytes: _ },
        catalog:
            CatalogPolicy {
                format: _,
                location: _,
                budget_chars: _,
                budget_tokens: _,
                window_tokens: _,
                window_percent: _,
            },
        activation: _,
        mention: MentionPolicy { slash: _, dollar: _ },
        refresh: _,
        run:
            RunPolicy {
                scripts: _,
                allowed_tools: _,
                directory: _,
                allowed_skills: _,
                denied_skills: _,
                network: _,
                env: _,
                client_roots: _,
                limits:
                    RunLimits {
                        time: _,
                        output_bytes: _,
                        memory_bytes: _,
                        processes: _,
                        file_bytes: _,
                        open_files: _,
                        scratch_bytes: _,
                        arguments: _,
                        workspace_bytes: _,
                        workspace_files: _,
                        argument_bytes: _,
                    },
                environments: EnvironmentSettings { python_index: _, npm_registry: _, hosts: _, directory: _ },
            },
    } = Policy::default();
    let ChatSettings {
        provider: _,
        model: _,
        skill_models: _,
        base_url: _,
        allow_http: _,
        key_env: _,
        key_file: _,
        tools: _,
        limits:
            ChatLimits {
                steps: _,
                output_tokens: _,
                context_tokens: _,
                turn_tokens: _,
                result_bytes: _,
                retries: _,
                compact: _,
            },
        files: ChatFileLimits { file_bytes: _, workspace_bytes: _, workspace_files: _ },
        timeouts: ChatTimeouts { connect: _, first_byte: _, idle: _, request: _ },
        store: _,
        request:
            ModelSettings {
                thinking: _,
                effort: _,
                temperature: _,
                // Only in `chat.models`.
                output_tokens: _,
                extra_headers: _,
                extra_body: _,
            },
        models: _,
    } = ChatSettings::default();
    let EmbeddingsSettings {
        provider: _,
        model: _,
        base_url: _,
        allow_http: _,
        key_env: _,
        weight: _,
        timeout: _,
    } = EmbeddingsSettings::default();
    let CheckSettings { ignore: _ } = CheckSettings::default();
    let TestSettings {
        judge_model: _,
        prices: _,
        max_requests: _,
        max_tokens: _,
        max_cents: _,
        max_time: _,
        run_timeout: _,
        jobs: _,
    } = TestSettings::default();
    // One each for `activation.max-pushed`, `sources.mcp` and `sources.indexes`.
    assert_eq!(KEYS.len(), 2 + 10 + 15 + 1 + 7 + 3 + 6 + 1 + 2 + 1 + 1 + 1 + 1 + 1 + 19 + 4 + 29 + 7 + 8);
}

#[test]
fn names_of_presets_match_the_configuration() {
    let words: Vec<_> = Preset::NAMES.iter().map(|(word, preset)| (*word, *preset)).collect();
    assert_eq!(words, Preset::ALL.map(|preset| (preset.as_str(), preset)));
}

#[test]
fn names_of_providers_match_the_configuration() {
    let words: Vec<_> = ChatProvider::NAMES.iter().map(|(word, provider)| (*word, *provider)).collect();
    assert_eq!(words, ChatProvider::ALL.map(|provider| (provider.as_str(), provider)));
    let words: Vec<_> = EmbeddingsProvider::NAMES.iter().map(|(word, provider)| (*word, *provider)).collect();
    assert_eq!(words, EmbeddingsProvider::ALL.map(|provider| (provider.as_str(), provider)));
}

#[test]
fn names_are_unique_and_grouped_by_section() {
    let mut names: Vec<_> = KEYS.iter().map(|key| key.name).collect();
    let sections: Vec<_> =
        names.iter().map(|name| name.split_once('.').map_or(*name, |(section, _)| section)).collect();
    let mut runs = sections.clone();
    runs.dedup();
    let mut unique = runs.clone();
    unique.sort_unstable();
    unique.dedup();
    assert_eq!(runs.len(), unique.len(), "{runs:?}");
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), KEYS.len());
    assert!(find_key("scan").is_none());
}

#[test]
fn the_settings_of_the_standard_preset() {
    let settings = TestProject::new().load().settings;
    let lines =
        settings.iter().map(|setting| format!("{} = {} ({})", setting.key, setting.value, setting.origin));
    insta::assert_snapshot!(lines.collect::<Vec<_>>().join("\n"));
}

#[test]
fn the_documentation_lists_every_key() {
    let document = include_str!("../../../../docs/configuration.md");
    let values = ConfigValues::from_policy(Policy::default(), None);
    let rows: Vec<_> = KEYS
        .iter()
        .map(|key| {
            let default = key.field.to_json(&values).to_string();
            let (takes, who) = (key.expected(), key.settable_by());
            format!("| `{}` | {} | {takes} | `{default}` | {who} |", key.name, key.about)
        })
        .collect();
    let missing: Vec<_> =
        rows.iter().filter(|row| !document.contains(row.as_str())).map(String::as_str).collect();
    assert!(missing.is_empty(), "docs/configuration.md lacks these rows:\n{}", missing.join("\n"));
}
