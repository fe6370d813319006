//! Configuration of a service by command line, variables and file, and tokens that change at run
//! time.

use std::fs::{self, File};

use crate::common::run::{Dir, indexed};
use crate::common::service::Service;
use crate::common::wait_until;

fn created() -> Dir {
    let dir = Dir::new();
    assert_eq!(dir.run(&["create", "idx"]).status, 0);
    dir
}

/// The options in effect, without their origins.
#[track_caller]
fn printed(dir: &Dir, args: &[&str], variables: &[(&str, &str)]) -> String {
    let arguments = [&["serve", "--print-config"], args].concat();
    let run = dir.command(&arguments).envs(variables.iter().copied()).output().unwrap();
    let (out, err) =
        (String::from_utf8(run.stdout).unwrap(), String::from_utf8(run.stderr).unwrap());
    assert!(run.status.success() && err.is_empty(), "{err}");
    out
}

#[test]
fn the_command_line_counts_before_variables_and_these_before_the_file() {
    let dir = created();
    dir.write(
        "cento.toml",
        "\u{feff}# ours\nindex = \"idx\"\ntimeout = \"7s\"\nmax-batch = 1_7\nlog-requests = true\n\
         no-tokens = false\ntrusted-proxy = [\"10.0.0.0/8\", \"fd00::1\"]\nreader = \"pdf=a 'b,c' d\"\n",
    );
    let check = |args: &[&str], variables: &[(&str, &str)], expected: &[&str]| {
        let args = [args, &["--config", "cento.toml"]].concat();
        let out = printed(&dir, &args, variables);
        for line in expected {
            assert!(out.lines().any(|other| other == *line), "{line} is not among\n{out}");
        }
    };
    check(
        &[],
        &[],
        &[
            "index = \"idx\"  # cento.toml:2",
            "timeout = \"7s\"  # cento.toml:3",
            "max-batch = 17  # cento.toml:4",
            "log-requests = true  # cento.toml:5",
            "no-tokens = false  # cento.toml:6",
            "trusted-proxy = [\"10.0.0.0/8\", \"fd00::1\"]  # cento.toml:7",
            "reader = [\"pdf=a 'b,c' d\"]  # cento.toml:8",
            "idle-timeout = \"75s\"  # default",
            "# tokens is not set",
        ],
    );
    check(
        &["--max-batch", "5", "--trusted-proxy", "::1"],
        &[("CENTO_TIMEOUT", "8s"), ("CENTO_MAX_BATCH", "6"), ("CENTO_LOG_REQUESTS", "false")],
        &[
            "timeout = \"8s\"  # CENTO_TIMEOUT",
            "max-batch = 5  # command line",
            "log-requests = false  # CENTO_LOG_REQUESTS",
            "trusted-proxy = [\"::1\"]  # command line",
        ],
    );
    check(&["other"], &[], &["index = \"other\"  # command line"]);
    check(&[], &[("CENTO_INDEX", "third")], &["index = \"third\"  # CENTO_INDEX"]);
}

#[test]
fn a_variable_with_a_wrong_value_is_named() {
    let dir = created();
    let check = |name: &str, value: &str, said: &str| {
        let run = dir.command(&["serve", "idx"]).env(name, value).output().unwrap();
        let err = String::from_utf8(run.stderr).unwrap();
        assert_eq!(run.status.code(), Some(2));
        assert!(err.starts_with(&format!("cento: {name}: ")) && err.contains(said), "{err}");
    };
    check("CENTO_TIMEOUT", "soon", "expected a duration");
    check("CENTO_NO_TOKENS", "perhaps", "--no-tokens");
    check("CENTO_NO_TOKENS", "perhaps", "expected true or false; 1 and 0, yes and no");
    // The library takes a word that is no level for the name of a part, and logs nothing else.
    let levels = "the levels are off, error, warn, info, debug, trace";
    for value in ["garbage", "infoo", "warn,cento=lots", "5", "warn,,info"] {
        check("CENTO_LOG", value, levels);
    }
    for (value, expected) in [("1", true), ("0", false), ("yes", true), ("off", false)] {
        let out = printed(&dir, &["idx"], &[("CENTO_NO_TOKENS", value)]);
        let expected = format!("no-tokens = {expected}  # CENTO_NO_TOKENS");
        assert!(out.contains(&expected), "{out}");
    }
}

#[test]
fn a_level_of_the_log_is_accepted() {
    let dir = created();
    for value in ["", "error", "WARN", "warn,cento=debug", "off, cento=info"] {
        // The address is refused after the log has been started.
        let serve = ["serve", "idx", "--listen", "192.0.2.1:1", "--no-tokens"];
        let run = dir.command(&serve).env("CENTO_LOG", value).output().unwrap();
        let err = String::from_utf8(run.stderr).unwrap();
        assert!(!err.contains("CENTO_LOG"), "{value}: {err}");
    }
}

