//! Hosts: finding them in a text, and classifying them.

use std::net::{IpAddr, Ipv4Addr};

use memchr::memmem;

/// How trustworthy a host is as the source of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HostKind {
    /// This machine, or one in the local network.
    Local,
    /// A bare IP address.
    IpAddress,
    /// A paste host or a link shortener.
    Anonymous,
    /// The installer of a well-known project.
    Installer,
    /// Any other host.
    Other,
}

/// The install scripts of well-known projects: the host, or the beginning of the URL.
const INSTALLERS: &str = "\
    astral.sh/ sh.rustup.rs static.rust-lang.org/ get.pnpm.io/ bun.sh/ bun.com/ deno.land/ get.docker.com \
    install.python-poetry.org raw.githubusercontent.com/homebrew/ raw.githubusercontent.com/nvm-sh/ \
    raw.githubusercontent.com/creationix/nvm/ raw.githubusercontent.com/helm/ \
    raw.githubusercontent.com/pyenv/ raw.githubusercontent.com/ohmyzsh/ pyenv.run get.helm.sh/ get.k3s.io \
    starship.rs/ ollama.com/ claude.ai/ chatgpt.com/ fnm.vercel.app/ volta.sh/ get.volta.sh \
    sdk.cloud.google.com aka.ms/ fly.io/ install.determinate.systems nixos.org/nix/ get.sdkman.io \
    cli.github.com/ tailscale.com/ foundry.paradigm.xyz hf.co/cli/ huggingface.co/cli/ cursor.com/ \
    opencode.ai/ mise.run mise.jdx.dev/ pixi.sh/ micro.mamba.pm/ just.systems/ deb.nodesource.com/ \
    rpm.nodesource.com/ getcomposer.org/ get.scoop.sh community.chocolatey.org/ chocolatey.org/ \
    bootstrap.pypa.io/ cdn.jsdelivr.net/gh/devcontainers/ cli.run.nu/ sentry.io/get-cli/ cli.sentry.dev/ \
    app.stainless.com/ turso.tech/ get.tur.so/ railway.com/ railway.app/ supabase.com/ convex.dev/ \
    wasmtime.dev/ wasmer.io/ get.wasmer.io moonrepo.dev/ dl.google.com/ packages.microsoft.com/ \
    download.docker.com/ apt.llvm.org/ dot.net/ julialang.org/ install.julialang.org goreleaser.com/ \
    golangci-lint.run/ taskfile.dev/ get.pulumi.com gh.io/ vite.plus code.kimi.com/ elan.lean-lang.org/ \
    leanprover.github.io/ get-ghcup.haskell.org get.jetify.com/ get.modular.com";

/// Hosts without an author: paste hosts and link shorteners.
const ANONYMOUS: &str = "\
    glot.io rentry.co rentry.org pastebin.com paste.ee hastebin.com dpaste.com dpaste.org termbin.com 0x0.st \
    transfer.sh file.io ix.io sprunge.us bit.ly tinyurl.com is.gd t.ly cutt.ly rebrand.ly \
    gist.githubusercontent.com controlc.com justpaste.it pastes.dev paste.rs files.catbox.moe \
    litter.catbox.moe gofile.io bashupload.com ngrok.io ngrok-free.app trycloudflare.com";

/// Classifies the host of a URL without its scheme, such as `astral.sh/uv/install.sh`.
pub(crate) fn classify_host(rest: &str) -> HostKind {
    let lower = rest.to_ascii_lowercase();
    let host = host_of(&lower);
    let is_installer = |listed: &str| match listed.contains('/') {
        true => lower.starts_with(listed) || listed.strip_suffix('/') == Some(host),
        false => host == listed,
    };
    let is_or_below = |listed: &str| {
        host == listed || host.strip_suffix(listed).is_some_and(|subdomain| subdomain.ends_with('.'))
    };
    match parse_ip(host) {
        Some(ip) if is_local(ip) => HostKind::Local,
        Some(_) => HostKind::IpAddress,
        // A name without a dot is only valid in a local network.
        None if !host.contains('.') || host.ends_with(".local") || host.ends_with(".internal") => {
            HostKind::Local
        }
        None if ANONYMOUS.split_ascii_whitespace().any(is_or_below) => HostKind::Anonymous,
        None if INSTALLERS.split_ascii_whitespace().any(is_installer) => HostKind::Installer,
        None => HostKind::Other,
    }
}

fn host_of(rest: &str) -> &str {
    let authority = rest.split(['/', '?', '#', '\\']).next().unwrap_or(rest);
    let host = authority.rsplit('@').next().unwrap_or(authority);
    match host.strip_prefix('[').and_then(|ipv6| ipv6.split_once(']')) {
        Some((ipv6, _)) => ipv6,
        None => host.split(':').next().unwrap_or(host),
    }
}

