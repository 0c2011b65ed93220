//! Hosts: which ones a text names, and what is known of them.

use std::net::{IpAddr, Ipv4Addr};

use memchr::memmem;

/// What a host is to somebody who is to run something from there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Host {
    /// This machine, or one beside it.
    Local,
    /// An address without a name.
    Bare,
    /// One where anybody leaves texts, or hides where a link leads.
    Nameless,
    /// The installer of a project that many know.
    Installer,
    /// Any other.
    Named,
}

/// Where well-known projects keep the script that installs them: the host, or the beginning of the address.
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

/// Hosts without an author: pastes, and links that hide where they lead.
const NAMELESS: &str = "\
    glot.io rentry.co rentry.org pastebin.com paste.ee hastebin.com dpaste.com dpaste.org termbin.com 0x0.st \
    transfer.sh file.io ix.io sprunge.us bit.ly tinyurl.com is.gd t.ly cutt.ly rebrand.ly \
    gist.githubusercontent.com controlc.com justpaste.it pastes.dev paste.rs files.catbox.moe \
    litter.catbox.moe gofile.io bashupload.com ngrok.io ngrok-free.app trycloudflare.com";

/// What is known of the host of an address without its scheme, such as `astral.sh/uv/install.sh`.
pub(crate) fn judge(rest: &str) -> Host {
    let lower = rest.to_ascii_lowercase();
    let host = host_of(&lower);
    let is_installer = |known: &str| match known.contains('/') {
        true => lower.starts_with(known) || known.strip_suffix('/') == Some(host),
        false => host == known,
    };
    let is_at =
        |known: &str| host == known || host.strip_suffix(known).is_some_and(|left| left.ends_with('.'));
    match address(host) {
        Some(ip) if is_local(ip) => Host::Local,
        Some(_) => Host::Bare,
        // A name without a dot means something in one network only.
        None if !host.contains('.') || host.ends_with(".local") || host.ends_with(".internal") => Host::Local,
        None if NAMELESS.split_ascii_whitespace().any(is_at) => Host::Nameless,
        None if INSTALLERS.split_ascii_whitespace().any(is_installer) => Host::Installer,
        None => Host::Named,
    }
}

fn host_of(rest: &str) -> &str {
    let authority = rest.split(['/', '?', '#', '\\']).next().unwrap_or(rest);
    let host = authority.rsplit('@').next().unwrap_or(authority);
    match host.strip_prefix('[').and_then(|six| six.split_once(']')) {
        Some((six, _)) => six,
        None => host.split(':').next().unwrap_or(host),
    }
}

/// An address, also as one number, which some programs take for one.
fn address(host: &str) -> Option<IpAddr> {
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

/// An address in a text: where it begins, whether it is encrypted, and what follows the scheme.
pub(crate) struct Address<'t> {
    pub(crate) at: usize,
    pub(crate) encrypted: bool,
    pub(crate) rest: &'t str,
}

/// All addresses with `http:` or `https:` in a text.
pub(crate) fn addresses(bytes: &[u8]) -> impl Iterator<Item = Address<'_>> {
    memmem::find_iter(bytes, b"://").filter_map(move |at| {
        let before = bytes.get(at.saturating_sub(5)..at)?.to_ascii_lowercase();
        let encrypted = before.ends_with(b"https");
        if !encrypted && !before.ends_with(b"http") {
            return None;
        }
        let rest = bytes.get(at + 3..)?;
        let ends =
            |byte: &u8| byte.is_ascii_whitespace() || b"\"'`<>()|;,{}\\".contains(byte) || !byte.is_ascii();
        let rest = rest
            .iter()
            .take(2_048)
            .position(ends)
            .and_then(|end| rest.get(..end))
            .unwrap_or(rest.get(..2_048).unwrap_or(rest));
        let at = at - if encrypted { 5 } else { 4 };
        Some(Address { at, encrypted, rest: std::str::from_utf8(rest).ok()? })
    })
}

/// The host of an address, if it is one that could exist: lower case, without user and port.
pub(crate) fn name(address: &Address<'_>) -> Option<String> {
    let host = host_of(address.rest).trim_end_matches('.').to_ascii_lowercase();
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | ':');
    let named = host.contains('.') || host.contains(':') || host == "localhost";
    (named && host.len() <= 253 && host.chars().all(plain)).then_some(host)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_of_a_host() {
        assert_eq!(judge("astral.sh/uv/install.sh"), Host::Installer);
        assert_eq!(judge("ASTRAL.sh/uv"), Host::Installer);
        assert_eq!(judge("astral.sh.evil.example/uv"), Host::Named);
        assert_eq!(judge("evil-astral.sh/uv"), Host::Named);
        assert_eq!(judge("astral.sh@192.0.2.1/uv"), Host::Bare);
        assert_eq!(judge("raw.githubusercontent.com/nvm-sh/nvm/v0/install.sh"), Host::Installer);
        assert_eq!(judge("raw.githubusercontent.com/nvm-shady/x"), Host::Named);
        assert_eq!(judge("192.0.2.1:8080/x"), Host::Bare);
        assert_eq!(judge("3221225985/x"), Host::Bare);
        assert_eq!(judge("0xc0000201/x"), Host::Bare);
        assert_eq!(judge("[2001:db8::1]:80/x"), Host::Bare);
        assert_eq!(judge("127.0.0.1:3000"), Host::Local);
        assert_eq!(judge("10.0.0.5/x"), Host::Local);
        assert_eq!(judge("build-server:8080/x"), Host::Local);
        assert_eq!(judge("bit.ly/x"), Host::Nameless);
        assert_eq!(judge("abc.ngrok.io/x"), Host::Nameless);
        assert_eq!(judge("tool.example/x"), Host::Named);
    }

    #[test]
    fn addresses_end_where_they_end() {
        let text =
            b"see (https://a.example/x), <http://b.example>, ftp://c.example and https://d.example:8080/y`";
        let found: Vec<_> = addresses(text).map(|it| (it.encrypted, it.rest.to_owned(), name(&it))).collect();
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
