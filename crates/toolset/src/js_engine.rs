//! The JavaScript engine: one runtime, one context, one skill.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use rquickjs::context::intrinsic;
use rquickjs::promise::PromiseState;
use rquickjs::{Context, Ctx, FromJs, Module, Object, Promise, Runtime, Value};

use super::bindings::HostBindings;
use super::error::ToolsetError;
use super::limits::ToolsetLimits;
use super::modules::ModuleLoader;
use super::response::{EngineResponse, ThrownError, ToolCall, ToolDescriptor, ToolResult, parse_response};
use super::sources::ModuleSources;
use super::watch::{ExecutionWatch, StopCause};
use prowess_sandbox::Cancel;

/// The language features. The only clock is `Date`, in milliseconds.
type Intrinsics = (
    intrinsic::Date,
    intrinsic::Eval,
    intrinsic::RegExpCompiler,
    intrinsic::RegExp,
    intrinsic::Json,
    intrinsic::Proxy,
    intrinsic::MapSet,
    intrinsic::TypedArrays,
    intrinsic::Promise,
    intrinsic::WeakRef,
);

/// A JavaScript engine with the toolsets of one skill.
pub(super) struct JsEngine {
    // Dropped in this order: functions, then the context, then the runtime.
    bindings: HostBindings,
    context: Context,
    runtime: Runtime,
    sources: Rc<RefCell<ModuleSources>>,
    console: Rc<RefCell<Vec<String>>>,
    watch: Rc<ExecutionWatch>,
    limits: ToolsetLimits,
}

type EngineResult<T> = Result<T, ToolsetError>;

fn engine_error(error: rquickjs::Error) -> ToolsetError {
    ToolsetError::Engine(error.to_string())
}

impl JsEngine {
    /// Creates an engine without toolsets.
    pub(super) fn new(sources: ModuleSources, limits: ToolsetLimits) -> EngineResult<Self> {
        let runtime = Runtime::new().map_err(engine_error)?;
        runtime.set_memory_limit(limits.memory);
        runtime.set_max_stack_size(limits.stack);
        let watch = Rc::new(ExecutionWatch::new(limits.grace));
        watch.begin(limits.load_time, Cancel::default());
        let interrupt_watch = Rc::clone(&watch);
        runtime.set_interrupt_handler(Some(Box::new(move || interrupt_watch.must_stop())));
        let sources = Rc::new(RefCell::new(sources));
        runtime.set_loader(ModuleLoader(Rc::clone(&sources)), ModuleLoader(Rc::clone(&sources)));
        let context = Context::custom::<Intrinsics>(&runtime).map_err(engine_error)?;
        let console = Rc::default();
        let bindings =
            context.with(|ctx| HostBindings::new(&ctx, &watch, &console, &limits)).map_err(engine_error)?;
        Ok(Self { bindings, context, runtime, sources, console, watch, limits })
    }

    /// Loads a toolset and returns its tools.
    pub(super) fn load(&self, path: &str, export: &str) -> EngineResult<Vec<ToolDescriptor>> {
        let entry = self.sources.borrow().entry(path)?;
        let operation = "loading the toolset";
        let limit = self.limits.load_time;
        let described: String = self.context.with(|ctx| {
            let namespace = self.import(&ctx, &entry, operation, limit)?;
            // The npm package zod can create JSON Schema itself, but only newer versions have a method on the schema.
            let shipped = self.sources.borrow().bundled_zod(&entry);
            let zod = shipped.map(|zod| self.import(&ctx, &zod, operation, limit)).transpose()?;
            let describe = self.bindings.describe.clone().restore(&ctx).map_err(engine_error)?;
            let promise = describe.call::<_, Promise>((namespace, export, zod));
            self.settle(&ctx, promise, operation, limit)
        })?;
        match parse_response(&described, self.limits.output)? {
            EngineResponse::Tools(tools) => Ok(tools),
            EngineResponse::Thrown(thrown) => Err(self.load_error(thrown, &entry)),
            EngineResponse::Result(_) | EngineResponse::Rejected(_) => {
                Err(ToolsetError::load("the toolset did not list its tools"))
            }
        }
    }

    pub(super) fn call(&self, call: &ToolCall, cancel: Cancel) -> EngineResult<ToolResult> {
        self.console.borrow_mut().clear();
        let limit = self.limits.call_time;
        self.watch.begin(limit, cancel);
        let response: String = self.context.with(|ctx| {
            let function = self.bindings.call.clone().restore(&ctx).map_err(engine_error)?;
            let promise = function.call((call.id.as_str(), call.arguments.to_string(), call.context_json()));
            self.settle(&ctx, promise, "the call", limit)
        })?;
        match parse_response(&response, self.limits.output)? {
            EngineResponse::Result(result) => Ok(ToolResult { console: self.console.take(), ..result }),
            EngineResponse::Rejected(message) => Err(ToolsetError::Rejected(message)),
            EngineResponse::Thrown(thrown) if thrown.refusal => {
                Err(ToolsetError::InvalidResult(thrown.message))
            }
            EngineResponse::Thrown(thrown) => {
                Err(self.limit_error(&thrown, "the call").unwrap_or_else(|| {
                    let location = self.sources.borrow().location_in_stack(&thrown.stack);
                    ToolsetError::Thrown { message: thrown.describe(), location }
                }))
            }
            EngineResponse::Tools(_) => {
                Err(ToolsetError::InvalidResult("the tool did not return a result".to_owned()))
            }
        }
    }

