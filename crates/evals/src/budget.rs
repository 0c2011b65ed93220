//! Hard limits on requests, tokens, money and time.
//!
//! Before a request is sent, the most it can cost is reserved. A request whose reservation does not fit is not sent, so no
//! limit is ever exceeded. When the usage is known, it replaces the reservation; if it never becomes known, the reservation
//! counts as spent. The sum is written to a file before each request, so that a run that was killed continues with it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use tokio::sync::Notify;

/// The number of picodollars of a dollar.
const PICODOLLARS: f64 = 1e12;

/// The limits of all runs together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Caps {
    /// The maximum number of requests to models.
    pub requests: u64,
    /// The maximum number of input and output tokens.
    pub tokens: u64,
    /// The maximum cost in dollars; `None` for no limit.
    pub cost: Option<f64>,
    /// The maximum time.
    pub time: Duration,
}

/// The price of a model, in picodollars per token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Price {
    input: u64,
    output: u64,
    cache_read: u64,
    cache_write: u64,
}

/// Why a price is invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0} is not a price; write MODEL=INPUT/OUTPUT[/CACHE-READ[/CACHE-WRITE]] in dollars per million tokens"
)]
pub struct ParsePriceError(String);

/// The prices of models.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PriceTable(BTreeMap<String, Price>);

impl PriceTable {
    /// Parses entries of the form `MODEL=INPUT/OUTPUT[/CACHE-READ[/CACHE-WRITE]]`, in dollars per million tokens.
    ///
    /// ```
    /// use prowess_evals::budget::PriceTable;
    ///
    /// assert!(PriceTable::parse(["claude-sonnet-4=3/15/0.30/3.75"]).is_ok());
    /// assert!(PriceTable::parse(["claude-sonnet-4=3"]).is_err());
    /// ```
    pub fn parse<'a>(entries: impl IntoIterator<Item = &'a str>) -> Result<Self, ParsePriceError> {
        let mut prices = BTreeMap::new();
        for entry in entries {
            let error = || ParsePriceError(entry.to_owned());
            let (model, amounts) = entry.split_once('=').ok_or_else(error)?;
            let amounts: Vec<u64> =
                amounts.split('/').map(parse_amount).collect::<Option<_>>().ok_or_else(error)?;
            let (input, output) = match amounts[..] {
                [input, output, ..] if amounts.len() <= 4 && !model.trim().is_empty() => (input, output),
                _ => return Err(error()),
            };
            let cache_read = amounts.get(2).copied().unwrap_or(input);
            let cache_write = amounts.get(3).copied().unwrap_or(input);
            prices.insert(model.trim().to_owned(), Price { input, output, cache_read, cache_write });
        }
        Ok(Self(prices))
    }

    /// Returns the price of a model. Providers append dates to names, so the longest entry that the name starts with applies.
    pub fn get(&self, model: &str) -> Option<Price> {
        let matching = self.0.iter().filter(|(name, _)| {
            model
                .strip_prefix(name.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with(['-', '@', ':']))
        });
        matching.max_by_key(|(name, _)| name.len()).map(|(_, price)| *price)
    }
}

/// Parses dollars per million tokens into picodollars per token.
fn parse_amount(text: &str) -> Option<u64> {
    let amount: f64 = text.trim().parse().ok()?;
    let is_valid = amount.is_finite() && (0.0..=1e6).contains(&amount);
    is_valid.then(|| (amount * 1e6).round() as u64)
}

/// The tokens of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct RequestUsage {
    /// All input tokens.
    pub input: u64,
    /// Those that were read from a cache.
    pub cache_read: u64,
    /// Those that were written to a cache.
    pub cache_write: u64,
    /// The output tokens.
    pub output: u64,
}

impl Price {
    fn cost(self, usage: RequestUsage) -> u64 {
        let plain = usage.input.saturating_sub(usage.cache_read).saturating_sub(usage.cache_write);
        [
            (plain, self.input),
            (usage.cache_read, self.cache_read),
            (usage.cache_write, self.cache_write),
            (usage.output, self.output),
        ]
        .into_iter()
        .fold(0_u64, |sum, (tokens, price)| sum.saturating_add(tokens.saturating_mul(price)))
    }

