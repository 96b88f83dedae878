//! The catalogue's listing of every member.

use serde_json::Value;
use sojourn_catalogue::builtin;
use sojourn_sim::catalogue::to_json;

fn rows() -> Vec<(String, Value)> {
    let catalogue = to_json(builtin());
    let kinds = catalogue.as_object().unwrap();
    let members = kinds.values().flat_map(|members| members.as_array().unwrap());
    members
        .flat_map(|member| {
            let name = member["name"].as_str().unwrap().to_owned();
            let parameters = member["parameters"].as_array().unwrap().clone();
            parameters.into_iter().map(move |parameter| (name.clone(), parameter))
        })
        .collect()
}

#[test]
fn every_parameter_is_described_and_typed() {
    for (member, parameter) in rows() {
        let description = parameter["description"].as_str().unwrap();
        assert!(description.len() > 10, "{member}: {parameter}");
        assert_ne!(parameter["type"], "any", "{member}: {parameter}");
    }
}

#[test]
fn every_member_has_a_summary_of_one_line() {
    for members in to_json(builtin()).as_object().unwrap().values() {
        assert!(!members.as_array().unwrap().is_empty());
        for member in members.as_array().unwrap() {
            let summary = member["summary"].as_str().unwrap();
            assert!((10..=200).contains(&summary.len()), "{}: {summary}", member["name"]);
            assert!(!summary.contains('\n'));
        }
    }
}

#[test]
fn every_control_and_discipline_names_its_source() {
    let catalogue = to_json(builtin());
    let members = ["ccas", "queues"].iter().flat_map(|k| catalogue[k].as_array().unwrap());
    let without = members.filter(|member| member["source"].is_null());
    // Measuring instruments follow no source.
    assert!(without.map(|member| &member["name"]).eq(["fixed-window", "fixed-rate"].iter()));
}

#[test]
fn an_initial_does_not_end_the_source() {
    let scalable = to_json(builtin())["ccas"].as_array().unwrap()[4].clone();
    assert_eq!(scalable["name"], "scalable");
    let source = scalable["source"].as_str().unwrap();
    assert!(source.contains("T. Kelly, ") && source.ends_with("CCR 2003."), "{source}");
}

#[test]
fn quantities_are_named_by_what_they_measure() {
    let find = |member: &str, name: &str| {
        let mut rows = rows().into_iter();
        rows.find(|(m, row)| m == member && row["name"] == name).unwrap().1
    };
    assert_eq!(find("cbr", "rate")["type"], "rate");
    assert_eq!(find("cbr", "rate")["default"], "1 Mbit/s");
    assert_eq!(find("fifo", "limit")["type"], "queue size");
    assert_eq!(find("fq_codel", "limit")["type"], "packets or bdp");
    assert_eq!(find("on-off", "times")["type"], "fixed | exponential");
    assert_eq!(find("dumbbell", "access_rate")["type"], "rate");
    assert_eq!(find("reno", "beta")["default"], 0.5);
}
