//! Finding and activating skills by name, for interfaces other than tools.

use prowess::{ErrorCode, Skill, Snapshot};
use serde_json::{Map, Value};

use crate::definition::BuiltinTool;
use crate::dispatch::find_skill;
use crate::envelope::{Envelope, ToolError};
use crate::session::Session;
use crate::toolbox::Toolbox;

impl Toolbox {
    /// Returns the skill of this name that a model may load in a conversation, as tools find it.
    pub fn find_skill<'s>(
        &self,
        snapshot: &'s Snapshot,
        session: &Session,
        name: &str,
    ) -> Result<&'s Skill, ToolError> {
        find_skill(snapshot, self.registry().policy(), session, name)
    }

    /// Activates a skill that the user requested, even if the model may not load it. Always returns the
    /// instructions, even if the conversation has them already.
    pub fn invoke(&self, session: &mut Session, skill: &Skill, args: Option<&str>) -> Envelope {
        let name = String::from(skill.key());
        if !self.registry().policy().enabled {
            return Envelope::error(ToolError::new(ErrorCode::Disabled, "skills are disabled"));
        }
        session.mark_invoked(&name);
        session.ledger.remove(&name);
        let envelope =
            self.activate(skill, args, BuiltinTool::Activate, session).unwrap_or_else(Envelope::error);
        let mut params = Map::from_iter([("name".to_owned(), Value::from(name))]);
        params.extend(args.map(|args| ("args".to_owned(), args.into())));
        let cwd = self.registry().host().project.to_string_lossy().into_owned();
        envelope.in_context(cwd, params.into(), 0)
    }
}
