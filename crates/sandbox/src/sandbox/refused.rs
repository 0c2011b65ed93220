//! The sandbox of systems for which nobody has filled one in: it refuses every script.

use super::{Enforced, Sandbox, SandboxError, Task, Tier};

/// Enforces nothing, and so starts nothing.
pub(super) struct Refused;

impl Sandbox for Refused {
    fn tier(&self) -> Tier {
        Tier::Tier1
    }

    fn enforce(&self, _: &Task<'_>) -> Result<Enforced, SandboxError> {
        Err(SandboxError::new(
            Tier::Tier1,
            "there is no sandbox for this system yet; scripts run on Linux only",
        ))
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::options::Feed;
    use crate::{Input, Limits, Network, RunError};

    #[test]
    fn every_script_is_refused_in_words_that_say_why() {
        let (limits, nowhere) = (Limits::default(), Path::new("/nowhere"));
        let task = Task {
            program: "/bin/true".into(),
            arguments: Vec::new(),
            environment: Vec::new(),
            skill: nowhere,
            scratch: nowhere,
            readable: Vec::new(),
            limits: &limits,
            network: Network::Off,
            input: Feed::Given(Input::Nothing),
            user: None,
        };
        let refused = Refused.enforce(&task).map(|_| ()).unwrap_err();
        let error = RunError::Sandbox(vec![refused]);
        assert_eq!(error.code(), prowess::ErrorCode::SandboxUnavailable);
        assert_eq!(
            error.to_string(),
            "no sandbox can be enforced here, so nothing runs (tier1 cannot be enforced: there is no sandbox for \
             this system yet; scripts run on Linux only)"
        );
    }
}
