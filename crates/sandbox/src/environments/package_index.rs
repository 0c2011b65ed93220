//! Which package indexes are used, and which hosts that involves.

use std::ffi::OsString;
use std::net::IpAddr;

use prowess::policy::EnvironmentSettings;
use url::Url;

use super::EnvironmentKind;

/// The public Python package index, and the host of its files.
const PYTHON_INDEX: (&str, &str) = ("https://pypi.org/simple", "files.pythonhosted.org");

/// The public npm registry.
const NPM_REGISTRY: &str = "https://registry.npmjs.org";

/// A host that a build may connect to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct AllowedHost {
    pub(super) host: String,
    pub(super) port: u16,
    pub(super) origin: HostOrigin,
}

/// Why a host is allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HostOrigin {
    /// It belongs to a public index, so that it is never this machine.
    Public,
    /// The user named it.
    Configured,
}

impl AllowedHost {
    /// Returns `true` if connections to an address of the host are allowed. Forged answers of name servers must not lead a
    /// build to services of this machine or of a cloud provider.
    pub(super) fn allows_address(&self, address: IpAddr) -> bool {
        if self.host.parse() == Ok(address) {
            return true;
        }
        let address = address.to_canonical();
        let is_loopback = address.is_loopback();
        let is_special = match address {
            IpAddr::V4(v4) => {
                v4.is_link_local() || v4.is_broadcast() || METADATA_ADDRESSES_V4.contains(&v4.octets())
            }
            IpAddr::V6(v6) => v6.is_unicast_link_local() || v6.segments() == METADATA_ADDRESS_V6,
        };
        !address.is_unspecified()
            && !address.is_multicast()
            && !is_special
            && (!is_loopback || self.origin == HostOrigin::Configured)
    }
}

/// Addresses at which cloud providers describe a machine, besides those that are local to the link.
const METADATA_ADDRESSES_V4: &[[u8; 4]] = &[[100, 100, 100, 200], [192, 0, 0, 192]];
const METADATA_ADDRESS_V6: [u16; 8] = [0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254];

/// A package index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PackageIndex {
    pub(super) url: String,
    pub(super) hosts: Vec<AllowedHost>,
}

impl PackageIndex {
    /// Returns the index for a kind of environment.
    pub(super) fn from_settings(kind: EnvironmentKind, settings: &EnvironmentSettings) -> Self {
        let (configured, default) = match kind {
            EnvironmentKind::Python => (&settings.python_index, PYTHON_INDEX.0),
            EnvironmentKind::Node => (&settings.npm_registry, NPM_REGISTRY),
        };
        let url = configured.as_deref().unwrap_or(default).trim_end_matches('/').to_owned();
        let origin = if configured.is_some() { HostOrigin::Configured } else { HostOrigin::Public };
        let mut hosts: Vec<AllowedHost> = host_of_url(&url, origin).into_iter().collect();
        if configured.is_none() && kind == EnvironmentKind::Python {
            hosts.push(AllowedHost { host: PYTHON_INDEX.1.to_owned(), port: 443, origin });
        }
        hosts.extend(settings.hosts.iter().filter_map(|host| parse_host(host)));
        Self { url, hosts }
    }

    /// Returns the host of the index, for messages.
    pub(super) fn host(&self) -> String {
        self.hosts.first().map(|allowed| allowed.host.clone()).unwrap_or_default()
    }
}

fn host_of_url(url: &str, origin: HostOrigin) -> Option<AllowedHost> {
    let url = Url::parse(url).ok()?;
    let host = url.host_str()?.trim_matches(['[', ']']).to_ascii_lowercase();
    Some(AllowedHost { host, port: url.port_or_known_default()?, origin })
}

/// Parses `HOST` or `HOST:PORT`.
fn parse_host(text: &str) -> Option<AllowedHost> {
    host_of_url(&format!("https://{}", text.trim()), HostOrigin::Configured)
}

/// The user's own proxies.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct UpstreamProxy {
    https: Option<ProxyAddress>,
    http: Option<ProxyAddress>,
    /// Host suffixes that are reached directly.
    direct: Vec<String>,
}

/// The address of a proxy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ProxyAddress {
    pub(super) host: String,
    pub(super) port: u16,
    /// The value of the header `Proxy-Authorization`.
    pub(super) authorization: Option<String>,
}

impl UpstreamProxy {
    /// Reads `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY` and `NO_PROXY`, in either case.
    pub(super) fn from_variables(variables: &[(OsString, OsString)]) -> Self {
        let find = |name: &str| {
            let found = variables.iter().find(|(key, value)| {
                key.to_str().is_some_and(|key| key.eq_ignore_ascii_case(name)) && !value.is_empty()
            });
            found.and_then(|(_, value)| value.to_str()).map(str::to_owned)
        };
        let proxy =
            |name: &str| find(name).or_else(|| find("ALL_PROXY")).and_then(|value| parse_proxy(&value));
        let direct = find("NO_PROXY").unwrap_or_default();
        let direct =
            direct.split(',').map(|host| host.trim().trim_start_matches("*.").trim_start_matches('.'));
        Self {
            https: proxy("HTTPS_PROXY"),
            http: proxy("HTTP_PROXY"),
            direct: direct.filter(|host| !host.is_empty()).map(str::to_ascii_lowercase).collect(),
        }
    }

