#![allow(clippy::all, missing_docs)]
use tune::workload::*;
#[tokio::main]
async fn main() {
    let a: Vec<String> = std::env::args().collect();
    let opts = mysql_async::OptsBuilder::default().socket(Some(a[2].clone())).user(Some("root")).prefer_socket(true);
    let w = Workload::named("iibench", 0.0, Some(a[3].parse().unwrap())).unwrap();
    let t = std::time::Instant::now();
    match a[1].as_str() {
        "load" => { let mut p = |p: LoadProgress| eprint!("\r{:?} {:.2} {:.1}s", p.phase, p.share, t.elapsed().as_secs_f64()); w.load(opts, &mut p).await.unwrap(); eprintln!("\n{:.1}s", t.elapsed().as_secs_f64()); }
        _ => { let secs: usize = a[4].parse().unwrap();
            let mut watch = |ws: &[tune::observation::Window]| ws.len() < secs;
            let r = w.run(opts, 1, &mut watch).await.unwrap();
            println!("rates {:?}", r.windows.iter().map(|w| w.operations as i64).collect::<Vec<_>>());
            println!("queries {:?} lat {:?} cpu {:.2}", r.windows.iter().map(|w| w.queries as i64).collect::<Vec<_>>(), r.latency_ms, r.client_cpu);
            println!("{:?}", tune::trial::steady(&r.windows)); }
    }
}
