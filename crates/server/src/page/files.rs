//! The files of the page, embedded in the binary. A test compares this list with the directory.

#[derive(Debug)]
pub(super) struct PageFile {
    /// Its path below `/assets/`.
    pub(super) path: &'static str,
    /// Its content.
    pub(super) bytes: &'static [u8],
}

/// The HTML document.
pub(super) const INDEX: &str = include_str!("../../page/index.html");

macro_rules! files {
    ($($path:literal),* $(,)?) => {
        &[$(PageFile { path: $path, bytes: include_bytes!(concat!("../../page/", $path)) }),*]
    };
}

/// All other files, sorted by path.
pub(super) const FILES: &[PageFile] = files![
    "components/app-shell.js",
    "components/chat-list.js",
    "components/chat-view.js",
    "components/confirm-dialog.js",
    "components/consent-question.js",
    "components/copy-button.js",
    "components/diagnostics-list.js",
    "components/empty-chat.js",
    "components/field.js",
    "components/file-card.js",
    "components/file-chips.js",
    "components/files-panel.js",
    "components/inspector-view.js",
    "components/markdown-view.js",
    "components/message-view.js",
    "components/model-setup.js",
    "components/overview-view.js",
    "components/prompt-box.js",
    "components/report-table.js",
    "components/settings-view.js",
    "components/sign-in.js",
    "components/skill-detail.js",
    "components/skill-file.js",
    "components/skill-form.js",
    "components/skill-import.js",
    "components/skill-menu.js",
    "components/skill-row.js",
    "components/skills-dialog.js",
    "components/skills-table.js",
    "components/status-banner.js",
    "components/test-cases.js",
    "components/test-report.js",
    "components/tests-view.js",
    "components/tool-card.js",
    "components/unsaved.js",
    "files.css",
    "icon.svg",
    "lib/api.js",
    "lib/dom.js",
    "lib/feed.js",
    "lib/files.js",
    "lib/format.js",
    "lib/hidden.js",
    "lib/html.js",
    "lib/hub.js",
    "lib/icons.js",
    "lib/plots.js",
    "lib/rate-plots.js",
    "lib/route.js",
    "lib/stream.js",
    "lib/tables.js",
    "lib/text.js",
    "lib/theme.js",
    "lib/upload.js",
    "lib/window.js",
    "main.js",
    "state/app.js",
    "state/chat.js",
    "state/chats.js",
    "state/drafts.js",
    "style.css",
    "tests.css",
    "texts/en.js",
    "texts/zh.js",
    "worker.js",
];
