//! Tests of sizes.

use super::*;

fn sizes(value: Value) -> Sizes {
    let sizes = Sizes::read(&value).unwrap();
    sizes.validate().unwrap();
    sizes
}

/// The first draws of each of them below `root(42)/size`.
const DRAWN: [[u64; 3]; 8] = [
    [10_000, 10_000, 10_000],
    [3_287, 14_699, 19_508],
    [1_116, 1_633, 1_916],
    [13_318, 37_276, 53_382],
    [304, 1_328, 2_968],
    [10_311, 77_797, 383_584],
    [352, 762, 1_328],
    [2_644, 6_517, 7_403],
];

fn all() -> Vec<Sizes> {
    [
        json!("10 kB"),
        json!({ "kind": "exponential", "mean": "20 kB" }),
        json!({ "kind": "pareto", "shape": 1.5, "min": "1 kB", "max": "1 MB" }),
        json!({ "kind": "lognormal", "mean": "30 kB", "cv": 1.0 }),
        json!({ "kind": "empirical", "points": [[1000.0, 50.0], [9000.0, 100.0]] }),
        json!("web-search"),
        json!("hadoop"),
        json!("storage"),
    ]
    .map(sizes)
    .to_vec()
}

#[test]
fn sizes_are_written_as_they_are_read() {
    for value in [
        json!("10 kB"),
        json!({ "kind": "pareto", "shape": 1.5, "min": "1 kB", "max": "1 MB" }),
        json!({ "kind": "lognormal", "mean": "30 kB", "cv": 2.0 }),
        json!({ "kind": "exponential", "mean": "30 kB" }),
        json!({ "kind": "empirical", "points": [[1000.0, 50.0], [9000.0, 100.0]] }),
        json!("data-mining"),
    ] {
        assert_eq!(serde_json::to_value(sizes(value.clone())).unwrap(), value);
    }
    let table = sizes(json!({ "kind": "web_search" }));
    assert_eq!(serde_json::to_value(table).unwrap(), json!("web-search"));
    let fixed = sizes(json!({ "kind": "fixed", "size": "3 MB" }));
    assert_eq!(serde_json::to_value(fixed).unwrap(), json!("3 MB"));
}

#[test]
fn what_is_wrong_is_named() {
    let told = |value: Value| match Sizes::read(&value) {
        Ok(sizes) => sizes.validate().unwrap_err().to_string(),
        Err(error) => error.to_string(),
    };
    for (value, expected) in [
        (json!("10"), "'10': a unit is missing; expected an amount of data such as \"60 kB\""),
        (json!("0 B"), "0 B given; allowed: 1 B to 1 TB"),
        (
            json!("websearch"),
            "unknown distribution of sizes 'websearch'; did you mean 'web-search'?",
        ),
        (json!({ "kind": "pareto", "min": "1 kB", "max": "1 MB" }), "shape: is missing"),
        (
            json!({ "kind": "pareto", "shape": 1, "min": "10 kB", "max": "10 kB" }),
            "min: 10 kB given; allowed: less than max, 10 kB",
        ),
        (
            json!({ "kind": "pareto", "shape": 0, "min": "1 kB", "max": "10 kB" }),
            "shape: 0 given; allowed: above 0, at most 100",
        ),
        (
            json!({ "kind": "lognormal", "mean": "1 kB", "cv": -2 }),
            "cv: -2 given; allowed: 0 to 100",
        ),
        (json!({ "kind": "hadoop", "mean": "1 kB" }), "mean: unknown key 'mean'"),
    ] {
        let told = told(value);
        assert!(told.starts_with(expected), "{told}");
    }
}

#[test]
fn means_of_draws_are_those_computed() {
    // As near as 10^5 draws allow: three standard errors.
    let shares = [0.0, 0.01, 0.03, 0.01, 0.01, 0.025, 0.05, 0.05];
    for (sizes, share) in all().iter().zip(shares) {
        let key = StreamKey::root(11).child("size");
        let mean = (0..100_000).map(|n| sizes.draw(key, n) as f64).sum::<f64>() / 1e5;
        assert!((mean / sizes.mean() - 1.0).abs() <= share, "{sizes:?}: {mean}");
    }
}

#[test]
fn quantiles_are_those_of_the_distributions() {
    let below = |sizes: &Sizes, bytes: f64| {
        let key = StreamKey::root(5);
        (0..100_000).filter(|n| sizes.draw(key, *n) as f64 <= bytes).count() as f64 / 1e5
    };
    let all = all();
    let near = |share: f64, expected: f64| assert!((share - expected).abs() < 0.006, "{share}");
    near(below(&all[1], 20e3), 1.0 - (-1.0_f64).exp());
    let beyond = 1e-3_f64.powf(1.5);
    near(below(&all[2], 4e3), (1.0 - 0.25_f64.powf(1.5)) / (1.0 - beyond));
    // The median is the mean by the square root of 1 + cv^2.
    near(below(&all[3], 30e3 / 2.0_f64.sqrt()), 0.5);
    near(below(&all[4], 5e3), 0.75);
    near(below(&all[5], 80e3), 0.53);
    near(below(&all[6], 700.0), 0.5);
    near(below(&all[7], 16e3), 0.8061);
}

/// A change of a draw changes results on all machines: only on purpose.
#[test]
fn draws_are_the_same_everywhere() {
    let key = StreamKey::root(42).child("size");
    let drawn: Vec<[u64; 3]> =
        all().iter().map(|sizes| [0, 1, 2].map(|n| sizes.draw(key, n))).collect();
    assert_eq!(drawn, DRAWN);
}

#[test]
fn sizes_stay_within_their_bounds_and_do_not_depend_on_order() {
    let key = StreamKey::root(1);
    for sizes in all() {
        let drawn: Vec<u64> = (0..1_000).map(|n| sizes.draw(key, n)).collect();
        assert!(drawn.iter().all(|size| (1..=LARGEST).contains(size)));
        assert_eq!(sizes.draw(key, 7), drawn[7]);
    }
    let pareto = &all()[2];
    assert!((0..10_000).all(|n| (1_000..=1_000_000).contains(&pareto.draw(key, n))));
}

#[test]
fn bounded_pareto_has_its_mean_at_every_shape() {
    let mean = |shape| Pareto { shape, min: Bytes(1_000), max: Bytes(1_000_000) }.mean();
    // Without the special case, shapes near 1 tend to that of 1.
    assert!((mean(1.0) / mean(1.0 + 1e-9) - 1.0).abs() < 1e-6);
    assert!((mean(1.0) - 1e3 * 1e3_f64.ln() / (1.0 - 1e-3)).abs() < 1e-6);
    assert!(mean(100.0) < 1_011.0);
}

#[test]
fn segments_are_counted_with_the_last_one() {
    let near = |value, expected: f64| {
        let segments = sizes(value).mean_segments(1_000);
        assert!((segments - expected).abs() < 0.05, "{segments}, not {expected}");
    };
    near(json!("1 B"), 1.0);
    near(json!("1000 B"), 1.0);
    near(json!("2500 B"), 3.0);
    near(json!({ "kind": "exponential", "mean": "100 kB" }), 100.5);
}