    /// Returns the memory in use, in bytes.
    pub(super) fn memory(&self) -> u64 {
        self.runtime.run_gc();
        u64::try_from(self.runtime.memory_usage().malloc_size).unwrap_or_default()
    }

    fn import<'js>(
        &self,
        ctx: &Ctx<'js>,
        name: &str,
        operation: &'static str,
        limit: Duration,
    ) -> EngineResult<Object<'js>> {
        self.settle(ctx, Module::import(ctx, name), operation, limit)
    }

    /// Runs jobs until a promise is settled, cannot be settled, or the time is over.
    fn settle<'js, T: FromJs<'js>>(
        &self,
        ctx: &Ctx<'js>,
        promise: rquickjs::Result<Promise<'js>>,
        operation: &'static str,
        limit: Duration,
    ) -> EngineResult<T> {
        let stop_error = || {
            self.watch.stopped().map(|stop| match stop {
                StopCause::Time => ToolsetError::Time { operation, limit },
                StopCause::Cancelled => ToolsetError::Cancelled,
            })
        };
        let promise = match promise {
            Ok(promise) => promise,
            Err(_) => {
                return Err(stop_error().unwrap_or_else(|| self.to_load_error(ctx, ctx.catch(), operation)));
            }
        };
        while promise.state() == PromiseState::Pending {
            if self.watch.must_stop() {
                break;
            }
            if self.watch.is_cancelled() {
                let abort = self.bindings.abort.clone().restore(ctx).map_err(engine_error)?;
                // Listeners cannot make the call fail; if the time runs out in one, the next iteration notices it.
                let _ = abort.call::<_, ()>(());
            }
            if !ctx.execute_pending_job() {
                return Err(stop_error().unwrap_or(ToolsetError::Stuck(operation)));
            }
        }
        if let Some(stop_error) = stop_error() {
            return Err(stop_error);
        }
        match promise.result::<T>() {
            Some(Ok(value)) => Ok(value),
            Some(Err(_)) => {
                Err(stop_error().unwrap_or_else(|| self.to_load_error(ctx, ctx.catch(), operation)))
            }
            None => Err(ToolsetError::Stuck(operation)),
        }
    }

    /// Converts an error that was thrown outside of the bindings: modules that cannot be linked or evaluated.
    fn to_load_error<'js>(&self, ctx: &Ctx<'js>, error: Value<'js>, operation: &'static str) -> ToolsetError {
        if let Some(failure) = self.sources.borrow_mut().take_failure() {
            return failure;
        }
        let described = self
            .bindings
            .describe_error
            .clone()
            .restore(ctx)
            .and_then(|describe| describe.call::<_, String>((error,)));
        let Ok(described) = described else {
            // Describing the error needs memory, too.
            return ToolsetError::Memory { operation, limit: self.limits.memory };
        };
        self.load_error(ThrownError::from_json(&serde_json::from_str(&described).unwrap_or_default()), "")
    }

    fn load_error(&self, thrown: ThrownError, entry: &str) -> ToolsetError {
        if let Some(failure) = self.sources.borrow_mut().take_failure() {
            return failure;
        }
        let operation = "loading the toolset";
        if let Some(limit) = self.limit_error(&thrown, operation) {
            return limit;
        }
        let sources = self.sources.borrow();
        let missing =
            thrown.message.strip_prefix("Could not find export '").and_then(|rest| rest.split('\'').next());
        let location = match missing {
            Some(name) => sources.location_of_import_name(name),
            None => sources.location_in_stack(&thrown.stack),
        };
        let location = location.or_else(|| {
            let file = entry.to_owned();
            (!entry.is_empty()).then_some(super::error::SourceLocation { file, line: 1, column: 1 })
        });
        let is_common_js = ["require", "module", "exports"].iter().any(|name| {
            thrown.message == format!("{name} is not defined")
                || thrown.message == format!("'{name}' is not defined")
        });
        let message = match (thrown.name.as_str(), thrown.describe()) {
            _ if thrown.refusal => thrown.describe(),
            (_, message) if is_common_js => {
                format!("{message}; CommonJS is not supported, use import and export")
            }
            ("" | "Error", message) => message,
            (name, message) => format!("{name}: {message}"),
        };
        ToolsetError::Load { message, location }
    }

    /// Returns the limit error that caused a thrown error, if any.
    fn limit_error(&self, thrown: &ThrownError, operation: &'static str) -> Option<ToolsetError> {
        match (thrown.name.as_str(), thrown.message.as_str()) {
            (_, "out of memory") => Some(ToolsetError::Memory { operation, limit: self.limits.memory }),
            ("RangeError", "Maximum call stack size exceeded") => Some(ToolsetError::Stack {
                operation,
                location: self.sources.borrow().location_in_stack(&thrown.stack),
            }),
            _ => None,
        }
    }
}
