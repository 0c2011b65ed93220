//! Rate limits with one token bucket per client.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hash, RandomState};
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The maximum number of clients with their own bucket; others share one.
const CLIENTS_MAX: usize = 10_000;

/// How often full buckets are removed while there are too many.
const CLEANUP_INTERVAL: Duration = Duration::from_secs(1);

/// Identifies a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum ClientKey<'a> {
    /// A user that the proxy has authenticated.
    ProxyUser(&'a [u8]),
    /// An IPv4 address, or an IPv6 network, because an IPv6 client can use any number of addresses in its network.
    Address(Option<IpAddr>),
}

impl ClientKey<'_> {
    pub(crate) fn from_address(address: Option<IpAddr>) -> Self {
        Self::Address(address.map(|address| match address.to_canonical() {
            IpAddr::V6(v6) => IpAddr::V6((u128::from(v6) & !u128::from(u64::MAX)).into()),
            v4 => v4,
        }))
    }
}

/// The buckets of all clients.
pub(crate) struct RateLimiter {
    rate: f64,
    burst: f64,
    // The random key prevents clients from choosing a name that hashes to another client's bucket.
    hasher: RandomState,
    table: Mutex<Table>,
}

struct Table {
    buckets: HashMap<u64, Bucket>,
    /// The bucket of clients without their own.
    shared: Bucket,
    last_cleanup: Instant,
}

#[derive(Clone, Copy)]
struct Bucket {
    tokens: f64,
    updated: Instant,
}

impl RateLimiter {
    /// Allows `rate` requests per second and `burst` at once; a rate of 0 means no limit.
    pub(crate) fn new(rate: u32, burst: u32) -> Self {
        let (now, burst) = (Instant::now(), f64::from(burst.max(1)));
        let shared = Bucket { tokens: burst, updated: now };
        let table = Table { buckets: HashMap::new(), shared, last_cleanup: now };
        Self { rate: f64::from(rate), burst, hasher: RandomState::new(), table: Mutex::new(table) }
    }

    /// Takes `cost` tokens from a client's bucket. If there are too few, returns how long to wait.
    pub(crate) fn take(&self, key: ClientKey<'_>, cost: u32, now: Instant) -> Result<(), Duration> {
        if self.rate == 0.0 {
            return Ok(());
        }
        let key = self.hasher.hash_one(key);
        let mut table = self.table.lock().unwrap_or_else(PoisonError::into_inner);
        let full = Bucket { tokens: self.burst, updated: now };
        if table.buckets.len() >= CLIENTS_MAX && !table.buckets.contains_key(&key) {
            self.remove_full_buckets(&mut table, now);
        }
        let bucket = match table.buckets.len() < CLIENTS_MAX || table.buckets.contains_key(&key) {
            true => table.buckets.entry(key).or_insert(full),
            false => &mut table.shared,
        };
        bucket.tokens = self.tokens_at(bucket, now);
        bucket.updated = bucket.updated.max(now);
        let cost = f64::from(cost).min(self.burst);
        match bucket.tokens >= cost {
            true => {
                bucket.tokens -= cost;
                Ok(())
            }
            false => Err(Duration::from_secs_f64((cost - bucket.tokens) / self.rate)),
        }
    }

    fn tokens_at(&self, bucket: &Bucket, now: Instant) -> f64 {
        let elapsed = now.saturating_duration_since(bucket.updated).as_secs_f64();
        (bucket.tokens + elapsed * self.rate).min(self.burst)
    }

    fn remove_full_buckets(&self, table: &mut Table, now: Instant) {
        if now.saturating_duration_since(table.last_cleanup) >= CLEANUP_INTERVAL {
            table.last_cleanup = now;
            table.buckets.retain(|_, bucket| self.tokens_at(bucket, now) < self.burst);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn machine(n: u32) -> ClientKey<'static> {
        ClientKey::from_address(Some(IpAddr::V4(n.into())))
    }

    #[test]
    fn each_client_has_its_own_bucket_which_refills() {
        let (rates, begin) = (RateLimiter::new(2, 3), Instant::now());
        for _ in 0..3 {
            rates.take(machine(1), 1, begin).unwrap();
        }
        assert_eq!(rates.take(machine(1), 1, begin), Err(Duration::from_millis(500)));
        rates.take(machine(2), 1, begin).unwrap();
        rates.take(ClientKey::ProxyUser(b"ada"), 1, begin).unwrap();
        rates.take(machine(1), 1, begin + Duration::from_millis(500)).unwrap();
        assert!(rates.take(machine(1), 1, begin + Duration::from_millis(600)).is_err());
        // A cost above the capacity takes the whole bucket.
        rates.take(machine(3), 100, begin).unwrap();
        assert!(RateLimiter::new(0, 1).take(machine(1), 100, begin).is_ok());
    }

    #[test]
    fn an_ipv6_network_is_one_client() {
        let key = |text: &str| ClientKey::from_address(Some(text.parse().unwrap()));
        assert_eq!(key("2001:db8:1:2::1"), key("2001:db8:1:2:ffff::9"));
        assert_ne!(key("2001:db8:1:2::1"), key("2001:db8:1:3::1"));
        assert_eq!(key("::ffff:192.0.2.1"), key("192.0.2.1"));
    }

    #[test]
    fn the_table_is_bounded() {
        let (rates, begin) = (RateLimiter::new(1, 2), Instant::now());
        for n in 0..2 * CLIENTS_MAX as u32 {
            let _ = rates.take(machine(n), 1, begin);
        }
        assert_eq!(rates.table.lock().unwrap().buckets.len(), CLIENTS_MAX);
        // Clients without a bucket share one, which is empty by now; other clients are not affected.
        assert!(rates.take(machine(u32::MAX), 1, begin).is_err());
        rates.take(machine(1), 1, begin).unwrap();
        // Later, full buckets are removed.
        rates.take(machine(u32::MAX), 1, begin + Duration::from_secs(5)).unwrap();
        assert_eq!(rates.table.lock().unwrap().buckets.len(), 1);
    }

    proptest! {
        #[test]
        fn no_client_exceeds_the_rate(
            rate in 1_u32..20, burst in 1_u32..20, steps in proptest::collection::vec((0_u64..2_000, 1_u32..5), 1..200),
        ) {
            let (rates, mut now) = (RateLimiter::new(rate, burst), Instant::now());
            let (begin, mut accepted) = (now, 0_u32);
            for (wait, cost) in steps {
                now += Duration::from_millis(wait);
                if rates.take(machine(1), cost, now).is_ok() {
                    accepted += cost.min(burst);
                }
                let max = f64::from(burst) + f64::from(rate) * (now - begin).as_secs_f64();
                prop_assert!(f64::from(accepted) <= max + 1e-6);
            }
        }
    }
}
