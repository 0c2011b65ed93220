//! A database that asks for a password and speaks only encrypted.

use std::fs;
use std::process::Command;

use prowess::ErrorCode;
use prowess_chat::store::{Address, StoreError, open};
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};

use crate::store::world::World;
use prowess_testing::postgres::{Server, done};

const PASSWORD: &str = "s3cret/with@signs";

/// The same, as it is written in an address.
const WRITTEN: &str = "s3cret%2Fwith%40signs";

/// A server, and the certificate of those who signed for it.
async fn secured(world: &World) -> (Server, String) {
    let mut server = Server::start();
    let (client, connection) = tokio_postgres::connect(&server.url(), tokio_postgres::NoTls).await.unwrap();
    tokio::spawn(connection);
    client.batch_execute(&format!("ALTER ROLE prowess PASSWORD '{PASSWORD}'")).await.unwrap();
    drop(client);
    server.stop("INT");

    let authority_key = KeyPair::generate().unwrap();
    let mut authority = CertificateParams::new(vec![]).unwrap();
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let root = world.folder.path().join("root.pem");
    fs::write(&root, authority.self_signed(&authority_key).unwrap().pem()).unwrap();
    let key = KeyPair::generate().unwrap();
    let issuer = Issuer::new(authority, authority_key);
    let certificate =
        CertificateParams::new(vec!["localhost".to_owned()]).unwrap().signed_by(&key, &issuer).unwrap();
    let data = server.data();
    fs::write(data.join("server.crt"), certificate.pem()).unwrap();
    fs::write(data.join("server.key"), key.serialize_pem()).unwrap();
    fs::write(data.join("pg_hba.conf"), "hostssl all all 127.0.0.1/32 scram-sha-256\n").unwrap();
    done(Command::new("chmod").arg("600").arg(data.join("server.key")));
    for file in ["server.key", "server.crt", "pg_hba.conf"] {
        done(Command::new("chown").arg("--reference").arg(&data).arg(data.join(file)));
    }
    server.settings.push("ssl=on".to_owned());
    server.run();
    (server, root.to_str().unwrap().to_owned())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn passwords_and_certificates() {
    let world = World::sqlite();
    let (server, root) = secured(&world).await;
    let port = server.port;
    let address = |password: &str, host: &str, more: &str| {
        Address::parse(&format!("postgresql://prowess:{password}@{host}:{port}/prowess?{more}")).unwrap()
    };
    let trusted = format!("sslmode=verify-full&sslrootcert={root}");

    let store = open(&address(WRITTEN, "localhost", &trusted)).await.unwrap();
    store.check().await.unwrap();
    assert_eq!(store.place(), format!("postgresql://localhost:{port}/prowess"));

    let refused = [
        ("another password", address("wrong-SECRET", "localhost", &trusted)),
        ("not for that name", address(WRITTEN, "127.0.0.1", &trusted)),
        ("signed by nobody we know", address(WRITTEN, "localhost", "sslmode=require")),
        ("not encrypted", address(WRITTEN, "localhost", "sslmode=disable")),
    ];
    let mut told = Vec::new();
    for (why, address) in refused {
        let error = open(&address).await.err().unwrap();
        assert_eq!(error.code(), ErrorCode::PermissionDenied, "{why}: {error}");
        assert!(!error.to_string().contains("s3cret") && !error.to_string().contains("SECRET"), "{error}");
        told.push(format!("{why}: {error}"));
    }
    insta::with_settings!({filters => vec![(r#"host "[^"]*""#, "HOST")]}, {
        insta::assert_snapshot!(told.join("\n"));
    });
    let missing =
        open(&address(WRITTEN, "localhost", "sslmode=require&sslrootcert=/nowhere.pem")).await.err();
    assert!(matches!(missing, Some(StoreError::Invalid(_))), "{missing:?}");
}

/// What would lose characters is refused before anything is made in it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_of_another_encoding() {
    let server = Server::start();
    let (client, connection) = tokio_postgres::connect(&server.url(), tokio_postgres::NoTls).await.unwrap();
    tokio::spawn(connection);
    client
        .batch_execute("CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0")
        .await
        .unwrap();
    let address = Address::parse(&format!("postgresql://prowess@127.0.0.1:{}/latin", server.port)).unwrap();
    let refused = open(&address).await.err().unwrap();
    insta::assert_snapshot!(refused, @"the store refuses: the database is not one of UTF-8; create it with ENCODING 'UTF8'");
    let missing = Address::parse(&format!("postgresql://prowess@127.0.0.1:{}/missing", server.port)).unwrap();
    let refused = open(&missing).await.err().unwrap();
    insta::assert_snapshot!(refused, @r#"the store refuses: database "missing" does not exist"#);
}
