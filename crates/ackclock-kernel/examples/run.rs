use ackclock_scenario::Scenario;
use std::sync::atomic::AtomicBool;
fn main() {
    let mut args = std::env::args().skip(1);
    let kernel = args.next().unwrap();
    let file = args.next().unwrap();
    let sets: Vec<String> = args.collect();
    let text = std::fs::read_to_string(&file).unwrap();
    let scenario = Scenario::from_toml(&text, &file, &sets).unwrap();
    let plan = scenario.plan(None, 0);
    let start = std::time::Instant::now();
    let done = ackclock_kernel::run(&plan, &ackclock_kernel::Image { kernel: kernel.into(), snaplen: 96 }, &AtomicBool::new(false));
    match done {
        Ok(run) => { println!("{}", serde_json::to_string(&run.result.flows[0]).unwrap()); println!("stretches {} wall {:?}", run.stretches, start.elapsed()); }
        Err(error) => println!("error: {error}"),
    }
}
