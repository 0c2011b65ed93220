//! Markdown rendering and its sanitizer.

use crate::running_server::RunningServer;
use proptest::prelude::*;
use prowess_server::ServerOptions;
use prowess_server::markdown::render;
use serde_json::{Value, json};

#[test]
fn rendered_markdown() {
    let text = "# Title\n\nSome *words*, **bold**, ~~gone~~ and `code <b>`.\n\n- one\n- [x] done\n- [ ] open\n\n3. three\n4. four\n\n\
                > quoted\n\n```rust,ignore\nfn main() {} // <script>\n```\n\n```\nplain\n```\n\n| a | b |\n|---|:-:|\n| 1 | 2 |\n\n---\n\n\
                [link](https://example.org/a?b=1&c=2 \"title\"), <https://example.org>, <me@example.org>,\n![a picture](https://example.org/p.png)  \nnext\n";
    insta::assert_snapshot!(render(text));
}

#[test]
fn tables_are_aligned() {
    insta::assert_snapshot!(render("| a | b | c | d |\n|---|:--|:-:|--:|\n| 1 | *2* | 3 | 4 |\n| 5 |\n"));
}

#[test]
fn addresses_become_links() {
    let texts = [
        "See https://example.org/a_b_c?d=1&e=2, or (http://example.org/x_(y)).",
        "**https://example.org** and [https://a.example](https://b.example)",
        "`https://example.org` javascript://x ftp://example.org file:///etc/passwd www.example.org me@example.org",
        "```\nhttps://example.org\n```",
        "https://example.org/\u{202e}gpj.exe",
    ];
    insta::assert_snapshot!(texts.map(render).join(""));
}

#[test]
fn footnotes_are_numbered() {
    let text = "One[^b], two[^a], one again[^b], none[^c].\n\n[^a]: The *second*.\n[^b]: The first.\n";
    insta::assert_snapshot!(render(text));
}

#[test]
fn formulas_are_rendered() {
    let texts = [
        "Inline $x^2$ and \\(y_1\\), display:\n\n$$\\frac{1}{2}$$\n\n\\[\n\\sqrt{2} < 3\n\\]\n",
        "It costs $5 and $10, $5-$10 or US$20.",
        "`\\(code\\)` and\n\n```\n\\[code\\]\n$x$\n```\n",
        "Not formulas: $\\unknown{x}$, \\(open, \\\\(a\\\\), \\[a\n\nb\\], \\(\\)",
        "$\\text{<script>alert(1)</script>}$ $\\href{javascript:alert(1)}{x}$ $\\color{red}x$",
        "$a\u{202e}b$",
    ];
    insta::assert_snapshot!(texts.map(render).join("-----\n"));
}

/// The converter is recursive, so formulas are limited.
#[test]
fn deep_formulas_are_shown_as_text() {
    for piece in [
        "{",
        "\\sqrt{",
        "\\frac",
        "^",
        "x_",
        "\\left(",
        "\\begin{matrix}",
        "\\sqrt",
        "\\text{",
        "[",
        "\\overline",
        "\\not",
        "\\bar",
    ] {
        for count in [40, 2_000, 200_000] {
            assert_sanitized(&format!("${}$", piece.repeat(count)));
            assert_sanitized(&format!("$${}x$$", format!("{piece} ").repeat(count)));
        }
    }
    for opener in ["\\(", "\\[", "\\(`", "\\(\n\n"] {
        assert_sanitized(&opener.repeat(200_000));
    }
}

/// Characters that hide or reorder text are escaped.
#[test]
fn hidden_characters_are_escaped() {
    let text =
        "a\u{202e}b `c\u{200b}d`\n\n```\n\u{1b}[31m\u{202e}x\n\ty\n```\n\n<b\u{2066}>\n\n👩\u{200d}🔧\n";
    insta::assert_snapshot!(render(text));
}

