//! Addresses of files, from clients.

use prowess_mcp::uri::SkillUriSegments;

/// Nothing panics; no part of an address that is understood could mean something else to a file system or to somebody
/// who reads addresses; and what is understood is understood again when it is written.
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
            // Writing may take more room than there is.
            Err(_) => assert!(written.len() > uri.len(), "{uri:?} is written as {written:?}"),
        }
    }
}
