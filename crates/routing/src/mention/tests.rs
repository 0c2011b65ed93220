use proptest::prelude::*;

use super::*;

const NAMES: [&str; 6] = ["pdf", "pdf-tools", "PDF Tools", "übersetzung", "翻译", "3d"];

fn find(name: &str) -> Option<&'static str> {
    NAMES.into_iter().find(|known| *known == name)
}

fn find_in_any_case(name: &str) -> Option<&'static str> {
    NAMES.into_iter().find(|known| known.to_lowercase() == name.to_lowercase())
}

#[test]
fn s004_13_a_slash_mention_is_at_the_start() {
    let name_and_rest =
        |message| slash(message, |name| find(name).is_some()).map(|mention| (mention.name, mention.rest));
    assert_eq!(name_and_rest("/pdf"), Some(("pdf", "")));
    assert_eq!(name_and_rest("/pdf\nmerge /pdf"), Some(("pdf", "merge /pdf")));
    assert_eq!(name_and_rest("/pdf-tools x"), Some(("pdf-tools", "x")));
    assert_eq!(name_and_rest("/PDF Tools now"), Some(("PDF Tools", "now")));
    assert_eq!(name_and_rest("/翻译 你好"), Some(("翻译", "你好")));
    for text in ["/", "//pdf", "/ pdf", "/none x", " /pdf", "x /pdf", "/pdf, x", "/pdf/x", "/Pdf"] {
        assert_eq!(name_and_rest(text), None, "{text}");
    }
}

#[test]
fn s001_17_a_dollar_mention_is_anywhere() {
    assert_eq!(dollar("$pdf and ($pdf-tools) and $pdf.", find), ["pdf", "pdf-tools"]);
    assert_eq!(dollar("mit $übersetzung, 用$翻译。", find), ["übersetzung", "翻译"]);
    assert_eq!(dollar("请用$pdf合并", find), ["pdf"]);
    assert_eq!(dollar("$PDF Tools or $3d", find), ["PDF Tools", "3d"]);
    for text in ["$pdf-more", "$pdfs", "$1", "$", "$$pdf", "\\$pdf", "`$pdf`", "```\n$pdf\n```", "US$pdf"] {
        assert_eq!(dollar(text, find), [] as [&str; 0], "{text}");
    }
}

#[test]
fn s001_17_a_skill_phrase_is_recognized() {
    for text in [
        "use pdf skill",
        "Use the PDF skill to merge",
        "merge these with the `pdf` skill!",
        "try it USING the \"pdf\" Skill",
        "use $pdf skill",
    ] {
        assert_eq!(skill_phrase(text, find_in_any_case), ["pdf"], "{text}");
    }
    assert_eq!(skill_phrase("use the pdf tools skill", find_in_any_case), ["PDF Tools"]);
    assert_eq!(skill_phrase("benutze das; use the ÜBERSETZUNG skill", find_in_any_case), ["übersetzung"]);
    for text in ["use pdf", "the pdf skill", "use the skill pdf", "with great skill", "useful pdf skill"] {
        assert_eq!(skill_phrase(text, find_in_any_case), [] as [&str; 0], "{text}");
    }
}

proptest! {
    #[test]
    fn mentions_never_panic(message in "[$/`pdf翻\u{301} \n-]{0,80}|\\PC{0,80}") {
        slash(&message, |name| find(name).is_some());
        dollar(&message, find);
        skill_phrase(&message, find_in_any_case);
    }
}

#[test]
fn long_messages_are_handled_in_linear_time() {
    // Quadratic time on 1 MB would exceed the test timeout.
    for unit in ["$a ", "`", "``` ", "use skill ", "use the a skill ", "/ "] {
        let message = unit.repeat(1_000_000 / unit.len());
        slash(&message, |_| false);
        dollar(&message, |_| None);
        skill_phrase(&message, |_| None);
    }
}
