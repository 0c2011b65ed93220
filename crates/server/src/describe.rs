//! What all requests have in common, added to the description of each: how they fail, what has to be shown, and a name of their
//! own. It is said here once, so that no handler can forget it.

use serde_json::Value;
use utoipa::openapi::path::{Operation, ParameterIn};
use utoipa::openapi::response::Response;
use utoipa::openapi::security::{
    ApiKey, ApiKeyValue, HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme,
};
use utoipa::openapi::{Components, ContentBuilder, OpenApi, PathItem, Ref, RefOr, Required, ResponseBuilder};

/// The media type of what goes wrong.
const PROBLEM: &str = "application/problem+json";

/// How requests fail, in general.
const FAILURES: [(u16, &str); 12] = [
    (400, "What was asked cannot be meant"),
    (401, "A token is needed"),
    (403, "It is not for whoever asked, or for another name or origin"),
    (404, "There is no such thing"),
    (408, "The body did not arrive in time"),
    (409, "It does not go with what is there"),
    (413, "Something is larger than it may be"),
    (415, "The body has to be JSON"),
    (429, "More requests than one client may make"),
    (500, "Something failed"),
    (503, "The server or its store cannot do it now"),
    (504, "Something did not answer in time"),
];

/// Requests whose body may be left out.
const MAY_BE_EMPTY: [(&str, &str); 1] = [("post", "/api/chats")];

/// The description with what its parts have in common.
pub(crate) fn complete(mut description: OpenApi) -> Value {
    let components = description.components.get_or_insert_with(Components::default);
    for (status, text) in FAILURES {
        components.responses.insert(format!("Problem{status}"), failure(text).into());
    }
    let bearer = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).build();
    components.add_security_scheme("bearer", SecurityScheme::Http(bearer));
    let cookie = ApiKey::Cookie(ApiKeyValue::new(crate::guard::COOKIE));
    components.add_security_scheme("cookie", SecurityScheme::ApiKey(cookie));
    description.security =
        Some(["bearer", "cookie"].map(|name| SecurityRequirement::new(name, [] as [&str; 0])).to_vec());
    for (path, item) in &mut description.paths.paths {
        for (method, operation) in operations(item) {
            common(operation, method, path);
        }
    }
    let mut whole = serde_json::to_value(&description).unwrap_or_default();
    unsigned(&mut whole);
    whole
}

/// Numbers without a sign are described with the formats of those that have one, and with half of their range: what is larger
/// would be taken all the same. Without a format they are what they are: not negative.
fn unsigned(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            let is_whole = fields.get("minimum").is_some_and(|least| least.as_f64() >= Some(0.0));
            if is_whole && fields.get("format").is_some_and(|format| format == "int32" || format == "int64") {
                fields.remove("format");
            }
            fields.values_mut().for_each(unsigned);
        }
        Value::Array(values) => values.iter_mut().for_each(unsigned),
        _ => {}
    }
}

fn operations(item: &mut PathItem) -> impl Iterator<Item = (&'static str, &mut Operation)> {
    let PathItem { get, put, post, patch, delete, .. } = item;
    [("get", get), ("put", put), ("post", post), ("patch", patch), ("delete", delete)]
        .into_iter()
        .filter_map(|(method, operation)| Some((method, operation.as_mut()?)))
}

fn common(operation: &mut Operation, method: &str, path: &str) {
    operation.operation_id = Some(name(method, path));
    for parameter in operation.parameters.iter_mut().flatten() {
        if let RefOr::T(parameter) = parameter
            && parameter.parameter_in == ParameterIn::Path
            && !path.contains(&format!("{{{}}}", parameter.name))
        {
            // What has no place in the path stands after the question mark.
            parameter.parameter_in = ParameterIn::Query;
            parameter.required = Required::False;
        }
    }
    if let (Some(RefOr::T(body)), true) =
        (&mut operation.request_body, MAY_BE_EMPTY.contains(&(method, path)))
    {
        body.required = Some(Required::False);
    }
    // The head of a request can be wrong everywhere.
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
            finish(status, response);
        }
    }
}

/// Every answer has a description, and failures have one form.
fn finish(status: &str, response: &mut Response) {
    let failure = FAILURES.iter().find(|(known, _)| known.to_string() == status);
    if response.description.is_empty() {
        let usual = match status {
            "201" => "It was made",
            "204" => "It is done",
            "304" => "It has not changed",
            _ => "The answer",
        };
        response.description = failure.map_or(usual, |(_, text)| *text).to_owned();
    }
    if status.starts_with(['4', '5']) {
        let content = problem();
        response.content = [(PROBLEM.to_owned(), RefOr::T(content))].into_iter().collect();
    }
}

fn failure(text: &str) -> Response {
    ResponseBuilder::new().description(text).content(PROBLEM, problem()).build()
}

fn problem() -> utoipa::openapi::Content {
    ContentBuilder::new().schema(Some(Ref::from_schema_name("Problem"))).build()
}

/// `get_chats_id_export`: unlike that of any other.
fn name(method: &str, path: &str) -> String {
    let words =
        path.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty() && *word != "api");
    std::iter::once(method).chain(words).collect::<Vec<_>>().join("_")
}
