//! A database that requires a password and TLS.

use std::fs;
use std::process::Command;

use prowess::ErrorCode;
use prowess_chat::store::{StoreAddress, StoreError, open};
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};

use crate::store::support::TestStore;
use prowess_testing::postgres::{PostgresServer, run_checked};

const PASSWORD: &str = "s3cret/with@signs";

/// The password as written in an address.
const ENCODED_PASSWORD: &str = "s3cret%2Fwith%40signs";

/// Starts a server and returns it with the path of its root certificate.
async fn secured(fixture: &TestStore) -> (PostgresServer, String) {
    let mut server = PostgresServer::start();
    let (client, connection) = tokio_postgres::connect(&server.url(), tokio_postgres::NoTls).await.unwrap();
    tokio::spawn(connection);
    client.batch_execute(&format!("ALTER ROLE prowess PASSWORD '{PASSWORD}'")).await.unwrap();
    drop(client);
    server.stop("INT");

    let authority_key = KeyPair::generate().unwrap();
    let mut authority = CertificateParams::new(vec![]).unwrap();
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let root = fixture.dir.path().join("root.pem");
    fs::write(&root, authority.self_signed(&authority_key).unwrap().pem()).unwrap();
    let key = KeyPair::generate().unwrap();
    let issuer = Issuer::new(authority, authority_key);
    let certificate =
        CertificateParams::new(vec!["localhost".to_owned()]).unwrap().signed_by(&key, &issuer).unwrap();
    let data = server.data_dir();
    fs::write(data.join("server.crt"), certificate.pem()).unwrap();
    fs::write(data.join("server.key"), key.serialize_pem()).unwrap();
    fs::write(data.join("pg_hba.conf"), "hostssl all all 127.0.0.1/32 scram-sha-256\n").unwrap();
    run_checked(Command::new("chmod").arg("600").arg(data.join("server.key")));
    for file in ["server.key", "server.crt", "pg_hba.conf"] {
        run_checked(Command::new("chown").arg("--reference").arg(&data).arg(data.join(file)));
    }
    server.settings.push("ssl=on".to_owned());
    server.run();
    (server, root.to_str().unwrap().to_owned())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn passwords_and_certificates() {
    let fixture = TestStore::sqlite();
    let (server, root) = secured(&fixture).await;
    let port = server.port;
    let address = |password: &str, host: &str, parameters: &str| {
        StoreAddress::parse(&format!("postgresql://prowess:{password}@{host}:{port}/prowess?{parameters}"))
            .unwrap()
    };
    let trusted = format!("sslmode=verify-full&sslrootcert={root}");

    let store = open(&address(ENCODED_PASSWORD, "localhost", &trusted)).await.unwrap();
    store.check().await.unwrap();
    assert_eq!(store.location(), format!("postgresql://localhost:{port}/prowess"));

    let refused = [
        ("wrong password", address("wrong-SECRET", "localhost", &trusted)),
        ("wrong host name", address(ENCODED_PASSWORD, "127.0.0.1", &trusted)),
        ("unknown issuer", address(ENCODED_PASSWORD, "localhost", "sslmode=require")),
        ("not encrypted", address(ENCODED_PASSWORD, "localhost", "sslmode=disable")),
    ];
    let mut errors = Vec::new();
    for (case, address) in refused {
        let error = open(&address).await.err().unwrap();
        assert_eq!(error.code(), ErrorCode::PermissionDenied, "{case}: {error}");
        assert!(!error.to_string().contains("s3cret") && !error.to_string().contains("SECRET"), "{error}");
        errors.push(format!("{case}: {error}"));
    }
    insta::with_settings!({filters => vec![(r#"host "[^"]*""#, "HOST")]}, {
        insta::assert_snapshot!(errors.join("\n"));
    });
    let missing =
        open(&address(ENCODED_PASSWORD, "localhost", "sslmode=require&sslrootcert=/nowhere.pem")).await.err();
    assert!(matches!(missing, Some(StoreError::Invalid(_))), "{missing:?}");
}

/// A database that would lose characters is refused before any change.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_with_another_encoding_is_refused() {
    let server = PostgresServer::start();
    let (client, connection) = tokio_postgres::connect(&server.url(), tokio_postgres::NoTls).await.unwrap();
    tokio::spawn(connection);
    client
        .batch_execute("CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0")
        .await
        .unwrap();
    let address =
        StoreAddress::parse(&format!("postgresql://prowess@127.0.0.1:{}/latin", server.port)).unwrap();
    let refused = open(&address).await.err().unwrap();
    insta::assert_snapshot!(refused, @"the store denied access: the database encoding is not UTF-8; create the database with ENCODING 'UTF8'");
    let missing =
        StoreAddress::parse(&format!("postgresql://prowess@127.0.0.1:{}/missing", server.port)).unwrap();
    let refused = open(&missing).await.err().unwrap();
    insta::assert_snapshot!(refused, @r#"the store denied access: database "missing" does not exist"#);
}
