use super::super::EditError;
use super::super::list::{ListFormat, add, find, remove};
use super::{DISABLED, and_back, one_way};

const T: ListFormat = ListFormat::Toml;

#[test]
fn an_item_is_added_to_an_existing_list() {
    for (text, expected) in [
        ("skills.disabled = [\"a\"]", "skills.disabled = [\"a\", \"x\"]"),
        ("[skills]\ndisabled = ['a',\n 'b'] # c\n", "[skills]\ndisabled = ['a',\n 'b', 'x'] # c\n"),
        ("skills = {disabled=[\"a\"], pinned = []}\n", "skills = {disabled=[\"a\", \"x\"], pinned = []}\n"),
        (
            "[skills]\r\ndisabled = [\r\n\t\"a\", # why\r\n]\r\n",
            "[skills]\r\ndisabled = [\r\n\t\"a\", # why\r\n\t\"x\",\r\n]\r\n",
        ),
        ("\u{feff}[skills]\ndisabled = [\"a\"]\n", "\u{feff}[skills]\ndisabled = [\"a\", \"x\"]\n"),
        ("[skills]\ndisabled = []\n", "[skills]\ndisabled = [\"x\"]\n"),
        (
            "[skills]\ndisabled = [\n  # none yet, see a, b\n]\n[scan]\n",
            "[skills]\ndisabled = [\n  # none yet, see a, b\n  \"x\",\n]\n[scan]\n",
        ),
    ] {
        and_back(text, T, expected);
    }
    // A trailing comma is allowed and stays.
    let text = "[skills]\ndisabled = [\n  \"a\" # why, oh\n]\n";
    let after = "[skills]\ndisabled = [\n  \"a\", # why, oh\n  \"x\"\n]\n";
    one_way(text, T, after, "[skills]\ndisabled = [\n  \"a\", # why, oh\n]\n");
    assert_eq!(
        add("skills.disabled = [\"a\",]", T, DISABLED, "x").unwrap(),
        "skills.disabled = [\"a\", \"x\",]"
    );
}

#[test]
fn a_missing_list_is_created() {
    for (text, expected) in [
        ("", "[skills]\ndisabled = [\"x\"]\n"),
        ("preset = \"app\"", "preset = \"app\"\n\n[skills]\ndisabled = [\"x\"]"),
        (
            "# mine\n[scan]\r\ndepth = 3\r\n",
            "# mine\n[scan]\r\ndepth = 3\r\n\n[skills]\ndisabled = [\"x\"]\n",
        ),
        (
            "[skills] # on or off\npinned = [\"a\"]\n",
            "[skills] # on or off\npinned = [\"a\"]\ndisabled = [\"x\"]\n",
        ),
        (
            "skills.pinned = [\n\"a\"]\n[scan]\n",
            "skills.pinned = [\n\"a\"]\nskills.disabled = [\"x\"]\n[scan]\n",
        ),
        ("skills.pinned = []\n", "skills.pinned = []\nskills.disabled = [\"x\"]\n"),
        ("skills = { pinned = [] }\n", "skills = { pinned = [], disabled = [\"x\"] }\n"),
        ("skills = {}\n", "skills = { disabled = [\"x\"] }\n"),
    ] {
        assert_eq!(add(text, T, DISABLED, "x").unwrap(), expected, "from {text:?}");
    }
}

#[test]
fn items_are_removed() {
    let off = |text: &str| remove(text, T, DISABLED, "x").unwrap();
    assert_eq!(off("skills.disabled = [\"x\", \"a\", 'x']"), "skills.disabled = [\"a\"]");
    assert_eq!(off("skills.disabled = [\"x\",]"), "skills.disabled = []");
    assert_eq!(off("skills.disabled = [\n\"x\", # why\n'a'\n]"), "skills.disabled = [\n'a'\n]");
    assert_eq!(off("skills.disabled = [\"x\", # why\n'a'\n]"), "skills.disabled = [# why\n'a'\n]");
    assert_eq!(off("skills.disabled = ['a']"), "skills.disabled = ['a']");
    assert_eq!(off("a = 1"), "a = 1");
}

#[test]
fn invalid_text_is_not_changed() {
    let refused = |text: &str| add(text, T, DISABLED, "x").unwrap_err();
    assert!(matches!(refused("a = 1\nb = "), EditError::Malformed { line: 2, .. }));
    assert!(matches!(refused("a = 1\n[skills]\ndisabled = 3"), EditError::Unsafe { line: 3, .. }));
    assert!(matches!(refused("skills = 3"), EditError::Unsafe { line: 1, .. }));
    assert!(matches!(refused(&format!("a = {}", "{b=".repeat(2_000))), EditError::Malformed { .. }));
    assert!(matches!(refused(&format!("a = {}", "[".repeat(100_000))), EditError::Malformed { .. }));
    let deep = format!("{}=1", vec!["a"; 60].join("."));
    assert!(matches!(refused(&deep), EditError::Malformed { .. }));
}

#[test]
fn each_item_has_its_line() {
    let found = find("\u{feff}# c\n[skills]\ndisabled = [\"a\",\n  'b']", T, DISABLED).unwrap();
    let found: Vec<_> = found.iter().map(|found| (found.text.as_str(), found.line)).collect();
    assert_eq!(found, [("a", 3), ("b", 4)]);
    let odd = "a\"\\\n\u{1b}\u{202e}\u{e0041}é";
    let after = add("skills.disabled = ['b']", T, DISABLED, odd).unwrap();
    assert_eq!(find(&after, T, DISABLED).unwrap()[1].text, odd);
    assert_eq!(prowess_format::hidden::find_hidden(&after), None);
}
