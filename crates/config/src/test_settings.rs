//! The settings of `prowess test`: the judge, prices, and limits. Data only; another crate runs evaluations.

use std::time::Duration;

/// The section `[test]`.
///
/// ```
/// assert_eq!(prowess_config::TestSettings::default().max_requests, 500);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestSettings {
    /// The provider's name of the model that grades expectations, if any.
    pub judge_model: Option<String>,
    /// The prices of models: `MODEL=INPUT/OUTPUT[/CACHE-READ[/CACHE-WRITE]]`, in dollars per million tokens.
    pub prices: Vec<String>,
    /// The maximum number of requests of a session.
    pub max_requests: u64,
    /// The maximum number of tokens of a session.
    pub max_tokens: u64,
    /// The maximum cost of a session, in cents; `None` for no limit.
    pub max_cents: Option<u32>,
    /// The maximum time of a session.
    pub max_time: Duration,
    /// The maximum time of a run.
    pub run_timeout: Duration,
    /// The number of runs at the same time.
    pub jobs: u64,
}

impl Default for TestSettings {
    fn default() -> Self {
        Self {
            judge_model: None,
            prices: Vec::new(),
            max_requests: 500,
            max_tokens: 2_000_000,
            max_cents: None,
            max_time: Duration::from_secs(3_600),
            run_timeout: Duration::from_secs(300),
            jobs: 2,
        }
    }
}
