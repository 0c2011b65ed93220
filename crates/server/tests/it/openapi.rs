//! The OpenAPI description is complete and matches the server.

use std::collections::BTreeSet;
use std::path::Path;

use crate::running_server::RunningServer;
use prowess_server::{ServerOptions, openapi};
use serde_json::Value;

fn described() -> Value {
    openapi()
}

/// Returns the path, method and description of every operation, sorted.
fn operations(description: &Value) -> Vec<(String, String, Value)> {
    let paths = description["paths"].as_object().unwrap();
    let methods = |(path, item): (&String, &Value)| {
        let entry =
            |(method, operation): (&String, &Value)| (path.clone(), method.clone(), operation.clone());
        item.as_object().unwrap().iter().map(entry).collect::<Vec<_>>()
    };
    let mut operations: Vec<_> = paths.iter().flat_map(methods).collect();
    // Features of other crates decide whether JSON objects are sorted.
    operations
        .sort_by(|(path, method, _), (other, other_method, _)| (path, method).cmp(&(other, other_method)));
    operations
}

#[test]
fn operations_and_statuses() {
    let described = described();
    let observed = operations(&described).into_iter().map(|(path, method, operation)| {
        let mut statuses: Vec<_> = operation["responses"].as_object().unwrap().keys().cloned().collect();
        statuses.sort();
        format!("{} {path}: {}", method.to_uppercase(), statuses.join(" "))
    });
    insta::assert_snapshot!(observed.collect::<Vec<_>>().join("\n"));
}

#[test]
fn the_description_is_valid_openapi() {
    let described = described();
    assert_eq!(described["openapi"], "3.1.0");
    for field in ["title", "version"] {
        assert!(!described["info"][field].as_str().unwrap().is_empty());
    }
    let mut ids = BTreeSet::new();
    for (path, method, operation) in operations(&described) {
        let operation_name = format!("{method} {path}");
        assert!(["get", "put", "post", "patch", "delete"].contains(&method.as_str()), "{operation_name}");
        assert!(
            ids.insert(operation["operationId"].as_str().unwrap().to_owned()),
            "{operation_name}: duplicate operation id"
        );
        assert!(operation["summary"].is_string() && operation["tags"].is_array(), "{operation_name}");
        let parameters = operation["parameters"].as_array().cloned().unwrap_or_default();
        let declared: BTreeSet<_> = parameters
            .iter()
            .filter(|parameter| parameter["in"] == "path" && parameter["required"] == true)
            .map(|parameter| parameter["name"].as_str().unwrap())
            .collect();
        let path_parameters: BTreeSet<_> = path
            .split('{')
            .skip(1)
            .map(|rest| rest.split('}').next().unwrap().trim_start_matches('*'))
            .collect();
        assert_eq!(declared, path_parameters, "{operation_name}");
        assert!(parameters.iter().all(|parameter| parameter["schema"].is_object()), "{operation_name}");
        if !operation["requestBody"].is_null() {
            assert!(operation["requestBody"]["content"].is_object(), "{operation_name}");
        }
        for (status, response) in operation["responses"].as_object().unwrap() {
            let response = resolved(&described, response);
            assert!(response["description"].is_string(), "{operation_name} {status}");
            if status.starts_with(['4', '5']) {
                let schema = &response["content"]["application/problem+json"]["schema"];
                assert_eq!(schema["$ref"], "#/components/schemas/Problem", "{operation_name} {status}");
            }
        }
    }
    every_reference(&described, &described);
    assert!(!described.to_string().contains("\"int64\",\"minimum\":0"), "signed formats of unsigned numbers");
}

fn resolved<'v>(described: &'v Value, value: &'v Value) -> &'v Value {
    match value["$ref"].as_str() {
        Some(name) => described.pointer(name.trim_start_matches('#')).unwrap_or(&Value::Null),
        None => value,
    }
}

fn every_reference(described: &Value, value: &Value) {
    match value {
        Value::Object(fields) => {
            if fields.contains_key("$ref") {
                assert!(!resolved(described, value).is_null(), "unresolved reference {value}");
            }
            fields.values().for_each(|field| every_reference(described, field));
        }
        Value::Array(values) => values.iter().for_each(|value| every_reference(described, value)),
        _ => {}
    }
}

/// A duplicate schema name would silently replace the first schema.
#[test]
fn schema_names_are_unique() {
    let (mut open, mut names) = (vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src")], BTreeSet::new());
    while let Some(dir) = open.pop() {
        for entry in dir.read_dir().unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap_or_default();
            let derived = text
                .split("#[derive(")
                .skip(1)
                .filter(|after| after.split(")]").next().is_some_and(|traits| traits.contains("ToSchema")));
            for after in derived {
                let head = after.split('{').next().unwrap();
                let word = |before: &str| {
                    let rest = head.split_once(before)?.1;
                    Some(rest.split(|c: char| !c.is_alphanumeric()).next().unwrap().to_owned())
                };
                let name =
                    word("schema(as = ").or_else(|| word("struct ")).or_else(|| word("enum ")).unwrap();
                assert!(names.insert(name.clone()), "duplicate schema {name} in {}", path.display());
            }
        }
    }
    assert!(names.len() > 20, "{names:?}");
}

#[tokio::test]
async fn the_server_serves_the_description() {
    let server = RunningServer::start(ServerOptions::default()).await;
    let served: Value = server.get("/openapi.json").await.json().await.unwrap();
    assert_eq!(served, described());
    // Every described operation exists.
    for (path, method, _) in operations(&served) {
        let test_store = path.replace('{', "none-").replace('}', "");
        let method = method.to_uppercase().parse().unwrap();
        let response = server.http.request(method, server.url(&test_store)).send().await.unwrap();
        let (status, kind) = (response.status(), response.headers().get("content-type").cloned());
        if kind.is_some_and(|kind| kind == "application/problem+json") {
            let problem: Value = response.json().await.unwrap();
            let detail = problem["detail"].as_str().unwrap();
            assert!(status != 405 && !detail.starts_with("no such path"), "{path}: {detail}");
        }
    }
}