    /// Returns the proxy for a host.
    pub(super) fn for_host(&self, host: &str, is_tls: bool) -> Option<&ProxyAddress> {
        let is_direct = self.direct.iter().any(|direct| {
            direct == "*"
                || host == direct
                || host.strip_suffix(direct).is_some_and(|rest| rest.ends_with('.'))
        });
        let is_loopback = host == "localhost"
            || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback());
        match is_direct || is_loopback {
            true => None,
            false => {
                if is_tls {
                    self.https.as_ref()
                } else {
                    self.http.as_ref()
                }
            }
        }
    }
}

fn parse_proxy(value: &str) -> Option<ProxyAddress> {
    let value = if value.contains("://") { value.to_owned() } else { format!("http://{value}") };
    let url = Url::parse(&value).ok().filter(|url| url.scheme() == "http")?;
    let authorization = (!url.username().is_empty()).then(|| {
        let credentials = format!("{}:{}", url.username(), url.password().unwrap_or_default());
        format!("Basic {}", base64(credentials.as_bytes()))
    });
    Some(ProxyAddress {
        host: url.host_str()?.trim_matches(['[', ']']).to_owned(),
        port: url.port_or_known_default()?,
        authorization,
    })
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let number =
            chunk.iter().enumerate().fold(0_u32, |sum, (at, byte)| sum | u32::from(*byte) << (16 - 8 * at));
        for digit in 0..4 {
            let index = (number >> (18 - 6 * digit)) as usize & 63;
            text.push(if digit <= chunk.len() { DIGITS[index] as char } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hosts_of_an_index_are_its_own_and_those_of_the_user() {
        let hosts = |kind, settings: &EnvironmentSettings| {
            let index = PackageIndex::from_settings(kind, settings);
            let hosts: Vec<_> =
                index.hosts.iter().map(|host| format!("{}:{}", host.host, host.port)).collect();
            format!("{} {}", index.url, hosts.join(" "))
        };
        let own = EnvironmentSettings {
            python_index: Some("http://127.0.0.1:8000/simple/".to_owned()),
            hosts: vec!["Files.example".to_owned(), "mirror.example:8443".to_owned()],
            ..EnvironmentSettings::default()
        };
        let default = EnvironmentSettings::default();
        insta::assert_snapshot!(
            [hosts(EnvironmentKind::Python, &default), hosts(EnvironmentKind::Node, &default), hosts(EnvironmentKind::Python, &own)].join("\n"),
            @"
        https://pypi.org/simple pypi.org:443 files.pythonhosted.org:443
        https://registry.npmjs.org registry.npmjs.org:443
        http://127.0.0.1:8000/simple 127.0.0.1:8000 files.example:443 mirror.example:8443
        "
        );
    }

    #[test]
    fn names_do_not_lead_to_services_of_this_machine() {
        let host = |host: &str, origin| AllowedHost { host: host.to_owned(), port: 443, origin };
        let public = host("pypi.example", HostOrigin::Public);
        let own = host("mirror.example", HostOrigin::Configured);
        let allows = |host: &AllowedHost, address: &str| host.allows_address(address.parse().unwrap());
        for address in ["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"] {
            assert!(!allows(&public, address) && allows(&own, address), "{address}");
        }
        for address in [
            "0.0.0.0",
            "::",
            "169.254.169.254",
            "::ffff:169.254.169.254",
            "fe80::1",
            "fd00:ec2::254",
            "224.0.0.1",
        ] {
            assert!(!allows(&public, address) && !allows(&own, address), "{address}");
        }
        for address in ["151.101.0.223", "10.1.2.3", "2a04:4e42::223"] {
            assert!(allows(&public, address) && allows(&own, address), "{address}");
        }
        assert!(allows(&host("169.254.1.1", HostOrigin::Configured), "169.254.1.1"));
    }

    #[test]
    fn proxies_come_from_the_usual_variables() {
        let variables =
            [("https_proxy", "http://me:s3cret@proxy.example:3128"), ("NO_PROXY", "localhost,.corp.example")];
        let variables: Vec<_> = variables.iter().map(|(name, value)| (name.into(), value.into())).collect();
        let proxies = UpstreamProxy::from_variables(&variables);
        let proxy = proxies.for_host("index.example", true).unwrap();
        assert_eq!((proxy.host.as_str(), proxy.port), ("proxy.example", 3128));
        assert_eq!(proxy.authorization.as_deref(), Some("Basic bWU6czNjcmV0"));
        assert_eq!(proxies.for_host("index.corp.example", true), None);
        assert_eq!(proxies.for_host("notcorp.example", true), Some(proxy));
        assert_eq!(proxies.for_host("127.0.0.1", true), None);
        assert_eq!(proxies.for_host("index.example", false), None);
    }
}
