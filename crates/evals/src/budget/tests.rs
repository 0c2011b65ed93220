use proptest::prelude::*;

use super::*;

fn caps() -> Caps {
    Caps { requests: 3, tokens: 1_000, cost: None, time: Duration::from_secs(60) }
}

fn budget(caps: Caps) -> Arc<Budget> {
    let prices = PriceTable::parse(["m=1/10/0.1/2"]).unwrap();
    Arc::new(Budget::open(caps, prices, None).unwrap())
}

fn usage(input: u64, output: u64) -> RequestUsage {
    RequestUsage { input, output, ..RequestUsage::default() }
}

#[tokio::test]
async fn requests_beyond_a_limit_are_refused() {
    let counted = budget(caps());
    for _ in 0..3 {
        counted.reserve("m", 10, 10).await.unwrap().settle(usage(5, 5));
    }
    assert_eq!(counted.reserve("m", 1, 1).await.unwrap_err(), CapError::Requests(3));
    assert_eq!(counted.spending().tokens, 30);

    let tokens = budget(caps());
    assert_eq!(tokens.reserve("m", 900, 101).await.unwrap_err(), CapError::Tokens(1_000));
    assert_eq!(tokens.spending(), Spending::default());

    let dollars = budget(Caps { cost: Some(0.001), ..caps() });
    // 100 × $2 + 80 × $10 per million is exactly the limit.
    dollars.reserve("m", 100, 80).await.unwrap().settle(RequestUsage {
        input: 100,
        cache_read: 50,
        cache_write: 10,
        output: 10,
    });
    assert_eq!(dollars.spending().picodollars, 40_000_000 + 5_000_000 + 20_000_000 + 100_000_000);
    assert_eq!(dollars.reserve("m", 100, 80).await.unwrap_err(), CapError::Cost(0.001));
    assert_eq!(dollars.reserve("x", 1, 1).await.unwrap_err(), CapError::UnknownPrice("x".to_owned()));

    let time = budget(Caps { time: Duration::ZERO, ..caps() });
    assert_eq!(time.reserve("m", 1, 1).await.unwrap_err(), CapError::Time(Duration::ZERO));
}

#[tokio::test]
async fn unknown_usage_counts_as_the_reservation() {
    let budget = budget(caps());
    drop(budget.reserve("m", 300, 300).await.unwrap());
    assert_eq!(budget.spending().tokens, 600);
    assert_eq!(budget.reserve("m", 300, 300).await.unwrap_err(), CapError::Tokens(1_000));
}

#[tokio::test]
async fn a_request_waits_for_others_before_it_is_refused() {
    let budget = budget(caps());
    let first = budget.reserve("m", 400, 400).await.unwrap();
    let waiting = tokio::spawn({
        let budget = Arc::clone(&budget);
        async move { budget.reserve("m", 400, 400).await.map(drop) }
    });
    tokio::task::yield_now().await;
    assert!(!waiting.is_finished());
    first.settle(usage(50, 50));
    waiting.await.unwrap().unwrap();
    assert_eq!(
        budget.spending(),
        Spending { requests: 2, tokens: 900, picodollars: 5_350_000_000, milliseconds: 0 }
    );
}

#[tokio::test]
async fn spending_is_on_disk_before_a_request() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("spending.json");
    let open = || Budget::open(caps(), PriceTable::default(), Some(file.clone())).map(Arc::new);
    let killed = open().unwrap();
    let reservation = killed.reserve("m", 100, 100).await.unwrap();
    // As after a kill: nothing was settled.
    let resumed = open().unwrap();
    assert_eq!((resumed.spending().requests, resumed.spending().tokens), (1, 200));
    drop(reservation);
    std::fs::write(&file, "{").unwrap();
    assert!(matches!(open(), Err(CapError::Record(_))));
}

#[test]
fn the_longest_name_of_a_model_decides_its_price() {
    let prices = PriceTable::parse(["gpt=1/2", "gpt-mini=3/4", " claude = 5/6 "]).unwrap();
    let input = |model: &str| prices.get(model).map(|price| price.input);
    assert_eq!(input("gpt-mini-2026-01-01"), Some(3_000_000));
    assert_eq!(input("gpt-4"), Some(1_000_000));
    assert_eq!(input("gptx"), None);
    assert_eq!(input("claude"), Some(5_000_000));
    for invalid in ["m", "m=1", "m=1/2/3/4/5", "=1/2", "m=-1/2", "m=NaN/1", "m=1/x"] {
        assert!(PriceTable::parse([invalid]).is_err(), "{invalid}");
    }
}

proptest! {
    #[test]
    fn no_limit_is_ever_exceeded(requests in prop::collection::vec((0_u64..500, 0_u64..500, 0_u64..=100), 1..40)) {
        let caps = Caps { requests: 20, tokens: 3_000, cost: Some(0.01), time: Duration::from_secs(60) };
        let budget = budget(caps);
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        for (input, output, percent) in requests {
            if let Ok(reservation) = runtime.block_on(budget.reserve("m", input, output)) {
                reservation.settle(usage(input * percent / 100, output * percent / 100));
            }
            let spending = budget.spending();
            prop_assert!(spending.requests <= 20 && spending.tokens <= 3_000 && spending.dollars() <= 0.01);
        }
    }
}
