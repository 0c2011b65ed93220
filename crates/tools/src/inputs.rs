//! The `inputs` of `skills.run`: files that are put into the workspace before a script runs.

use std::path::{Path, PathBuf};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use prowess::ErrorCode;
use prowess::format::hidden::escape_and_truncate;
use prowess_fs::{Dir, read_whole};
use prowess_sandbox::InputFile;
use serde_json::{Map, Value, json};

use crate::envelope::ToolError;

/// The maximum number of inputs.
const INPUTS_MAX: usize = 50;

/// The maximum size of an input.
const INPUT_BYTES_MAX: u64 = 32 * 1024 * 1024;

/// The maximum size of all inputs together, because they are held in memory.
const ALL_BYTES_MAX: u64 = 128 * 1024 * 1024;

/// Returns the schema of the parameter.
pub(crate) fn schema() -> Value {
    let text = |description: &str| json!({"type": "string", "description": description});
    json!({
        "type": "array", "maxItems": INPUTS_MAX,
        "description": "Files to put into the workspace before the script runs.",
        "items": {
            "type": "object",
            "properties": {
                "name": text("The path of the file in the workspace, such as data/in.csv."),
                "text": text("The content, if it is text."),
                "base64": text("The content in base64, if it is binary."),
                "path": text("Instead of the content: the path of a file in a directory that the user shares."),
            },
            "additionalProperties": false,
        },
    })
}

/// Reads the parameter. Files are read only below `roots`.
pub(crate) fn parse(value: Option<&Value>, roots: &[PathBuf]) -> Result<Vec<InputFile>, ToolError> {
    let items = match value {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Array(items)) if items.len() > INPUTS_MAX => {
            return Err(invalid(format!("too many inputs: {}; the maximum is {INPUTS_MAX}", items.len())));
        }
        Some(Value::Array(items)) => items,
        Some(_) => return Err(invalid("inputs must be a list of objects")),
    };
    let mut inputs: Vec<InputFile> = Vec::new();
    let mut all_bytes = 0;
    for (index, item) in items.iter().enumerate() {
        let number = index + 1;
        let Value::Object(fields) = item else { return Err(invalid("inputs must be a list of objects")) };
        let (name, bytes) = parse_item(fields, roots)
            .map_err(|error| ToolError::new(error.code, format!("input {number}: {}", error.message)))?;
        let input = InputFile::new(&name, bytes)
            .map_err(|error| ToolError::new(error.code(), format!("input {number}: {error}")))?;
        all_bytes += input.bytes().len() as u64;
        if all_bytes > ALL_BYTES_MAX {
            let message = format!("the inputs have more than {ALL_BYTES_MAX} bytes together");
            return Err(ToolError::new(ErrorCode::TooLarge, message));
        }
        if inputs.iter().any(|other| other.path() == input.path()) {
            return Err(invalid(format!("input {number}: another input has the same name")));
        }
        inputs.push(input);
    }
    Ok(inputs)
}

fn parse_item(fields: &Map<String, Value>, roots: &[PathBuf]) -> Result<(String, Vec<u8>), ToolError> {
    const FIELDS: [&str; 4] = ["name", "text", "base64", "path"];
    if let Some(unknown) = fields.keys().find(|key| !FIELDS.contains(&key.as_str())) {
        return Err(invalid(format!("unknown field {}", escape_and_truncate(unknown))));
    }
    let field = |key: &str| match fields.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.as_str())),
        Some(_) => Err(invalid(format!("{key} must be a string"))),
    };
    let name = field("name")?.map(str::to_owned);
    let named = |bytes: Vec<u8>| match name.clone() {
        Some(_) if bytes.len() as u64 > INPUT_BYTES_MAX => Err(too_large()),
        Some(name) => Ok((name, bytes)),
        None => Err(invalid("name is missing")),
    };
    match (field("text")?, field("base64")?, field("path")?) {
        (Some(text), None, None) => named(text.as_bytes().to_vec()),
        (None, Some(encoded), None) => {
            named(BASE64_STANDARD.decode(encoded).map_err(|_| invalid("base64 is not valid"))?)
        }
        (None, None, Some(path)) => {
            let (file_name, bytes) = read_below(path, roots)?;
            Ok((name.unwrap_or(file_name), bytes))
        }
        _ => Err(invalid("exactly one of text, base64 and path is required")),
    }
}