#[test]
fn a_misspelled_variable_is_refused_with_the_name_that_was_meant() {
    let dir = created();
    let run = |name: &str, args: &[&str]| {
        let run = dir.command(&[&["serve", "idx"], args].concat()).env(name, "1").output().unwrap();
        (run.status.code(), String::from_utf8(run.stderr).unwrap())
    };
    for (name, meant) in [
        ("CENTO_READONLY", "CENTO_READ_ONLY"),
        ("CENTO_TRHEADS", "CENTO_THREADS"),
        ("CENTO_LOGS", "CENTO_LOG"),
    ] {
        let said = format!("cento: {name}: there is no such variable (did you mean `{meant}`?)\n");
        assert_eq!(run(name, &[]), (Some(2), said));
    }
    // Variables that Kubernetes sets in pods of a service called `cento`, and variables of
    // different programs.
    for name in ["CENTO_PORT", "CENTO_SERVICE_HOST", "CENTO_READ_PORT_7227_TCP_ADDR", "CENTO_URL"] {
        assert_eq!(run(name, &["--print-config"]), (Some(0), String::new()), "{name}");
    }
    let (status, said) = run("CENTO_URL", &["--listen", "192.0.2.1:1", "--no-tokens"]);
    assert_eq!(status, Some(2));
    assert!(said.contains("there is no variable CENTO_URL, and it is ignored"), "{said}");
}

#[test]
fn a_limit_that_a_service_cannot_work_with_is_refused() {
    let dir = created();
    for (option, value, said) in [
        ("--threads", "100000", "expected a number of threads from 1 to 1024"),
        ("--threads", "0", "expected a number of threads from 1 to 1024"),
        ("--max-requests", "0", "expected a whole number of at least 1"),
        ("--max-connections", "0", "expected a whole number of at least 1"),
        ("--max-body", "0", "expected a number of bytes above zero"),
        ("--memory", "0KiB", "expected a number of bytes above zero"),
    ] {
        let run = dir.run(&["serve", "idx", option, value]);
        assert!(run.status == 2 && run.err.contains(said), "{option} {value}: {}", run.err);
        dir.write("cento.toml", format!("{} = \"{value}\"\n", &option[2..]));
        let run = dir.run(&["serve", "idx", "--config", "cento.toml"]);
        assert!(run.status == 2 && run.err.starts_with("cento: cento.toml:1: "), "{}", run.err);
    }
    // The verbs with threads of their own.
    for args in [&["add", "idx", "."][..], &["pairs", "idx"], &["dedup", "."], &["families", "idx"]]
    {
        let run = dir.run(&[args, &["--threads", "100000"]].concat());
        assert!(run.status == 2 && run.err.contains("from 1 to 1024"), "{args:?}: {}", run.err);
    }
}

#[test]
fn a_service_listens_on_a_name() {
    let dir = created();
    let command = dir.command(&["serve", "idx", "--listen", "localhost:0"]);
    let service = Service::run(&dir, command);
    assert_eq!(service.client().stats().unwrap().index.documents, 0);
}

#[test]
fn the_printed_configuration_is_a_file_with_the_same_effect() {
    let dir = created();
    let args = ["a", "b", "--timeout", "3s", "--log", "json", "--cors-origin", "https://a.example"];
    let first = printed(&dir, &[&args[..], &["--tokens", "to \"ken\".txt"]].concat(), &[]);
    dir.write("printed.toml", &first);
    let second = printed(&dir, &["--config", "printed.toml"], &[]);
    let values = |text: &str| -> Vec<String> {
        text.lines().map(|line| line.split("  # ").next().unwrap().to_owned()).collect()
    };
    assert_eq!(values(&first), values(&second));
    assert!(first.contains("index = [\"a\", \"b\"]"), "{first}");
    assert!(second.contains("timeout = \"3s\"  # printed.toml:"), "{second}");
}

#[test]
fn tokens_are_not_printed() {
    let dir = created();
    dir.write("tokens", "write writer writer-0123456789\n");
    let out =
        printed(&dir, &["idx", "--tokens", "tokens"], &[("CENTO_TOKEN", "client-0123456789")]);
    assert!(out.contains("tokens = \"tokens\"") && !out.contains("0123456789"), "{out}");
}

