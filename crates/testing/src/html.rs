//! Which HTML rendered Markdown may contain, independent of the renderer. The fuzz target includes this file by its path.

/// Asserts that the HTML rendered from a text contains only allowed tags and attributes.
pub fn assert_sanitized(text: &str, html: &str) {
    let allowed = [
        "a",
        "blockquote",
        "br",
        "code",
        "del",
        "div",
        "em",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "hr",
        "li",
        "ol",
        "p",
        "pre",
        "strong",
        "sup",
        "table",
        "tbody",
        "td",
        "th",
        "thead",
        "tr",
        "ul",
    ];
    // What formulas consist of, without the elements that can contain HTML or load something.
    let math = "math menclose mfrac mi mmultiscripts mn mo mover mpadded mphantom mprescripts mroot mrow mspace msqrt mstyle \
         msub msubsup msup mtable mtd mtext mtr munder munderover";
    let mut rest = html;
    while let Some(start) = rest.find('<') {
        let end = rest[start..]
            .find('>')
            .map(|end| start + end)
            .unwrap_or_else(|| panic!("{text:?} gives {html:?}"));
        let tag = &rest[start + 1..end];
        rest = &rest[end + 1..];
        let name = tag.trim_start_matches('/').split(' ').next().unwrap();
        let is_math = math.split_whitespace().any(|known| known == name);
        assert!(is_math || allowed.contains(&name), "<{tag}> of {text:?} in {html:?}");
        // Values are quoted and contain no unescaped quote or angle bracket.
        let mut attributes = tag[name.len()..].trim_start_matches('/').to_owned();
        while let Some((before, value)) = attributes.split_once("=\"") {
            let (value, after) = value.split_once('"').unwrap();
            match (name, before.trim()) {
                ("a", "href") => {
                    let schemes = ["http://", "https://", "http:", "https:", "mailto:"];
                    assert!(
                        schemes.iter().any(|scheme| value.to_ascii_lowercase().starts_with(scheme)),
                        "{value:?}"
                    );
                }
                ("a", "rel") => assert_eq!(value, "noopener noreferrer"),
                ("a", "target") => assert_eq!(value, "_blank"),
                ("code", "class") => assert!(value.starts_with("language-")),
                ("a", "title") | ("ol", "start") => {}
                ("td" | "th", "class") => assert!(value.starts_with("align-"), "{value:?}"),
                ("div" | "sup", "class") => assert!(value.starts_with("footnote-"), "{value:?}"),
                (_, "style" | "href" | "src" | "class" | "id") => {
                    panic!("<{tag}> of {html:?}, from {text:?}")
                }
                _ if is_math => assert!(!value.contains([':', '/', '(']), "{value:?}"),
                (name, attribute) => panic!("{attribute:?} of <{name}> in {html:?}, from {text:?}"),
            }
            attributes = after.to_owned();
        }
        let remainder = attributes.trim();
        assert!(
            remainder.is_empty() || remainder == name || tag.starts_with('/'),
            "{remainder:?} in <{tag}> of {html:?}"
        );
    }
    assert_eq!(html.to_ascii_lowercase().find("<script"), None);
}
