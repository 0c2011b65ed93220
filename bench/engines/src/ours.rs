//! Prowess: both fields, the best 64 looked at again.

use std::path::Path;

use prowess_routing::Lexical;

use crate::engine::{Engine, Failed, Opened, Skills};

pub(crate) struct Ours;

impl Engine for Ours {
    fn name(&self) -> &'static str {
        "Prowess"
    }

    fn build(&self, folder: &Path, skills: &Skills<'_>) -> Result<(), Failed> {
        let numbers: Vec<usize> = (0..skills.size).collect();
        Lexical::save(&folder.join("index"), &numbers, |number| (skills.texts)(*number))?;
        Ok(())
    }

    fn open(&self, folder: &Path) -> Result<Box<dyn Opened>, Failed> {
        Ok(Box::new(Lexical::open(&folder.join("index"))?))
    }
}

impl Opened for Lexical {
    fn ask(&self, message: &str, k: usize) -> Result<Vec<usize>, Failed> {
        Ok(self.rank(message, k).into_iter().map(|found| found.skill).collect())
    }
}
