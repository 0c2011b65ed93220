//! Environments: the packages that scripts of skills depend on, installed once and shared between skills.
//!
//! | module | subject |
//! |---|---|
//! | `dependencies` | what scripts need: declared, or inferred from their imports |
//! | `builder` | the steps of a build |
//! | `python`, `node` | resolving and installing, with `uv` or `pip`, and with `npm` |
//! | `sandboxed_tool` | the sandbox in which they run |
//! | `index_proxy`, `package_index` | the hosts that they can reach |
//! | `copy_tree` | what they may have written |
//! | `store`, `record` | environments on disk |
//! | `interpreter_info` | the version of an interpreter and the packages that it has |
//! | `pins` | environments that lock files pin |
//! | `overview` | what the scripts of a skill need, and the installed tools |
//! | `ready` | the environment of one run |
//!
//! Invariants: nothing is fetched or built while a script runs; no code of a package runs while an environment is built;
//! an environment is complete or absent, and is not used after its files were changed.

mod build_failure;
mod builder;
mod copy_tree;
mod dependencies;
mod error;
mod index_proxy;
mod interpreter_info;
mod node;
mod overview;
mod package_index;
mod pins;
mod python;
mod ready;
mod record;
mod sandboxed_tool;
mod store;

pub use builder::{EnvironmentBuilder, EnvironmentPlan, StepHandler};
pub use dependencies::{
    DependencyError, LockedNodePackage, NodeDependencies, PythonSpecifier, PythonVersion, Requirement,
    RequirementError, RequirementSource, Requirements, ScriptGroup, ScriptLanguage, ScriptSources,
    requirements_of_script, requirements_of_skill, script_language,
};
pub use error::EnvironmentError;
pub use interpreter_info::InterpreterPaths;
pub use overview::{EnvironmentState, InstalledTool};
pub use pins::{PinState, is_pin_needed};
pub use ready::{EnvironmentRequest, ReadyEnvironment, for_script};
pub use record::{EnvironmentKind, EnvironmentRecord, EnvironmentUsage, ResolvedPackage, ResolvedSet};
pub use store::{EnvironmentStore, StoredEnvironment};