#[test]
fn a_file_with_an_unknown_option_is_refused_with_its_line() {
    let dir = created();
    dir.write("tokens", "write writer writer-0123456789\n");
    let check = |text: &str, args: &[&str], place: &str, said: &str| {
        dir.write("cento.toml", text);
        let run = dir.run(&[&["serve", "idx", "--config", "cento.toml"], args].concat());
        let start = format!("cento: {place}: ");
        assert!(run.status == 2 && run.err.starts_with(&start), "{text}: {}", run.err);
        assert!(run.err.contains(said), "{text}: {}", run.err);
    };
    check("timeout = \"1s\"\n\ntimout = \"1s\"\n", &[], "cento.toml:3", "unknown key `timout`");
    let said = "unknown key `commit_interval` (did you mean `commit-interval`?); known are index";
    check("commit_interval = \"1s\"\n", &[], "cento.toml:1", said);
    check("[timeout]\nx = 1\n", &[], "cento.toml:1", "`timeout` takes a string or a number, not");
    check("config = \"other.toml\"\n", &[], "cento.toml:1", "unknown key `config`");
    check("print-config = true\n", &[], "cento.toml:1", "unknown key `print-config`");
    check("\n\ntimeout = 1s\n", &[], "cento.toml:3", "");
    check("timeout = \"1s\"\ntimeout = \"2s\"\n", &[], "cento.toml:2", "duplicate");
    check("max-batch = 1.5\n", &[], "cento.toml:1", "not float");
    check("log-requests = \"yes\"\n", &[], "cento.toml:1", "true or false");
    check("max-batch = [1, 2]\n", &[], "cento.toml:1", "not array");
    // What the command would say, with the line.
    check("# x\ntimeout = \"soon\"\n", &[], "cento.toml:2", "expected a duration");
    check("log = \"xml\"\n", &[], "cento.toml:1", "human, json");
    check("tokens = \"tokens\"\n", &["--no-tokens"], "cento.toml:1", "cannot be used with");
    let run = dir.run(&["serve", "idx", "--config", "none.toml"]);
    assert!(run.status == 2 && run.err.contains("none.toml"), "{}", run.err);
}

#[test]
fn a_service_begins_with_nothing_on_the_command_line() {
    let dir = indexed();
    dir.write("cento.toml", "index = \"idx\"\nlisten = \"127.0.0.1:0\"\n");
    let mut command = dir.command(&["serve"]);
    command.env("CENTO_CONFIG", "cento.toml").env("CENTO_MAX_BATCH", "1");
    let service = Service::run(&dir, command);
    let lines = "{\"text\": \"x\"}\n{\"text\": \"y\"}\n";
    let headers = "Content-Type: application/x-ndjson\r\n";
    assert_eq!(service.ask("POST", "/v1/search", headers, lines).status, 413);
    assert_eq!(service.client().stats().unwrap().index.documents, 3);
}

#[cfg(unix)]
#[test]
fn tokens_are_read_again_and_bad_ones_replace_none() {
    let dir = created();
    dir.write("tokens", "write writer writer-0123456789\n");
    let log = dir.path("log");
    let service =
        Service::start_logging(&dir, &["--tokens", "tokens"], File::create(&log).unwrap());
    let status = |token: &str| {
        service.ask("GET", "/v1/stats", &format!("Authorization: Bearer {token}\r\n"), "").status
    };
    let said = |what: &str| fs::read_to_string(&log).unwrap().matches(what).count();
    assert_eq!((status("writer-0123456789"), status("second-0123456789")), (200, 401));
    // A changed file is reloaded, even with an editor's byte order mark.
    dir.write("tokens", "\u{feff}write writer second-0123456789\n");
    wait_until("the log", || said("have been read again") == 1);
    assert_eq!((status("writer-0123456789"), status("second-0123456789")), (401, 200));
    // An invalid file, and a missing file.
    dir.write("tokens", "write short\n");
    wait_until("the log", || said("cannot be read again") == 1);
    assert_eq!(said("tokens:1: "), 1);
    assert_eq!(status("second-0123456789"), 200);
    fs::remove_file(dir.path("tokens")).unwrap();
    wait_until("the log", || said("cannot be read again") == 2);
    assert_eq!(status("second-0123456789"), 200);
    // On request, also if nothing has changed.
    service.signal("HUP");
    wait_until("the log", || said("cannot be read again") == 3);
    dir.write("tokens", "read reader third-0123456789\n");
    wait_until("the log", || said("have been read again") == 2);
    service.signal("HUP");
    wait_until("the log", || said("have been read again") == 3);
    assert_eq!((status("second-0123456789"), status("third-0123456789")), (401, 200));
    // No token is in the log.
    assert_eq!(said("0123456789"), 0);
    assert!(service.stop());
}

#[cfg(unix)]
#[test]
fn a_file_of_tokens_that_everybody_can_read_is_reported() {
    use std::os::unix::fs::PermissionsExt;
    let dir = created();
    dir.write("tokens", "write writer writer-0123456789\n");
    for (mode, is_told) in [(0o644, true), (0o602, true), (0o640, false), (0o600, false)] {
        fs::set_permissions(dir.path("tokens"), fs::Permissions::from_mode(mode)).unwrap();
        let log = dir.path("log");
        let log_file = File::create(&log).unwrap();
        let service = Service::start_logging(&dir, &["--tokens", "tokens"], log_file);
        assert!(service.stop());
        let said = fs::read_to_string(&log).unwrap();
        let found = said.contains("tokens") && said.contains("every user of this machine can");
        assert_eq!(found, is_told, "{mode:o}: {said}");
    }
}

#[cfg(unix)]
#[test]
fn a_hangup_stops_a_service_that_has_nothing_to_read_again() {
    let dir = created();
    let service = Service::start(&dir, &[]);
    service.signal("HUP");
    wait_until("the end of the service", || !dir.path("idx/.service.json").exists());
}
