//! Recorded traffic replaces a model.

use prowess_evals::SessionStop;
use prowess_evals::gateway::{ReplayError, Traffic};
use prowess_testing::model::wire_format::{PROVIDERS, encode_reply, text};
use prowess_testing::model::{ModelServer, Reply};

use crate::support::{SKILL, SessionSetup, TestSkill, helpful_server};

#[tokio::test(flavor = "multi_thread")]
async fn a_replay_has_the_same_results_and_sends_nothing() {
    let (skill, server) = (TestSkill::new(&[]), helpful_server().await);
    let dir = skill.dir.path().join("traffic");
    let mut setup = SessionSetup::new(&skill, &server);
    setup.traffic = Traffic::Record(dir.clone());
    let (recorded, _) = setup.run().await;
    let sent = server.requests().len();

    // In parallel, and with a skill at another place.
    let moved = TestSkill::new(&[]);
    let mut setup = SessionSetup::new(&moved, &server);
    setup.traffic = Traffic::Replay(dir.clone());
    setup.options.jobs = 4;
    let (replayed, budget) = setup.run().await;
    assert_eq!(replayed.stopped, None);
    assert_eq!((server.requests().len(), budget.spending().requests), (sent, 0));
    for (recorded, replayed) in recorded.records.iter().zip(&replayed.records) {
        assert_eq!(recorded.grading, replayed.grading);
        assert_eq!(recorded.totals, replayed.totals);
        assert_eq!(recorded.outcome.reply, replayed.outcome.reply);
    }

    // A changed skill needs a new recording.
    let changed = TestSkill::new(&[("SKILL.md", &SKILL.replace("two decimals", "no decimals"))]);
    let mut setup = SessionSetup::new(&changed, &server);
    setup.traffic = Traffic::Replay(dir.clone());
    let (results, _) = setup.run().await;
    assert!(
        matches!(results.stopped, Some(SessionStop::Replay(ReplayError::Differs { .. }))),
        "{:?}",
        results.stopped
    );

    let mut setup = SessionSetup::new(&skill, &server);
    setup.traffic = Traffic::Replay(skill.dir.path().join("nothing"));
    let (results, _) = setup.run().await;
    assert!(matches!(results.stopped, Some(SessionStop::Replay(ReplayError::Missing { .. }))));
}

#[tokio::test(flavor = "multi_thread")]
async fn every_provider_is_recorded_and_metered() {
    for provider in PROVIDERS {
        let skill = TestSkill::new(&[]);
        let server =
            ModelServer::with_handler(move |_, _| Reply::events(encode_reply(provider, &[text("hello")])))
                .await;
        let dir = skill.dir.path().join("traffic");
        let mut setup = SessionSetup::new(&skill, &server);
        setup.provider = provider;
        setup.options.cases = vec!["2".to_owned()];
        setup.traffic = Traffic::Record(dir.clone());
        let (results, budget) = setup.run().await;
        assert_eq!(results.stopped, None, "{provider:?}");
        let usage = results.records[0].totals.usage;
        assert!(
            usage.input > 0 && usage.output > 0 && results.records[0].totals.unknown_usage == 0,
            "{provider:?}"
        );
        assert_eq!(budget.spending().tokens, 2 * (usage.input + usage.output));
        let sent = server.requests().len();
        let mut setup = SessionSetup::new(&skill, &server);
        setup.provider = provider;
        setup.options.cases = vec!["2".to_owned()];
        setup.traffic = Traffic::Replay(dir);
        let (replayed, _) = setup.run().await;
        assert_eq!((replayed.stopped, server.requests().len()), (None, sent), "{provider:?}");
        assert_eq!(replayed.records[0].totals, results.records[0].totals);
    }
}
