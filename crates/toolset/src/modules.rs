//! The module loader of the JavaScript engine that runs toolsets.

use std::cell::RefCell;
use std::rc::Rc;

use rquickjs::loader::{ImportAttributes, Loader, Resolver};
use rquickjs::module::Declared;
use rquickjs::{Ctx, Exception, Module};

use super::sources::ModuleSources;

/// Resolves and loads modules for the engine.
pub(super) struct ModuleLoader(pub(super) Rc<RefCell<ModuleSources>>);

impl Resolver for ModuleLoader {
    fn resolve<'js>(
        &mut self,
        ctx: &Ctx<'js>,
        base: &str,
        name: &str,
        _: Option<ImportAttributes<'js>>,
    ) -> rquickjs::Result<String> {
        // Imports of the host are already resolved.
        if base.is_empty() || base == "eval_script" {
            return Ok(name.to_owned());
        }
        self.0.borrow_mut().resolve(base, name).map_err(|message| Exception::throw_type(ctx, &message))
    }
}

impl Loader for ModuleLoader {
    fn load<'js>(
        &mut self,
        ctx: &Ctx<'js>,
        name: &str,
        _: Option<ImportAttributes<'js>>,
    ) -> rquickjs::Result<Module<'js, Declared>> {
        let code = self.0.borrow_mut().load(name).map_err(|message| Exception::throw_type(ctx, &message))?;
        Module::declare(ctx.clone(), name, code)
    }
}
