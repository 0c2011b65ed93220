//! Waiting in tests.

use std::time::Duration;

/// Waits until a condition is met, without a timeout.
pub async fn wait_until(mut condition: impl AsyncFnMut() -> bool) {
    while !condition().await {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
