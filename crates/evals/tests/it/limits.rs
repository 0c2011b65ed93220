//! No limit is exceeded, and a killed test continues. The model server counts.

use std::time::Duration;

use prowess_evals::SessionStop;
use prowess_evals::budget::{CapError, Caps};
use prowess_testing::model::{ModelServer, Reply, ReplyPiece};
use tokio_util::sync::CancellationToken;

use crate::support::{SessionSetup, TestSkill, caps, helpful_server};

#[tokio::test(flavor = "multi_thread")]
async fn requests_are_never_exceeded_in_parallel() {
    let (skill, server) = (TestSkill::new(&[]), helpful_server().await);
    let mut setup = SessionSetup::new(&skill, &server);
    setup.caps = Caps { requests: 5, ..caps() };
    (setup.options.runs, setup.options.jobs) = (10, 8);
    let (results, budget) = setup.run().await;
    assert_eq!(results.stopped, Some(SessionStop::Cap(CapError::Requests(5))));
    // A request that was counted may be cancelled before it is sent.
    assert!(server.requests().len() <= 5);
    assert_eq!(budget.spending().requests, 5);
}

#[tokio::test(flavor = "multi_thread")]
async fn tokens_and_money_are_checked_before_a_request() {
    let (skill, server) = (TestSkill::new(&[]), helpful_server().await);
    let mut setup = SessionSetup::new(&skill, &server);
    // Less than the bytes of the first request and its reply.
    setup.caps = Caps { tokens: 1_200, ..caps() };
    let (results, _) = setup.run().await;
    assert_eq!(results.stopped, Some(SessionStop::Cap(CapError::Tokens(1_200))));
    assert_eq!(server.requests().len(), 0);

    let mut setup = SessionSetup::new(&skill, &server);
    setup.caps = Caps { cost: Some(0.000_1), ..caps() };
    setup.prices = vec!["test-model=1000/1000"];
    let (results, budget) = setup.run().await;
    assert_eq!(results.stopped, Some(SessionStop::Cap(CapError::Cost(0.000_1))));
    assert_eq!((server.requests().len(), budget.spending().picodollars), (0, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn retries_count_as_requests() {
    let skill = TestSkill::new(&[]);
    let server = ModelServer::with_handler(|_, _| Reply::failure(503, "{}")).await;
    let mut setup = SessionSetup::new(&skill, &server);
    setup.caps = Caps { requests: 3, ..caps() };
    let (results, budget) = setup.run().await;
    assert_eq!(results.stopped, Some(SessionStop::Cap(CapError::Requests(3))));
    assert_eq!((server.requests().len(), budget.spending().requests), (3, 3));
}

#[tokio::test(flavor = "multi_thread")]
async fn time_ends_a_test() {
    let skill = TestSkill::new(&[]);
    let server = ModelServer::with_handler(|_, _| Reply::events("").then(ReplyPiece::Hang)).await;
    let mut setup = SessionSetup::new(&skill, &server);
    setup.caps = Caps { time: Duration::from_millis(700), ..caps() };
    let (results, _) = setup.run().await;
    assert_eq!(results.stopped, Some(SessionStop::Cap(CapError::Time(Duration::from_millis(700)))));
}

#[tokio::test(flavor = "multi_thread")]
async fn stored_results_are_used_until_something_changes() {
    let (skill, server) = (TestSkill::new(&[]), helpful_server().await);
    let stored = |model: &str| {
        let mut setup = SessionSetup::new(&skill, &server);
        setup.store = true;
        setup.options.model = model.to_owned();
        setup
    };
    stored("test-model").run().await;
    let sent = server.requests().len();
    let (results, _) = stored("test-model").run().await;
    assert_eq!(server.requests().len(), sent);
    assert!(results.records.iter().all(|record| record.cached && record.score().is_some()));
    assert_eq!(results.records[0].outcome.files[0].path, "total.txt");
    stored("other-model").run().await;
    assert_eq!(server.requests().len(), 2 * sent);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_test_continues_where_it_stopped() {
    let skill = TestSkill::new(&[]);
    let server = helpful_server().await;
    let cancel = CancellationToken::new();
    let mut setup = SessionSetup::new(&skill, &server);
    setup.store = true;
    setup.options.runs = 3;
    let stop = cancel.clone();
    let running = setup.run_until(&cancel);
    let watch = async {
        while server.requests().len() < 4 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        stop.cancel();
    };
    let ((results, _), ()) = tokio::join!(running, watch);
    assert_eq!(results.stopped, Some(SessionStop::Cancelled));
    let before = server.requests().len() as u64;
    let finished = results.records.len();
    assert!(finished > 0);

    let mut setup = SessionSetup::new(&skill, &server);
    setup.store = true;
    setup.options.runs = 3;
    let (results, budget) = setup.run().await;
    assert_eq!((results.stopped, results.records.len()), (None, 12));
    assert_eq!(results.records.iter().filter(|record| record.cached).count(), finished);
    // What was spent before counts. The last request before the end may have been counted, but not sent.
    let (counted, sent) = (budget.spending().requests, server.requests().len() as u64);
    assert!(counted > before && (sent..=sent + 1).contains(&counted), "{counted} {sent}");
}
