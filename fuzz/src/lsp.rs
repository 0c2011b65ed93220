//! What the language server parses: frames, messages, positions, and the references of a text.

use gen_lsp_types::Position;
use prowess::references::{file_references, inner_path, mentions};
use prowess_lsp::position::{LineIndex, PositionEncoding};
use prowess_lsp::transport::{Frame, parse_message, read_frame};

/// The maximum size of a frame in this test.
const FRAME_MAX: usize = 1_024;

/// Checks that reading frames ends and stays within the limit, that positions survive a round trip in every encoding, and that
/// references are inside of the text, in order and inside of the skill.
pub fn lsp(bytes: &[u8]) {
    frames(bytes);
    let text = String::from_utf8_lossy(bytes);
    positions(&text);
    references(&text);
}

fn frames(bytes: &[u8]) {
    let mut stream = bytes;
    while let Ok(Some(frame)) = read_frame(&mut stream, FRAME_MAX) {
        match &frame {
            Frame::Content(content) => assert!(content.len() <= FRAME_MAX),
            Frame::TooLarge(size) => assert!(*size > FRAME_MAX as u64),
        }
        if let Err(response) = parse_message(frame) {
            assert!(response["error"]["code"].is_i64() && response.get("id").is_some(), "{response}");
        }
    }
    let _parsed = parse_message(Frame::Content(bytes.to_vec()));
}

fn positions(text: &str) {
    let lines = LineIndex::new(text);
    for encoding in [PositionEncoding::Utf8, PositionEncoding::Utf16, PositionEncoding::Utf32] {
        let mut before = Position::default();
        for offset in text.char_indices().map(|(offset, _)| offset).chain([text.len()]) {
            let position = lines.position(text, offset, encoding);
            assert!(
                (before.line, before.character) <= (position.line, position.character),
                "{text:?} at {offset}"
            );
            before = position;
            // Between \r and \n there is no position.
            let is_inside = offset > 0 && text.as_bytes().get(offset - 1..=offset) == Some(b"\r\n");
            let expected = if is_inside { offset - 1 } else { offset };
            assert_eq!(lines.offset(text, position, encoding), expected, "{text:?} at {offset}");
        }
        for (line, character) in [(0, u32::MAX), (u32::MAX, 0), (1, 1), (u32::MAX, u32::MAX)] {
            let offset = lines.offset(text, Position { line, character }, encoding);
            assert!(text.is_char_boundary(offset), "{text:?} at {line}:{character}");
        }
    }
}

fn references(text: &str) {
    for body in [0, text.len() / 2, text.len()] {
        let mut end = 0;
        for reference in file_references(text.as_bytes(), body) {
            assert!(end <= reference.span.start && reference.span.start < reference.span.end, "{text:?}");
            end = reference.span.end;
            assert_eq!(text.get(reference.span.range()), Some(reference.path), "{text:?}");
            if let Some(inner) = inner_path(reference.path) {
                assert!(
                    inner.components().all(|part| matches!(part, std::path::Component::Normal(_))),
                    "{inner:?}"
                );
                let path = inner.to_string_lossy();
                assert!(mentions(text, &path).iter().all(|span| text.get(span.range()) == Some(&*path)));
            }
        }
    }
}