/// Parses an IP address, also in the form of one number, which some programs accept.
fn parse_ip(host: &str) -> Option<IpAddr> {
    let number = |text: &str| match text.strip_prefix("0x") {
        Some(hex) => u32::from_str_radix(hex, 16).ok(),
        None if text.len() >= 8 => text.parse().ok(),
        None => None,
    };
    host.parse().ok().or_else(|| Some(IpAddr::V4(Ipv4Addr::from_bits(number(host)?))))
}

fn is_local(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => {
            ip.is_loopback()
                || ip.is_private()
                || ip.is_unspecified()
                || ip.is_link_local()
                || ip.is_broadcast()
        }
        IpAddr::V6(ip) => ip.is_loopback() || ip.is_unspecified() || ip.is_unique_local(),
    }
}

/// A URL in a text: its offset, whether it is encrypted, and what follows the scheme.
pub(crate) struct UrlMatch<'t> {
    pub(crate) offset: usize,
    pub(crate) encrypted: bool,
    pub(crate) rest: &'t str,
}

/// Returns all `http:` and `https:` URLs in a text.
pub(crate) fn find_urls(bytes: &[u8]) -> impl Iterator<Item = UrlMatch<'_>> {
    memmem::find_iter(bytes, b"://").filter_map(move |separator| {
        let scheme = bytes.get(separator.saturating_sub(5)..separator)?.to_ascii_lowercase();
        let encrypted = scheme.ends_with(b"https");
        if !encrypted && !scheme.ends_with(b"http") {
            return None;
        }
        let rest = bytes.get(separator + 3..)?;
        let ends =
            |byte: &u8| byte.is_ascii_whitespace() || b"\"'`<>()|;,{}\\".contains(byte) || !byte.is_ascii();
        let rest = rest
            .iter()
            .take(2_048)
            .position(ends)
            .and_then(|end| rest.get(..end))
            .unwrap_or(rest.get(..2_048).unwrap_or(rest));
        let offset = separator - if encrypted { 5 } else { 4 };
        Some(UrlMatch { offset, encrypted, rest: std::str::from_utf8(rest).ok()? })
    })
}

/// Returns the host of a URL in lower case, without user and port, if it is a plausible one.
pub(crate) fn host_name(url: &UrlMatch<'_>) -> Option<String> {
    let host = host_of(url.rest).trim_end_matches('.').to_ascii_lowercase();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | ':');
    let is_name = host.contains('.') || host.contains(':') || host == "localhost";
    (is_name && host.len() <= 253 && host.chars().all(is_plain)).then_some(host)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_classified() {
        assert_eq!(classify_host("astral.sh/uv/install.sh"), HostKind::Installer);
        assert_eq!(classify_host("ASTRAL.sh/uv"), HostKind::Installer);
        assert_eq!(classify_host("astral.sh.evil.example/uv"), HostKind::Other);
        assert_eq!(classify_host("evil-astral.sh/uv"), HostKind::Other);
        assert_eq!(classify_host("astral.sh@192.0.2.1/uv"), HostKind::IpAddress);
        assert_eq!(classify_host("raw.githubusercontent.com/nvm-sh/nvm/v0/install.sh"), HostKind::Installer);
        assert_eq!(classify_host("raw.githubusercontent.com/nvm-shady/x"), HostKind::Other);
        assert_eq!(classify_host("192.0.2.1:8080/x"), HostKind::IpAddress);
        assert_eq!(classify_host("3221225985/x"), HostKind::IpAddress);
        assert_eq!(classify_host("0xc0000201/x"), HostKind::IpAddress);
        assert_eq!(classify_host("[2001:db8::1]:80/x"), HostKind::IpAddress);
        assert_eq!(classify_host("127.0.0.1:3000"), HostKind::Local);
        assert_eq!(classify_host("10.0.0.5/x"), HostKind::Local);
        assert_eq!(classify_host("build-server:8080/x"), HostKind::Local);
        assert_eq!(classify_host("bit.ly/x"), HostKind::Anonymous);
        assert_eq!(classify_host("abc.ngrok.io/x"), HostKind::Anonymous);
        assert_eq!(classify_host("tool.example/x"), HostKind::Other);
    }

    #[test]
    fn urls_end_at_delimiters() {
        let text =
            b"see (https://a.example/x), <http://b.example>, ftp://c.example and https://d.example:8080/y`";
        let found: Vec<_> =
            find_urls(text).map(|url| (url.encrypted, url.rest.to_owned(), host_name(&url))).collect();
        let named = |host: &str| Some(host.to_owned());
        assert_eq!(
            found,
            [
                (true, "a.example/x".to_owned(), named("a.example")),
                (false, "b.example".to_owned(), named("b.example")),
                (true, "d.example:8080/y".to_owned(), named("d.example")),
            ]
        );
    }
}
