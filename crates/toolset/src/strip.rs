//! TypeScript to JavaScript: types are stripped, not checked, and every place keeps its origin.

use std::path::Path;

use oxc_allocator::Allocator;
use oxc_codegen::{Codegen, CodegenOptions, CodegenReturn, CommentOptions};
use oxc_parser::Parser;
use oxc_semantic::SemanticBuilder;
use oxc_span::SourceType;
use oxc_transformer::{TransformOptions, Transformer};

/// How deep brackets may be nested. The parser calls itself for each, and its stack is the process's.
const NESTING_MAX: usize = 400;

/// The stack that stripping gets, for each byte of the source and at least. Only what is used of it costs anything.
const STACK_PER_BYTE: usize = 3 * 1024;
const STACK_MIN: usize = 8 * 1024 * 1024;
const STACK_MAX: usize = 1024 * 1024 * 1024;

/// JavaScript, and where each piece of it came from.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Stripped {
    /// The JavaScript.
    pub(super) code: String,
    /// Where it came from.
    pub(super) origins: Origins,
}

/// From places in the JavaScript to places in the source; lines and columns count from 0.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Origins(Vec<[u32; 4]>);

impl Origins {
    /// The place in the source, counting from 1, of a place in the JavaScript, counting from 1.
    pub(super) fn of(&self, line: u32, column: u32) -> Option<(u32, u32)> {
        let (line, column) = (line.checked_sub(1)?, column.saturating_sub(1));
        let after = self.0.partition_point(|[at, from, ..]| (*at, *from) <= (line, column));
        let token = self.0.get(after.checked_sub(1)?).filter(|token| token[0] == line);
        let [_, _, line, column] = token.or_else(|| self.0.get(after).filter(|token| token[0] == line))?;
        Some((line + 1, column + 1))
    }
}

/// What is wrong with a source, and at which byte.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Wrong {
    /// What, in one line.
    pub(super) message: String,
    /// Where.
    pub(super) offset: Option<usize>,
}

/// Strips the types of a module.
pub(super) fn strip(name: &str, source: &str) -> Result<Stripped, Wrong> {
    on_a_deep_stack(source, || strip_here(name, source))
}

/// What a module in JavaScript imports and exports.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Trade {
    /// The modules that it imports, in their order.
    pub(super) imports: Vec<String>,
    /// The names that it exports.
    pub(super) exports: Vec<String>,
    /// Whether it exports whatever another module does.
    pub(super) passes_on: bool,
}

/// What a module in JavaScript imports and exports.
pub(super) fn trade(source: &str) -> Result<Trade, Wrong> {
    on_a_deep_stack(source, || {
        let allocator = Allocator::default();
        let parsed = Parser::new(&allocator, source, SourceType::mjs()).parse();
        first_wrong(
            parsed
                .diagnostics
                .iter()
                .map(|said| (&*said.message, said.labels.first().map(|label| label.offset()))),
        )?;
        let record = &parsed.module_record;
        let mut imports: Vec<_> = record
            .requested_modules
            .iter()
            .filter_map(|(name, asked)| Some((asked.first()?.span.start, name.to_string())))
            .collect();
        imports.sort_unstable();
        let mut exports: Vec<_> = record.exported_bindings.keys().map(ToString::to_string).collect();
        if record.local_export_entries.iter().any(|entry| entry.export_name.is_default()) {
            exports.push("default".to_owned());
        }
        exports.sort_unstable();
        Ok(Trade {
            imports: imports.into_iter().map(|(_, name)| name).collect(),
            exports,
            passes_on: !record.star_export_entries.is_empty(),
        })
    })
}

/// Parses where there is room for it.
fn on_a_deep_stack<T: Send>(
    source: &str,
    work: impl FnOnce() -> Result<T, Wrong> + Send,
) -> Result<T, Wrong> {
    if let Some(offset) = nests_deeply(source) {
        let message = format!("brackets are nested more than {NESTING_MAX} deep");
        return Err(Wrong { message, offset: Some(offset) });
    }
    let stack = source.len().saturating_mul(STACK_PER_BYTE).clamp(STACK_MIN, STACK_MAX);
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(stack);
        let stripping = thread.spawn_scoped(scope, work);
        let failed = |message: String| Wrong { message, offset: None };
        match stripping.map(|thread| thread.join()) {
            Ok(Ok(stripped)) => stripped,
            Ok(Err(_)) => Err(failed("the TypeScript parser failed on this module".to_owned())),
            Err(error) => Err(failed(format!("no thread to parse it: {error}"))),
        }
    })
}

fn strip_here(name: &str, source: &str) -> Result<Stripped, Wrong> {
    let allocator = Allocator::default();
    let kind = SourceType::ts().with_module(true);
    let parsed = Parser::new(&allocator, source, kind).parse();
    first_wrong(
        parsed
            .diagnostics
            .iter()
            .map(|said| (&*said.message, said.labels.first().map(|label| label.offset()))),
    )?;
    let mut program = parsed.program;
    let semantic = SemanticBuilder::new().with_excess_capacity(2.0).with_enum_eval(true).build(&program);
    first_wrong(
        semantic
            .diagnostics
            .iter()
            .map(|said| (&*said.message, said.labels.first().map(|label| label.offset()))),
    )?;
    let scoping = semantic.semantic.into_scoping();
    let path = Path::new(name);
    let transformed = Transformer::new(&allocator, path, &TransformOptions::default())
        .build_with_scoping(scoping, &mut program);
    first_wrong(
        transformed
            .diagnostics
            .iter()
            .map(|said| (&*said.message, said.labels.first().map(|label| label.offset()))),
    )?;
    let options = CodegenOptions {
        source_map_path: Some(path.to_owned()),
        comments: CommentOptions::disabled(),
        // Indentation of what is nested deeply would be far longer than the source.
        minify: true,
        ..CodegenOptions::default()
    };
    let CodegenReturn { code, map, .. } = Codegen::new().with_options(options).build(&program);
    let mut origins: Vec<_> = map
        .iter()
        .flat_map(|map| map.get_tokens())
        .map(|token| [token.get_dst_line(), token.get_dst_col(), token.get_src_line(), token.get_src_col()])
        .collect();
    origins.sort_unstable();
    Ok(Stripped { code, origins: Origins(origins) })
}

fn first_wrong<'a>(said: impl Iterator<Item = (&'a str, Option<u32>)>) -> Result<(), Wrong> {
    match { said }.next() {
        Some((message, offset)) => {
            let message = message.split_whitespace().collect::<Vec<_>>().join(" ");
            Err(Wrong { message, offset: offset.map(|offset| offset as usize) })
        }
        None => Ok(()),
    }
}

/// Where brackets, counted without regard to texts and comments, first nest too deeply.
fn nests_deeply(source: &str) -> Option<usize> {
    let mut depth = 0usize;
    source.bytes().position(|byte| {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth > NESTING_MAX
    })
}
