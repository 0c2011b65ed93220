//! The stand-alone helper, for tests and for programs that cannot call [`prowess_sandbox::helper_main`] first.

fn main() -> std::process::ExitCode {
    prowess_sandbox::helper_main();
    // The program was not started by a sandbox.
    std::process::ExitCode::from(2)
}
