//! Installing skills from an address, and updating them.

use std::path::PathBuf;

use crate::skill_server::{site, skill_md};
use prowess::Preset;
use prowess_testing::servers::repository::Repository;
use serde_json::{Value, json};

/// Creates a repository with two skills, one of which the audit rejects, and returns its URL.
fn repository(path: PathBuf) -> (Repository, String) {
    let repository = Repository::new(path);
    let risky = format!("{}```sh\necho aGVsbG8= | base64 -d | bash\n```\n", skill_md("risky", "Is risky."));
    repository
        .write("skills/report/SKILL.md", skill_md("report", "Writes reports."))
        .write("skills/report/scripts/run.sh", "#!/bin/sh\ncurl https://example.com/x\n")
        .write("skills/risky/SKILL.md", risky)
        .commit("first");
    let url = format!("file://{}", repository.path.display());
    (repository, url)
}

fn find<'v>(plan: &'v Value, id: &str) -> &'v Value {
    plan["skills"].as_array().unwrap().iter().find(|skill| skill["id"] == id).unwrap()
}

#[tokio::test]
async fn skills_of_a_repository_are_previewed_installed_and_updated() {
    let site = site(Preset::Standard).start().await;
    let (repository, source) = repository(site.path("../source"));
    let install = async |body: Value| site.send("POST", "/api/skills/install", body).await;
    let (status, plan) = install(json!({"source": source, "dry_run": true})).await;
    assert_eq!(status, 200, "{plan}");
    assert!(!site.path("~/.agents/skills/report").exists(), "a dry run changes nothing");
    let report = find(&plan, "report");
    assert_eq!((&report["action"], &report["refused"]), (&json!("installed"), &json!(false)));
    let script =
        report["files"].as_array().unwrap().iter().find(|file| file["path"] == "scripts/run.sh").unwrap();
    assert_eq!(
        (&script["change"], &script["text"]),
        (&json!("added"), &json!("#!/bin/sh\ncurl https://example.com/x\n"))
    );
    assert_eq!(report["capabilities"]["scripts"], json!(["scripts/run.sh"]));
    assert_eq!(report["capabilities"]["hosts"], json!(["example.com"]));
    let risky = find(&plan, "risky");
    assert_eq!(risky["refused"], json!(true));
    assert!(risky["findings"][0]["line"].as_u64().unwrap() > 0);
    // A rejected skill is installed only if the risk is accepted.
    assert_eq!(install(json!({"source": source, "skills": ["risky"]})).await.0, 403);
    let trees = json!({"report": "sha256-tree-v1:0"});
    let body = json!({"source": source, "skills": ["report"], "accept": {"findings": true, "trees": trees}});
    let (status, changed) = install(body).await;
    assert_eq!(status, 409, "the source is not what was previewed: {changed}");
    let trees = json!({"report": report["tree"]});
    let body = json!({"source": source, "skills": ["report"], "accept": {"findings": true, "trees": trees}});
    assert_eq!(install(body.clone()).await.0, 200);
    assert!(site.available().await.contains(&"report".to_owned()));
    repository.write("skills/report/SKILL.md", skill_md("report", "Writes better reports.")).commit("second");
    let update = async |body: Value| site.send("POST", "/api/skills/update", body).await;
    let (status, plan) = update(json!({"dry_run": true})).await;
    assert_eq!(status, 200, "{plan}");
    let report = find(&plan, "report");
    let manifest =
        report["files"].as_array().unwrap().iter().find(|file| file["path"] == "SKILL.md").unwrap();
    assert_eq!((&report["action"], &manifest["change"]), (&json!("updated"), &json!("changed")));
    assert!(manifest["before"].as_str().unwrap().contains("Writes reports."));
    assert!(manifest["text"].as_str().unwrap().contains("Writes better reports."));
    let accept = json!({"findings": true, "trees": {"report": report["tree"]}});
    assert_eq!(update(json!({"skills": ["report"], "accept": accept})).await.0, 200);
    assert!(site.text("~/.agents/skills/report/SKILL.md").contains("Writes better reports."));
}

#[tokio::test]
async fn sources_on_the_server_and_invalid_ones_are_rejected() {
    let site = site(Preset::Standard).skill("elsewhere/pdf").start().await;
    let elsewhere = site.path("elsewhere");
    for source in
        ["", "/etc", "./elsewhere", "~/x", "--upload-pack=x", "ext::sh -c x", elsewhere.to_str().unwrap()]
    {
        let (status, problem) =
            site.send("POST", "/api/skills/install", json!({"source": source, "dry_run": true})).await;
        assert_eq!(status, 400, "{source}: {problem}");
    }
    assert_eq!(site.send("POST", "/api/skills/install", json!({"source": "a/b", "more": 1})).await.0, 400);
    let (status, nothing) = site.send("POST", "/api/skills/update", json!({"dry_run": true})).await;
    assert_eq!((status, &nothing["skills"]), (200, &json!([])));
}
