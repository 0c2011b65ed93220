//! The `main` of a test program that is also the sandbox helper.

/// Runs the sandbox helper if the sandbox started this process. Otherwise lists or runs the tests, like the default
/// harness.
pub fn run_tests(tests: &[(&str, fn())]) {
    prowess_sandbox::helper_main();
    let args: Vec<String> = std::env::args().skip(1).collect();
    let has = |flag: &str| args.iter().any(|arg| arg == flag);
    if has("--list") {
        let listed = tests.iter().filter(|_| !has("--ignored"));
        return listed.for_each(|(name, _)| println!("{name}: test"));
    }
    let filters: Vec<&String> = args.iter().filter(|arg| !arg.starts_with('-')).collect();
    let is_wanted = |name: &str| {
        let is =
            |filter: &&String| if has("--exact") { name == **filter } else { name.contains(filter.as_str()) };
        filters.is_empty() || filters.iter().any(is)
    };
    let mut count = 0;
    for (name, test) in tests.iter().filter(|(name, _)| is_wanted(name)) {
        test();
        println!("test {name} ... ok");
        count += 1;
    }
    println!("\ntest result: ok. {count} passed; 0 failed");
}