    /// Returns the most that a request can cost.
    fn max_cost(self, input: u64, output: u64) -> u64 {
        let input_price = self.input.max(self.cache_write).max(self.cache_read);
        input.saturating_mul(input_price).saturating_add(output.saturating_mul(self.output))
    }
}

/// What was spent, including what is reserved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Spending {
    /// The number of requests.
    pub requests: u64,
    /// Input and output tokens.
    pub tokens: u64,
    /// The cost in picodollars.
    pub picodollars: u64,
    /// The milliseconds of earlier sessions that were interrupted.
    pub milliseconds: u64,
}

impl Spending {
    /// Returns the cost in dollars.
    pub fn dollars(&self) -> f64 {
        self.picodollars as f64 / PICODOLLARS
    }
}

/// The limit that prevents a request.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CapError {
    /// No more requests are allowed.
    #[error("the limit of {0} requests is reached")]
    Requests(u64),
    /// The request could exceed the number of tokens.
    #[error("the request could exceed the limit of {0} tokens")]
    Tokens(u64),
    /// The request could exceed the cost.
    #[error("the request could exceed the limit of ${0}")]
    Cost(f64),
    /// The price of the model is unknown, and the cost is limited.
    #[error("the cost is limited, but the price of {0} is unknown")]
    UnknownPrice(String),
    /// The time is over.
    #[error("the limit of {} seconds is reached", .0.as_secs())]
    Time(Duration),
    /// The spending cannot be recorded, so a later run could exceed a limit.
    #[error("cannot read or record the spending: {0}")]
    Record(String),
}

impl CapError {
    fn record(file: Option<&Path>, error: &std::io::Error) -> Self {
        let file = file.map_or_else(String::new, |file| format!("{}: ", file.display()));
        Self::Record(format!("{file}{error}"))
    }
}

/// Enforces [`Caps`]. Shared by all runs.
#[derive(Debug)]
pub struct Budget {
    caps: Caps,
    prices: PriceTable,
    file: Option<PathBuf>,
    started: Instant,
    state: Mutex<BudgetState>,
    settled: Notify,
}

#[derive(Debug, Default)]
struct BudgetState {
    spending: Spending,
    /// The number of requests whose usage is not known yet.
    in_flight: u64,
}

/// The reserved cost of one request. If it is dropped without [`settle`](Self::settle), the reservation counts as spent.
#[derive(Debug)]
pub struct Reservation {
    budget: Arc<Budget>,
    price: Option<Price>,
    tokens: u64,
    picodollars: u64,
}

impl Budget {
    /// Creates a budget. If `file` exists, its sum counts as spent; a file that cannot be read is an error, because the
    /// limits could be exceeded without it.
    pub fn open(caps: Caps, prices: PriceTable, file: Option<PathBuf>) -> Result<Self, CapError> {
        let spending = match file.as_deref().map(std::fs::read) {
            None => Spending::default(),
            Some(Err(error)) if error.kind() == std::io::ErrorKind::NotFound => Spending::default(),
            Some(Err(error)) => return Err(CapError::record(file.as_deref(), &error)),
            Some(Ok(bytes)) => serde_json::from_slice(&bytes)
                .map_err(|error| CapError::record(file.as_deref(), &error.into()))?,
        };
        let state = Mutex::new(BudgetState { spending, in_flight: 0 });
        Ok(Self { caps, prices, file, started: Instant::now(), state, settled: Notify::new() })
    }

