use super::*;
use proptest::prelude::*;

const A: &str = "1111111111111111111111111111111111111111";
const B: &str = "2222222222222222222222222222222222222222";

/// A server with scripted responses that records the last request.
struct ScriptedServer {
    greeting: Vec<u8>,
    response: Vec<u8>,
    requested: Vec<u8>,
}

impl GitTransport for ScriptedServer {
    fn greeting(&mut self) -> Result<Box<dyn Read + '_>, GitError> {
        Ok(Box::new(self.greeting.as_slice()))
    }

    fn request(&mut self, request: &[u8]) -> Result<Box<dyn Read + '_>, GitError> {
        self.requested = request.to_vec();
        Ok(Box::new(self.response.as_slice()))
    }
}

fn encode_lines(lines: &[&str]) -> Vec<u8> {
    let mut out = Vec::new();
    for line in lines {
        match *line {
            "0000" | "0001" => out.extend_from_slice(line.as_bytes()),
            line => write_line(&mut out, line),
        }
    }
    out
}

fn request_lines(script: &ScriptedServer) -> Vec<String> {
    let mut packets = PacketReader::new(script.requested.as_slice());
    let mut lines = Vec::new();
    while let Ok(packet) = packets.read_packet() {
        lines.push(match packet {
            Packet::Flush => "0000".to_owned(),
            Packet::Delimiter => "0001".to_owned(),
            Packet::Data(data) => String::from_utf8_lossy(data).trim_end().to_owned(),
        });
    }
    lines
}

#[test]
fn version_2_lists_refs_and_sends_a_pack() {
    let greeting =
        encode_lines(&["version 2", "ls-refs", "fetch=shallow filter", "object-format=sha1", "0000"]);
    let head = format!("{A} HEAD symref-target:refs/heads/main");
    let tag = format!("{A} refs/tags/v1 peeled:{B}");
    let answer = encode_lines(&[&head, &tag, "0000"]);
    let mut script = ScriptedServer { greeting: greeting.clone(), response: answer, requested: Vec::new() };
    let mut server = UploadPack::connect(&mut script).unwrap();
    let refs = server.refs(&["HEAD".to_owned()]).unwrap();
    assert_eq!(refs.head_target.as_deref(), Some("refs/heads/main"));
    assert_eq!(refs.all[0].peeled.unwrap().to_string(), B);
    let lines =
        ["command=ls-refs", "object-format=sha1", "0001", "peel", "symrefs", "ref-prefix HEAD", "0000"];
    assert_eq!(request_lines(&script), lines);

    let mut answer = encode_lines(&["shallow-info", &format!("shallow {A}"), "0001", "packfile"]);
    answer.extend_from_slice(b"0009\x01PACK0000");
    let mut script = ScriptedServer { greeting, response: answer, requested: Vec::new() };
    let server = UploadPack::connect(&mut script).unwrap();
    let mut incoming = server.fetch_pack(ObjectId::from_hex(A.as_bytes()).unwrap()).unwrap();
    let mut pack = String::new();
    incoming.pack.read_to_string(&mut pack).unwrap();
    assert_eq!((pack.as_str(), incoming.filtered), ("PACK", true));
    drop(incoming);
    assert_eq!(
        request_lines(&script),
        [
            "command=fetch",
            "object-format=sha1",
            "0001",
            "no-progress",
            "ofs-delta",
            "deepen 1",
            "filter blob:limit=16777217",
            &format!("want {A}"),
            "done",
            "0000"
        ]
    );
}

#[test]
fn version_0_is_supported() {
    let first = format!("{A} HEAD\0side-band-64k shallow ofs-delta symref=HEAD:refs/heads/main");
    let tag = format!("{A} refs/tags/v1");
    let peeled = format!("{B} refs/tags/v1^{{}}");
    let greeting = encode_lines(&["# service=git-upload-pack", "0000", &first, &tag, &peeled, "0000"]);
    let mut answer = encode_lines(&[&format!("shallow {A}"), "0000", "NAK"]);
    answer.extend_from_slice(b"0009\x01PACK0000");
    let mut script = ScriptedServer { greeting, response: answer, requested: Vec::new() };
    let mut server = UploadPack::connect(&mut script).unwrap();
    let refs = server.refs(&[]).unwrap();
    assert_eq!(refs.head_target.as_deref(), Some("refs/heads/main"));
    assert_eq!((refs.all.len(), refs.all[0].peeled.unwrap().to_string().as_str()), (1, B));
    let mut pack = String::new();
    server.fetch_pack(refs.all[0].id).unwrap().pack.read_to_string(&mut pack).unwrap();
    assert_eq!(pack, "PACK");
    let want = format!("want {A} side-band-64k ofs-delta");
    assert_eq!(request_lines(&script), [want.as_str(), "deepen 1", "0000", "done"]);
}

#[test]
fn an_empty_repository_has_no_refs() {
    let none = format!("{} capabilities^{{}}\0side-band-64k", "0".repeat(40));
    for greeting in [encode_lines(&[&none, "0000"]), encode_lines(&["0000"])] {
        let mut script = ScriptedServer { greeting, response: Vec::new(), requested: Vec::new() };
        assert_eq!(UploadPack::connect(&mut script).unwrap().refs(&[]).unwrap(), Refs::default());
    }
}

proptest! {
    #[test]
    fn arbitrary_responses_do_not_panic(
        lines in proptest::collection::vec(
            "(version [012]|# service=x|0000|0001|NAK|[12]{40} (HEAD|refs/tags/v1(\\^\\{\\})?)(\u{0}side-band-64k)?|\\PC{0,8})",
            0..8,
        ),
        answer in proptest::collection::vec(any::<u8>(), 0..20),
    ) {
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let mut script = ScriptedServer { greeting: encode_lines(&lines), response: answer, requested: Vec::new() };
        if let Ok(mut server) = UploadPack::connect(&mut script) {
            let _ = server.refs(&[]);
            let _ = server.fetch_pack(ObjectId::null(gix_hash::Kind::Sha1)).map(|_| ());
        }
    }
}
