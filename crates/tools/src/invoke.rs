//! Skills by name, for faces that have more than tools.

use prowess::{ErrorCode, Skill, Snapshot};
use serde_json::{Map, Value};

use crate::answers::find;
use crate::definition::{Tool, key};
use crate::envelope::{Envelope, ToolError};
use crate::session::Session;
use crate::toolbox::Toolbox;

impl Toolbox {
    /// The skill of this name that a model may load in a conversation, as its tools find it.
    pub fn find<'s>(
        &self,
        snapshot: &'s Snapshot,
        session: &Session,
        name: &str,
    ) -> Result<&'s Skill, ToolError> {
        find(snapshot, self.registry().policy(), session, name)
    }

    /// Loads a skill for the person who called it, whether or not a model could, and shows it even if the conversation
    /// has it already: who calls it again wants to see it again.
    pub fn invoke(&self, session: &mut Session, skill: &Skill, args: Option<&str>) -> Envelope {
        let called = key(skill, self.registry().policy()).into_owned();
        if !self.registry().policy().enabled {
            return Envelope::error(ToolError::new(ErrorCode::Disabled, "skills are switched off"));
        }
        session.call_by_name(&called);
        session.ledger.release(&called);
        let answered = self.activate(skill, args, Tool::Activate, session).unwrap_or_else(Envelope::error);
        let mut params = Map::from_iter([("name".to_owned(), Value::from(called))]);
        params.extend(args.map(|args| ("args".to_owned(), args.into())));
        let cwd = self.registry().surroundings().project.to_string_lossy().into_owned();
        answered.in_context(cwd, params.into(), 0)
    }
}