    /// Returns what was spent so far.
    pub fn spending(&self) -> Spending {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).spending
    }

    /// Returns the limit of time.
    pub fn time_cap(&self) -> Duration {
        self.caps.time
    }

    /// Returns the remaining time.
    pub fn remaining_time(&self) -> Duration {
        let earlier = Duration::from_millis(self.spending().milliseconds);
        self.caps.time.saturating_sub(earlier).saturating_sub(self.started.elapsed())
    }

    /// Records the time that was used, at the end of a session.
    pub fn record_time(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let used = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        let mut spending = state.spending;
        spending.milliseconds = spending.milliseconds.saturating_add(used);
        // Only this session knows about the time; a failure to write it loses nothing that was paid for.
        let _ = self.write(spending);
        state.spending = spending;
    }

    /// Returns the cost of a usage in dollars, if the price of the model is known.
    pub fn cost(&self, model: &str, usage: RequestUsage) -> Option<f64> {
        self.prices.get(model).map(|price| price.cost(usage) as f64 / PICODOLLARS)
    }

    /// Reserves the most that a request can cost. If it does not fit only because of requests that are not finished, waits
    /// for them.
    pub async fn reserve(
        self: &Arc<Self>,
        model: &str,
        max_input: u64,
        max_output: u64,
    ) -> Result<Reservation, CapError> {
        loop {
            // Registered before the check, so that no notification is lost.
            let settled = self.settled.notified();
            match self.try_reserve(model, max_input, max_output) {
                Ok(reservation) => return Ok(reservation),
                Err((error, in_flight)) => {
                    let may_fit_later = matches!(error, CapError::Tokens(_) | CapError::Cost(_));
                    if in_flight == 0 || !may_fit_later {
                        return Err(error);
                    }
                }
            }
            settled.await;
        }
    }

    fn try_reserve(
        self: &Arc<Self>,
        model: &str,
        max_input: u64,
        max_output: u64,
    ) -> Result<Reservation, (CapError, u64)> {
        if self.remaining_time().is_zero() {
            return Err((CapError::Time(self.caps.time), 0));
        }
        let price = self.prices.get(model);
        if self.caps.cost.is_some() && price.is_none() {
            return Err((CapError::UnknownPrice(model.to_owned()), 0));
        }
        let tokens = max_input.saturating_add(max_output);
        let picodollars = price.map_or(0, |price| price.max_cost(max_input, max_output));
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let mut spending = state.spending;
        spending.requests = spending.requests.saturating_add(1);
        spending.tokens = spending.tokens.saturating_add(tokens);
        spending.picodollars = spending.picodollars.saturating_add(picodollars);
        let error = match self.caps.cost {
            _ if spending.requests > self.caps.requests => Some(CapError::Requests(self.caps.requests)),
            _ if spending.tokens > self.caps.tokens => Some(CapError::Tokens(self.caps.tokens)),
            Some(cost) if spending.dollars() > cost => Some(CapError::Cost(cost)),
            _ => None,
        };
        if let Some(error) = error {
            return Err((error, state.in_flight));
        }
        self.write(spending).map_err(|error| (CapError::record(self.file.as_deref(), &error), 0))?;
        state.spending = spending;
        state.in_flight += 1;
        Ok(Reservation { budget: Arc::clone(self), price, tokens, picodollars })
    }

    fn write(&self, spending: Spending) -> std::io::Result<()> {
        let Some(file) = &self.file else { return Ok(()) };
        prowess_fs::write_private_nosync(file, serde_json::to_string(&spending)?.as_bytes())
    }
}

impl Reservation {
    /// Replaces the reservation by the actual usage. A provider that reports more than the reservation is believed.
    pub fn settle(self, usage: RequestUsage) {
        let actual = usage.input.saturating_add(usage.output);
        let cost = self.price.map_or(0, |price| price.cost(usage));
        let mut state = self.budget.state.lock().unwrap_or_else(PoisonError::into_inner);
        let spending = &mut state.spending;
        spending.tokens = spending.tokens.saturating_sub(self.tokens).saturating_add(actual);
        spending.picodollars = spending.picodollars.saturating_sub(self.picodollars).saturating_add(cost);
        let spending = *spending;
        // The file holds the reservation, which is at least as much.
        let _ = self.budget.write(spending);
        // Dropping the reservation ends the request.
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        let mut state = self.budget.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.in_flight = state.in_flight.saturating_sub(1);
        drop(state);
        self.budget.settled.notify_waiters();
    }
}

#[cfg(test)]
mod tests;
