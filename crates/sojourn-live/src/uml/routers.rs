//! Routers inside a kernel: a network namespace each, which forwards from one card to the other,
//! with a queue discipline of the kernel on the latter.

use sojourn_base::error::FieldError;
use sojourn_base::packet::headers;
use sojourn_net::queue::kernel::{Gate, KIND, Wanted};
use sojourn_sim::scenario::Scenario;
use sojourn_sim::topology::PlannedLink;

use super::devices::{Family, add_default_route, move_to, set_up};
use super::failure::doing;
use crate::error::Error;
use crate::iproute;
use crate::namespace::{self, Namespace};
use crate::sys::{Setting, configure};

/// Bytes of an Ethernet header, which the kernel counts.
const ETHERNET: i64 = headers::ETHERNET as i64;
/// Room of the token bucket beyond one packet, for rounding to whole ticks.
const SLACK: i64 = 32;
/// Limit of the token bucket's own queue, which another one replaces.
const UNUSED: &str = "100000";

/// The links of a scenario whose queue is a kernel's.
///
/// # Errors If a link cannot have such a queue, or the machine lacks the programs that set it up.
pub(super) fn links(scenario: &Scenario) -> Result<Vec<&PlannedLink>, FieldError> {
    let has_one = |link: &&PlannedLink| link.spec.queue.as_ref().is_some_and(|q| q.kind == KIND);
    let links: Vec<_> = scenario.plan().links.iter().filter(has_one).collect();
    for link in &links {
        let spec = &link.spec;
        let varies = spec.trace.is_some() || spec.rate_schedule.is_some() || spec.shaper.is_some();
        if link.on.is_some() || varies {
            let message = "kernel given; allowed: one of the simulator's queue disciplines, since \
                           the link is on a shared medium or its rate varies";
            return Err(FieldError::new(format!("topology.{}.queue", link.id), message));
        }
    }
    if !links.is_empty() && iproute::program("tc").is_none() {
        let message =
            "kernel given; it needs the program tc(8), which is missing: apt install iproute2";
        return Err(FieldError::new("queue", message));
    }
    Ok(links)
}

/// Makes the routers from the cards that follow the hosts', the first of which is `first`: they are in
/// the namespace `root`; the calling thread is there, and returns there. They exist as long as their
/// namespaces are held. With programs, they forward packets of IPv6 as well.
///
/// # Errors
/// If the kernel or tc(8) refuses something.
pub(super) fn make(
    gates: &[Gate],
    first: usize,
    (root, mtu, programs): (&Namespace, u32, bool),
) -> Result<Vec<Namespace>, Error> {
    let mut routers = Vec::new();
    for (number, gate) in gates.iter().enumerate() {
        let card = |port: usize| format!("eth{}", first + 2 * number + port);
        routers.push(make_one(
            [&card(0), &card(1)],
            number as u8,
            &gate.wanted,
            (root, mtu, programs),
        )?);
        root.enter().map_err(|error| doing("leaving a router inside the kernel", error))?;
    }
    Ok(routers)
}

fn make_one(
    cards: [&str; 2],
    number: u8,
    wanted: &Wanted,
    (root, mtu, programs): (&Namespace, u32, bool),
) -> Result<Namespace, Error> {
    let failed = |error| doing("making a router inside the kernel", error);
    let router = Namespace::enter_new().map_err(failed)?;
    if programs {
        namespace::forward_ipv6().map_err(failed)?;
    }
    root.enter().map_err(failed)?;
    for card in cards {
        move_to(card, &router).map_err(failed)?;
    }
    router.enter().map_err(failed)?;
    namespace::set("ipv4/ip_forward", "1").map_err(failed)?;
    for (port, card) in (1..).zip(cards) {
        set_up(card, [10, 78, number, 16 * port], mtu).map_err(failed)?;
        // Merging would make one packet of those that arrive together, and the queue would observe
        // one.
        let control = namespace::control().map_err(failed)?;
        configure(&control, card, Setting::WithoutGro).map_err(failed)?;
    }
    let route = format!("route add default dev {}", cards[1]);
    iproute::run("ip", &route).map_err(failed)?;
    if programs {
        add_default_route(cards[1], Family::V6).map_err(failed)?;
    }
    // Packets of programs are as large as cards allow.
    let largest = if programs { mtu.max(wanted.full_packet) } else { wanted.full_packet };
    let lines = disciplines(cards[1], &Wanted { full_packet: largest, ..wanted.clone() });
    lines.iter().try_for_each(|line| iproute::run("tc", line)).map_err(failed)?;
    Ok(router)
}

/// Arguments of tc(8) for a discipline on a card.
fn disciplines(card: &str, wanted: &Wanted) -> Vec<String> {
    let Wanted { params, rate, overhead, full_packet } = wanted;
    let (name, options) = (&params.name, &params.options);
    let (rate, overhead) = (rate.as_bps(), i64::from(*overhead));
    if wanted.shapes() {
        let usual = format!("bandwidth {rate}bit overhead {overhead}");
        return vec![format!("qdisc add dev {card} root {name} {usual} {options}")];
    }
    let bucket = i64::from(*full_packet) + overhead + SLACK;
    // The link's overhead of a packet, in place of the kernel's.
    let size = match overhead - ETHERNET {
        0 => String::new(),
        more => format!("stab overhead {more}"),
    };
    vec![
        format!(
            "qdisc add dev {card} root handle 1: {size} tbf rate {rate}bit burst {bucket} limit {UNUSED}"
        ),
        format!("qdisc add dev {card} parent 1:1 handle 2: {name} {options}"),
    ]
}

#[cfg(test)]
mod tests {
    use sojourn_base::units::Rate;
    use sojourn_net::queue::kernel::Params;

    use super::*;

    fn lines(name: &str, options: &str, overhead: u32) -> Vec<String> {
        let params = Params { name: name.to_owned(), options: options.to_owned() };
        let rate = Rate::from_bps(20_000_000);
        disciplines("eth3", &Wanted { params, rate, overhead, full_packet: 1500 })
    }

    #[test]
    fn cake_shapes_and_others_are_shaped() {
        assert_eq!(
            lines("cake", "bandwidth 10mbit", 0),
            ["qdisc add dev eth3 root cake bandwidth 20000000bit overhead 0 bandwidth 10mbit"]
        );
        assert_eq!(
            lines("codel", "ecn", 14),
            [
                "qdisc add dev eth3 root handle 1:  tbf rate 20000000bit burst 1546 limit 100000",
                "qdisc add dev eth3 parent 1:1 handle 2: codel ecn"
            ]
        );
        assert!(lines("codel", "", 0)[0].contains("stab overhead -14 tbf"));
        let words = "diffserv4 wash nat ack-filter ingress atm overhead 40";
        assert!(lines("cake", words, 14)[0].ends_with(words), "tc reads all of Cake's words");
    }
}
