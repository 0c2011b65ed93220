//! A sandbox that refuses every script, for systems without a sandbox.

use super::{Enforced, Sandbox, SandboxError, SandboxTask, SandboxTier};

/// Refuses every script.
pub(super) struct RefusingSandbox;

impl Sandbox for RefusingSandbox {
    fn tier(&self) -> SandboxTier {
        SandboxTier::Tier1
    }

    fn enforce(&self, _: &SandboxTask<'_>) -> Result<Enforced, SandboxError> {
        Err(SandboxError::new(
            SandboxTier::Tier1,
            "sandboxing is not supported on this system; scripts run only on Linux",
        ))
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::options::InputSource;
    use crate::sandbox::{ScratchLocation, TaskArguments};
    use crate::{Limits, NetworkAccess, RunError, ScriptInput};

    #[test]
    fn every_script_is_refused_with_a_reason() {
        let (limits, nowhere) = (Limits::default(), Path::new("/nowhere"));
        let task = SandboxTask {
            program: "/bin/true".into(),
            arguments: TaskArguments { fixed: &[], user: &[], current_dir: None },
            copies: &[],
            scratch_location: ScratchLocation::Tmp,
            environment: Vec::new(),
            skill: nowhere,
            scratch: nowhere,
            readable: Vec::new(),
            limits: &limits,
            network: NetworkAccess::Off,
            input: InputSource::Complete(ScriptInput::Empty),
            user: None,
        };
        let refused = RefusingSandbox.enforce(&task).map(|_| ()).unwrap_err();
        let error = RunError::Sandbox(vec![refused]);
        assert_eq!(error.code(), prowess::ErrorCode::SandboxUnavailable);
        assert_eq!(
            error.to_string(),
            "no sandbox can be enforced, so the script was not run (tier1 cannot be enforced: sandboxing is not supported \
             on this system; scripts run only on Linux)"
        );
    }
}