#[test]
fn attacks_are_neutralized() {
    let attacks = [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "a <b onclick=\"x\">b</b> <!-- c --> <?php ?> <![CDATA[x]]>",
        "[a](javascript:alert(1))",
        "[a](JaVaScRiPt&colon;alert(1))",
        "[a](&#106;avascript:alert(1))",
        "[a](  java\nscript:alert(1))",
        "[a](data:text/html;base64,PHNjcmlwdD4=)",
        "[a](vbscript:x)",
        "[a](file:///etc/passwd)",
        "[a](//evil.example/x)",
        "[a](/api/export)",
        "[a](#x)",
        "<javascript:alert(1)>",
        "[a](https://x.example/\" onmouseover=\"alert(1))",
        "[a](https://x.example \"\" onmouseover=alert(1) x=\"\")",
        "![a\" onerror=\"alert(1)](https://x.example/p.png)",
        "![a](javascript:alert(1))",
        "[![a](https://x.example/p.png)](https://x.example/)",
        "![a [b](https://x.example/b) c](https://x.example/p.png)",
        "[a]\n\n[a]: javascript:alert(1)",
        "```\"><script>alert(1)</script>\nx\n```",
        "```language-x onload=y\nx\n```",
        "<svg><style><img src=x onerror=alert(1)></style></svg>",
        "<math><mtext><table><mglyph><style><!--</style><img title=\"--&gt;&lt;img src=1 onerror=alert(1)&gt;\">",
        "<a href=\"https://x.example\" target=\"_self\">a</a>",
        "<style>*{display:none}</style>\n\ntext",
        "&lt;script&gt;alert(1)&lt;/script&gt;",
        "\u{0}<scr\u{0}ipt>",
    ];
    let observed: Vec<_> =
        attacks.iter().map(|text| format!("{text:?}\n    {}", render(text).trim_end())).collect();
    for text in attacks {
        assert_sanitized(text);
    }
    insta::assert_snapshot!(observed.join("\n"));
}

#[test]
fn deep_nesting_is_flattened() {
    for piece in ["> ", "- ", "*", "_a ", "[", "![", "`", "<b>", "| a ", "**a _b ", "1. "] {
        assert_sanitized(&piece.repeat(20_000));
        assert_sanitized(&format!("{}x{}", piece.repeat(2_000), "](https://x.example)".repeat(2_000)));
    }
}

fn assert_sanitized(text: &str) {
    prowess_testing::html::assert_sanitized(text, &render(text));
}

proptest! {
    #[test]
    fn nothing_harmful_survives_any_text(text in "\\PC{0,200}") {
        assert_sanitized(&text);
    }

    #[test]
    fn nothing_harmful_survives_pieces_of_attacks(pieces in proptest::collection::vec(prop_oneof![
        Just("<script>"), Just("</script>"), Just("<img src=x onerror=alert(1)>"), Just("javascript:"), Just("]("), Just("["),
        Just("!["), Just(")"), Just("<"), Just(">"), Just("\""), Just("'"), Just("`"), Just("```"), Just("\n"), Just("\n\n"),
        Just("    "), Just("> "), Just("- "), Just("*"), Just("**"), Just("&lt;"), Just("&#x6a;"), Just("<!--"), Just("-->"),
        Just("<a href="), Just("https://x.example/"), Just("<svg/onload="), Just("\\"), Just("\0"), Just("|"), Just("---"), Just("x"),
        Just("$"), Just("$$"), Just("\\("), Just("\\)"), Just("\\text{"), Just("}"), Just("\\href{"), Just("^{"), Just("[^1]"), Just("[^1]: "),
    ], 0..40)) {
        assert_sanitized(&pieces.concat());
    }
}

#[tokio::test]
async fn texts_are_rendered_over_http() {
    let server = RunningServer::start(ServerOptions::default()).await;
    let answer: Value = server.post("/api/render", &json!({"text": "*a* <i>"})).await.json().await.unwrap();
    assert_eq!(answer, json!({"html": "<p><em>a</em> &lt;i&gt;</p>\n"}));
    let chat = server.chat().await;
    let response =
        server.post(&format!("/api/chats/{chat}/messages"), &json!({"text": "**hi** <script>"})).await;
    response.text().await.unwrap();
    let plain: Value = server.get(&format!("/api/chats/{chat}")).await.json().await.unwrap();
    let rendered: Value = server.get(&format!("/api/chats/{chat}?html=1")).await.json().await.unwrap();
    assert_eq!(plain["messages"][0]["parts"], json!([{"type": "text", "text": "**hi** <script>"}]));
    let html = "<p><strong>hi</strong> &lt;script&gt;</p>\n";
    assert_eq!(
        rendered["messages"][0]["parts"],
        json!([{"type": "text", "text": "**hi** <script>", "html": html}])
    );
    let parts = rendered["messages"][1]["parts"].as_array().unwrap();
    let texts = parts.iter().filter(|part| part["type"] == "text");
    assert!(
        texts.count() > 0 && parts.iter().all(|part| part["html"].is_string() == (part["type"] == "text"))
    );
    assert_eq!(server.get(&format!("/api/chats/{chat}?html=2")).await.status(), 400);
}