/// Reads a file below one of the roots. No symlink below a root is followed.
fn read_below(path: &str, roots: &[PathBuf]) -> Result<(String, Vec<u8>), ToolError> {
    let shown = escape_and_truncate(path);
    let denied = || {
        let message = match roots.is_empty() {
            true => "no directory is shared, so that path cannot be used; pass text or base64".to_owned(),
            false => format!("{shown} is not in a directory that the user shares"),
        };
        ToolError::new(ErrorCode::AccessDenied, message)
    };
    let inner_path = |root: &'_ PathBuf| {
        let path = Path::new(path);
        let inner = if path.is_absolute() { path.strip_prefix(root).ok()? } else { path };
        Some((root.clone(), inner.to_owned()))
    };
    let candidates: Vec<_> = roots.iter().filter_map(inner_path).collect();
    if candidates.is_empty() {
        return Err(denied());
    }
    let mut error = None;
    for (root, inner) in candidates {
        let opened = Dir::open(&root).and_then(|dir| dir.open_file(&inner));
        match opened {
            Ok((file, stat)) if stat.is_file() => {
                if stat.size() > INPUT_BYTES_MAX {
                    return Err(too_large());
                }
                let bytes = read_whole(&file, &stat, INPUT_BYTES_MAX).map_err(|error| {
                    ToolError::new(ErrorCode::PermissionDenied, format!("{shown}: {error}"))
                })?;
                let name = inner.file_name().and_then(|name| name.to_str()).ok_or_else(denied)?;
                return Ok((name.to_owned(), bytes));
            }
            Ok(_) => {
                error =
                    Some(ToolError::new(ErrorCode::InvalidParam, format!("{shown} is not a regular file")))
            }
            Err(prowess_fs::Errno::NOENT) => {
                error.get_or_insert_with(|| {
                    ToolError::new(ErrorCode::NotFound, format!("{shown} does not exist"))
                });
            }
            Err(_) => error = Some(denied()),
        }
    }
    Err(error.unwrap_or_else(denied))
}

fn invalid(message: impl Into<String>) -> ToolError {
    ToolError::new(ErrorCode::InvalidParam, message.into())
}

fn too_large() -> ToolError {
    ToolError::new(ErrorCode::TooLarge, format!("the file has more than {INPUT_BYTES_MAX} bytes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_are_text_base64_or_files_below_a_root() {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().canonicalize().unwrap().join("shared");
        std::fs::create_dir_all(root.join("dir")).unwrap();
        std::fs::write(root.join("dir/a.txt"), "a").unwrap();
        std::fs::write(root.with_file_name("secret"), "s").unwrap();
        prowess_fs::create_symlink(&root.with_file_name("secret"), &root.join("link")).unwrap();
        let absolute = root.join("dir/a.txt").display().to_string();
        let result = |item: Value, roots: &[PathBuf]| match parse(Some(&json!([item])), roots) {
            Ok(inputs) => format!("{inputs:?}"),
            Err(error) => {
                format!("{} {}", error.code, error.message).replace(&root.display().to_string(), "ROOT")
            }
        };
        let roots = [root.clone()];
        let secret = root.with_file_name("secret").display().to_string();
        let results = [
            result(json!({"name": "x", "text": "t"}), &[]),
            result(json!({"name": "d/x", "base64": "AAE="}), &[]),
            result(json!({"path": "dir/a.txt"}), &roots),
            result(json!({"path": absolute, "name": "b"}), &roots),
            result(json!({"path": "dir/a.txt"}), &[]),
            result(json!({"path": "../secret"}), &roots),
            result(json!({"path": "link"}), &roots),
            result(json!({"path": "dir"}), &roots),
            result(json!({"path": "absent"}), &roots),
            result(json!({"path": secret}), &roots).replace(&secret, "SECRET"),
            result(json!({"name": "../x", "text": "t"}), &[]),
            result(json!({"text": "t"}), &[]),
            result(json!({"name": "x"}), &[]),
            result(json!({"name": "x", "text": "t", "base64": ""}), &[]),
            result(json!({"name": "x", "base64": "?"}), &[]),
            result(json!({"name": "x", "txt": "t"}), &[]),
            result(json!({"name": 1, "text": "t"}), &[]),
            result(json!("x"), &[]),
        ];
        insta::assert_snapshot!(results.join("\n"));
    }

    #[test]
    fn inputs_have_different_names_and_a_limit_together() {
        let error = |value: Value, roots: &[PathBuf]| {
            let error = parse(Some(&value), roots).unwrap_err();
            format!("{} {}", error.code, error.message)
        };
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().canonicalize().unwrap();
        std::fs::File::create(root.join("large")).unwrap().set_len(INPUT_BYTES_MAX).unwrap();
        let large: Vec<_> = (0..5).map(|n| json!({"path": "large", "name": n.to_string()})).collect();
        let errors = [
            error(json!([{"name": "a", "text": "1"}, {"name": "a", "text": "2"}]), &[]),
            error(json!(large), &[root]),
        ];
        insta::assert_snapshot!(errors.join("\n"), @r"
        INVALID_PARAM input 2: another input has the same name
        TOO_LARGE the inputs have more than 134217728 bytes together
        ");
    }
}
