//! How many requests one client may make: a bucket for each, which fills again by itself.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hash, RandomState};
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The most clients that have a bucket of their own; others share one.
const CLIENTS_MAX: usize = 10_000;

/// How often buckets that are full again are thrown away while there are too many.
const TIDY: Duration = Duration::from_secs(1);

/// Who makes requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Key<'a> {
    /// Somebody whom a proxy knows.
    Person(&'a [u8]),
    /// A machine; of those with IPv6, everybody on one network, who could take any number of addresses there.
    Machine(Option<IpAddr>),
}

impl Key<'_> {
    /// A machine.
    pub(crate) fn of(address: Option<IpAddr>) -> Self {
        Self::Machine(address.map(|address| match address.to_canonical() {
            IpAddr::V6(v6) => IpAddr::V6((u128::from(v6) & !u128::from(u64::MAX)).into()),
            v4 => v4,
        }))
    }
}

/// What each client has left.
pub(crate) struct Rates {
    rate: f64,
    burst: f64,
    // Keyed by chance: nobody can choose a name that falls into somebody else's bucket.
    hasher: RandomState,
    table: Mutex<Table>,
}

struct Table {
    buckets: HashMap<u64, Bucket>,
    /// That of those who have none.
    shared: Bucket,
    tidied: Instant,
}

#[derive(Clone, Copy)]
struct Bucket {
    left: f64,
    at: Instant,
}

impl Rates {
    /// So many in a second, and so many at once; any number where the first is 0.
    pub(crate) fn new(rate: u32, burst: u32) -> Self {
        let (now, burst) = (Instant::now(), f64::from(burst.max(1)));
        let shared = Bucket { left: burst, at: now };
        let table = Table { buckets: HashMap::new(), shared, tidied: now };
        Self { rate: f64::from(rate), burst, hasher: RandomState::new(), table: Mutex::new(table) }
    }

    /// Takes so many from a client's bucket; how long to wait where there are not as many.
    pub(crate) fn take(&self, key: Key<'_>, cost: u32, now: Instant) -> Result<(), Duration> {
        if self.rate == 0.0 {
            return Ok(());
        }
        let key = self.hasher.hash_one(key);
        let mut table = self.table.lock().unwrap_or_else(PoisonError::into_inner);
        let full = Bucket { left: self.burst, at: now };
        if table.buckets.len() >= CLIENTS_MAX && !table.buckets.contains_key(&key) {
            self.tidy(&mut table, now);
        }
        let bucket = match table.buckets.len() < CLIENTS_MAX || table.buckets.contains_key(&key) {
            true => table.buckets.entry(key).or_insert(full),
            false => &mut table.shared,
        };
        bucket.left = self.filled(bucket, now);
        bucket.at = bucket.at.max(now);
        let cost = f64::from(cost).min(self.burst);
        match bucket.left >= cost {
            true => {
                bucket.left -= cost;
                Ok(())
            }
            false => Err(Duration::from_secs_f64((cost - bucket.left) / self.rate)),
        }
    }

    fn filled(&self, bucket: &Bucket, now: Instant) -> f64 {
        let since = now.saturating_duration_since(bucket.at).as_secs_f64();
        (bucket.left + since * self.rate).min(self.burst)
    }

    fn tidy(&self, table: &mut Table, now: Instant) {
        if now.saturating_duration_since(table.tidied) >= TIDY {
            table.tidied = now;
            table.buckets.retain(|_, bucket| self.filled(bucket, now) < self.burst);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn machine(n: u32) -> Key<'static> {
        Key::of(Some(IpAddr::V4(n.into())))
    }

    #[test]
    fn each_client_has_its_own_and_gets_it_back() {
        let (rates, begin) = (Rates::new(2, 3), Instant::now());
        for _ in 0..3 {
            rates.take(machine(1), 1, begin).unwrap();
        }
        assert_eq!(rates.take(machine(1), 1, begin), Err(Duration::from_millis(500)));
        rates.take(machine(2), 1, begin).unwrap();
        rates.take(Key::Person(b"ada"), 1, begin).unwrap();
        rates.take(machine(1), 1, begin + Duration::from_millis(500)).unwrap();
        assert!(rates.take(machine(1), 1, begin + Duration::from_millis(600)).is_err());
        // What costs more than there ever is takes all of it.
        rates.take(machine(3), 100, begin).unwrap();
        assert!(Rates::new(0, 1).take(machine(1), 100, begin).is_ok());
    }

    #[test]
    fn one_network_of_ipv6_is_one_client() {
        let of = |text: &str| Key::of(Some(text.parse().unwrap()));
        assert_eq!(of("2001:db8:1:2::1"), of("2001:db8:1:2:ffff::9"));
        assert_ne!(of("2001:db8:1:2::1"), of("2001:db8:1:3::1"));
        assert_eq!(of("::ffff:192.0.2.1"), of("192.0.2.1"));
    }

    #[test]
    fn the_table_does_not_grow_for_ever() {
        let (rates, begin) = (Rates::new(1, 2), Instant::now());
        for n in 0..2 * CLIENTS_MAX as u32 {
            let _ = rates.take(machine(n), 1, begin);
        }
        assert_eq!(rates.table.lock().unwrap().buckets.len(), CLIENTS_MAX);
        // Those who have no bucket share one that is empty by now; those who have one are not concerned.
        assert!(rates.take(machine(u32::MAX), 1, begin).is_err());
        rates.take(machine(1), 1, begin).unwrap();
        // Later there is room again.
        rates.take(machine(u32::MAX), 1, begin + Duration::from_secs(5)).unwrap();
        assert_eq!(rates.table.lock().unwrap().buckets.len(), 1);
    }

    proptest! {
        #[test]
        fn nobody_gets_more_than_the_rate(
            rate in 1_u32..20, burst in 1_u32..20, steps in proptest::collection::vec((0_u64..2_000, 1_u32..5), 1..200),
        ) {
            let (rates, mut now) = (Rates::new(rate, burst), Instant::now());
            let (begin, mut taken) = (now, 0_u32);
            for (wait, cost) in steps {
                now += Duration::from_millis(wait);
                if rates.take(machine(1), cost, now).is_ok() {
                    taken += cost.min(burst);
                }
                let most = f64::from(burst) + f64::from(rate) * (now - begin).as_secs_f64();
                prop_assert!(f64::from(taken) <= most + 1e-6);
            }
        }
    }
}
