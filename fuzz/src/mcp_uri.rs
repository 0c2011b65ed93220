//! URIs of files from MCP clients.

use prowess_mcp::uri::SkillUriSegments;

/// Checks that nothing panics, that no segment of a valid URI is ambiguous as a path or in a URI, and that a formatted URI is
/// parsed to the same segments.
pub fn mcp_uri(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    for uri in [text.to_string(), format!("skill://{text}"), format!("skill://a/{text}")] {
        let Ok(parts) = SkillUriSegments::parse(&uri) else { continue };
        assert!(!parts.as_slice().is_empty(), "{uri:?}");
        for part in parts.as_slice() {
            assert!(!part.is_empty() && part != "." && part != "..", "{uri:?}");
            assert!(!part.contains(['/', '\\', '\0']), "{uri:?}");
        }
        let written = parts.to_string();
        assert!(written.is_ascii() && !written.contains([' ', '?', '#', '\\']), "{written:?}");
        match SkillUriSegments::parse(&written) {
            Ok(again) => assert_eq!(again, parts, "{uri:?} is written as {written:?}"),
            // Escaping may exceed the maximum length.
            Err(_) => assert!(written.len() > uri.len(), "{uri:?} is written as {written:?}"),
        }
    }
}
