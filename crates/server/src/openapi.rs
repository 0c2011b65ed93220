//! Completes the OpenAPI description with what all operations share: error responses, authentication and operation ids. It is
//! added in one place so that no handler can omit it.

use serde_json::Value;
use utoipa::openapi::path::{Operation, ParameterIn};
use utoipa::openapi::response::Response;
use utoipa::openapi::security::{
    ApiKey, ApiKeyValue, HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme,
};
use utoipa::openapi::{Components, ContentBuilder, OpenApi, PathItem, Ref, RefOr, Required, ResponseBuilder};

/// The media type of error responses.
const PROBLEM: &str = "application/problem+json";

/// The error responses that operations share.
const ERRORS: [(u16, &str); 12] = [
    (400, "The request is invalid"),
    (401, "Authentication is required"),
    (403, "The client has no permission, or the host or origin is not allowed"),
    (404, "Not found"),
    (408, "The body did not arrive in time"),
    (409, "The request conflicts with the current state"),
    (413, "The request is too large"),
    (415, "The body must be JSON"),
    (429, "The client exceeded its rate limit"),
    (500, "Internal error"),
    (503, "The server or its store is unavailable"),
    (504, "An operation timed out"),
];

/// Operations whose body is optional. An upload without a body is an empty file.
const OPTIONAL_BODIES: [(&str, &str); 2] = [("post", "/api/chats"), ("put", "/api/chats/{id}/files/{path}")];

/// Adds what all operations share, and returns the description as JSON.
pub(crate) fn complete(mut description: OpenApi) -> Value {
    let components = description.components.get_or_insert_with(Components::default);
    for (status, text) in ERRORS {
        components.responses.insert(format!("Problem{status}"), error_response(text).into());
    }
    let bearer = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).build();
    components.add_security_scheme("bearer", SecurityScheme::Http(bearer));
    let cookie = ApiKey::Cookie(ApiKeyValue::new(crate::guard::COOKIE));
    components.add_security_scheme("cookie", SecurityScheme::ApiKey(cookie));
    description.security =
        Some(["bearer", "cookie"].map(|name| SecurityRequirement::new(name, [] as [&str; 0])).to_vec());
    let paths = &mut description.paths.paths;
    // OpenAPI cannot express a path parameter with slashes.
    for path in paths.keys().filter(|path| path.contains("{*")).cloned().collect::<Vec<_>>() {
        if let Some(item) = paths.remove(&path) {
            paths.insert(path.replace("{*", "{"), item);
        }
    }
    for (path, item) in paths {
        for (method, operation) in operations(item) {
            complete_operation(operation, method, path);
        }
    }
    let mut json = serde_json::to_value(&description).unwrap_or_default();
    remove_unsigned_formats(&mut json);
    json
}

/// Removes the format of unsigned integers. utoipa describes them with a signed format, which halves their range; without a
/// format only the minimum applies.
fn remove_unsigned_formats(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            let is_unsigned = fields.get("minimum").is_some_and(|least| least.as_f64() >= Some(0.0));
            if is_unsigned
                && fields.get("format").is_some_and(|format| format == "int32" || format == "int64")
            {
                fields.remove("format");
            }
            fields.values_mut().for_each(remove_unsigned_formats);
        }
        Value::Array(values) => values.iter_mut().for_each(remove_unsigned_formats),
        _ => {}
    }
}

fn operations(item: &mut PathItem) -> impl Iterator<Item = (&'static str, &mut Operation)> {
    let PathItem { get, put, post, patch, delete, .. } = item;
    [("get", get), ("put", put), ("post", post), ("patch", patch), ("delete", delete)]
        .into_iter()
        .filter_map(|(method, operation)| Some((method, operation.as_mut()?)))
}

fn complete_operation(operation: &mut Operation, method: &str, path: &str) {
    operation.operation_id = Some(operation_id(method, path));
    for parameter in operation.parameters.iter_mut().flatten() {
        if let RefOr::T(parameter) = parameter
            && parameter.parameter_in == ParameterIn::Path
            && !path.contains(&format!("{{{}}}", parameter.name))
        {
            // A parameter that is not in the path is a query parameter.
            parameter.parameter_in = ParameterIn::Query;
            parameter.required = Required::False;
        }
    }
    if let (Some(RefOr::T(body)), true) =
        (&mut operation.request_body, OPTIONAL_BODIES.contains(&(method, path)))
    {
        body.required = Some(Required::False);
    }
    // Every operation can reject the head of a request.
    let mut statuses = vec![400, 403, 429, 500, 503, 504];
    if operation.security.is_none() {
        statuses.push(401);
    }
    if path.contains('{') {
        statuses.push(404);
    }
    if operation.request_body.is_some() {
        statuses.extend([408, 413, 415]);
    }
    let responses = &mut operation.responses.responses;
    for status in statuses {
        let shared = || Ref::new(format!("#/components/responses/Problem{status}")).into();
        responses.entry(status.to_string()).or_insert_with(shared);
    }
    for (status, response) in responses {
        if let RefOr::T(response) = response {
            complete_response(status, response);
        }
    }
}

/// Gives a response a description, and an error response the shared content type.
fn complete_response(status: &str, response: &mut Response) {
    let failure = ERRORS.iter().find(|(code, _)| code.to_string() == status);
    if response.description.is_empty() {
        let default = match status {
            "201" => "Created",
            "204" => "Done",
            "304" => "Not modified",
            _ => "Success",
        };
        response.description = failure.map_or(default, |(_, text)| *text).to_owned();
    }
    if status.starts_with(['4', '5']) {
        let content = problem_content();
        response.content = [(PROBLEM.to_owned(), RefOr::T(content))].into_iter().collect();
    }
}

fn error_response(text: &str) -> Response {
    ResponseBuilder::new().description(text).content(PROBLEM, problem_content()).build()
}

fn problem_content() -> utoipa::openapi::Content {
    ContentBuilder::new().schema(Some(Ref::from_schema_name("Problem"))).build()
}

/// Returns a unique operation id, such as `get_chats_id_export`.
fn operation_id(method: &str, path: &str) -> String {
    let words =
        path.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty() && *word != "api");
    std::iter::once(method).chain(words).collect::<Vec<_>>().join("_")
}
