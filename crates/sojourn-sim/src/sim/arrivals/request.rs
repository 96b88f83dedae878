//! Requests: the receiver of the data opens the connection and asks; the sender writes the data when
//! all of a request has arrived and its server has worked on it.

use super::Driver;
use crate::net::{Network, Step};
use crate::sim::sockets::Sockets;

impl Driver {
    /// Servers begin to work on requests of a connection that have arrived.
    pub(super) fn receive_requests(
        &mut self,
        hosts: &mut dyn Sockets,
        net: &mut Network,
        slot: usize,
    ) {
        let Some(connection) = &mut self.slots[slot] else { return };
        if !connection.waits_for_requests() {
            return;
        }
        let entry = connection.entry;
        let arrived = hosts.end(self.first_socket + 2 * slot).arrived();
        while let Some((number, server_time)) = connection.next_asked(arrived) {
            self.entries[entry].work(net.now() + server_time, slot, number);
        }
        self.arm(net, entry);
    }

    /// A server has done its work: it responds.
    pub(super) fn respond(
        &mut self,
        hosts: &mut dyn Sockets,
        net: &mut Network,
        slot: usize,
        number: u64,
    ) -> Step {
        self.write(hosts, net, slot, number)?;
        if self.slots[slot].as_ref().is_some_and(|connection| connection.pool.is_some()) {
            return Ok(());
        }
        self.write_no_more(hosts, net, self.first_socket + 2 * slot)
    }
}

#[cfg(test)]
mod tests {
    use crate::record::Outcome;
    use crate::sim::arrivals::tests::{LINK, column, rows, run, scenario};

    /// Keys of transfers whose requests have 500 bytes, and a server that works for 50 ms on each.
    const ASKING: &str = "cca = \"reno\"\nrtt = \"40 ms\"\nrequest = \"500 B\"\n\
                          server_time = { kind = \"fixed\", mean = \"50 ms\" }\n";

    fn entry(keys: &str) -> String {
        format!("[[arrivals]]\n{ASKING}{keys}")
    }

    /// Times from arrival, in milliseconds.
    fn since_arrival(outcome: &Outcome, name: &str) -> Vec<f64> {
        let times = column(rows(outcome), name).into_iter().zip(column(rows(outcome), "arrival"));
        times.map(|(time, arrival)| 1e3 * (time - arrival)).collect()
    }

    #[test]
    fn a_transfer_takes_as_long_as_its_packets_need() {
        let slow = "rate = \"1 Mbit/s\"\nqueue = { kind = \"fifo\", limit = \"30 packets\" }";
        let one = "process = \"deterministic\"\nrate = \"1 /s\"\nstop = \"1 s\"\nsize = \"1448 B\"";
        for (keys, reverse, direction) in [(LINK, slow, "forward"), (slow, LINK, "reverse")] {
            let entry = entry(&format!("direction = \"{direction}\"\n{one}"));
            let tables = format!("[topology.reverse]\n{reverse}\n{entry}");
            let outcome = run(&scenario(keys, &tables));
            // At 1 Mbit/s a SYN of 74 B with framing, an ACK of 66 B and the request of 566 B, an ACK;
            // at 10 Mbit/s a SYN-ACK and the response of 1,514 B. Five ways of 20 ms.
            let [slow, fast] = [74.0 + 66.0 + 566.0 + 66.0, 74.0 + 1_514.0];
            let expected = slow * 8e-3 + fast * 8e-4 + 50.0 + 5.0 * 20.0;
            let took = since_arrival(&outcome, "completed");
            assert!(took.len() == 1 && (took[0] - expected).abs() < 1e-3, "{took:?}, {expected}");
            let value = |name: &str| column(rows(&outcome), name)[0];
            assert_eq!([value("start"), value("retransmissions"), value("outcome")], [0.0; 3]);
            // The server's first sample is of its SYN-ACK, and of an ACK.
            let first = 74.0 * 8e-4 + 66.0 * 8e-3 + 40.0;
            let sample = 1_514.0 * 8e-4 + 66.0 * 8e-3 + 40.0;
            assert!((1e3 * value("min_rtt") - first).abs() < 1e-3, "{}", value("min_rtt"));
            assert!((1e3 * value("rtt") - sample).abs() < 1e-3, "{}", value("rtt"));
            // Two round trips and the way of the request; handshakes and ACKs take no time.
            let ideal = 2.5 * 40.0 + 566.0 * 8e-3 + 50.0 + 1_514.0 * 8e-4;
            assert!((value("slowdown") - expected / ideal).abs() < 1e-6, "{}", value("slowdown"));
        }
    }

    /// Transfers of ten segments, three of which arrive together every other second.
    fn pooled(pool: &str) -> Outcome {
        let together = "process = { kind = \"incast\", senders = 3 }\nrate = \"1.5 /s\"";
        let keys = format!("connections = \"pool\"\npool = {pool}\n{together}\nsize = \"14480 B\"");
        run(&scenario("rate = \"1 Gbit/s\"", &entry(&keys)))
    }

    fn assert_about(values: &[f64], expected: &[f64]) {
        let near = values.iter().zip(expected).all(|(value, about)| (value - about).abs() < 2.0);
        assert!(near && values.len() >= expected.len(), "{values:?}, not {expected:?}");
    }

    #[test]
    fn a_connection_of_http_1_has_one_request_at_a_time() {
        let outcome = pooled("{ size = 1 }");
        // The next request leaves when the response before is over, and needs no handshake.
        assert_about(&since_arrival(&outcome, "start"), &[0.0, 150.0, 260.0, 0.0, 110.0, 220.0]);
        let completed = [150.0, 260.0, 370.0, 110.0, 220.0, 330.0];
        assert_about(&since_arrival(&outcome, "completed"), &completed);
    }

    #[test]
    fn a_connection_of_http_2_has_all_requests_at_once() {
        let outcome = pooled("{ protocol = \"http/2\" }");
        assert_about(&since_arrival(&outcome, "start"), &[0.0; 3]);
        // Thirty segments in windows of 10 and 20.
        assert_about(&since_arrival(&outcome, "completed"), &[150.0, 190.0, 190.0]);
    }

    #[test]
    fn users_wait_for_responses() {
        let pause = |seconds: f64| format!("{{ kind = \"fixed\", mean = \"{seconds} s\" }}");
        let keys = format!(
            "process = \"closed\"\nusers = 1\nconnections = \"pool\"\nsize = \"1 kB\"\n\
             think = {}\nsession = {{ transfers = 3, reading = {} }}",
            pause(2.0),
            pause(0.5)
        );
        let outcome = run(&scenario("rate = \"1 Gbit/s\"", &entry(&keys)));
        assert_about(&since_arrival(&outcome, "completed"), &[150.0, 110.0, 110.0, 110.0]);
        let arrivals = column(rows(&outcome), "arrival");
        let apart: Vec<f64> = arrivals.windows(2).map(|pair| 1e3 * (pair[1] - pair[0])).collect();
        assert_about(&apart, &[650.0, 610.0, 2110.0, 610.0]);
    }

    #[test]
    fn what_is_lost_either_way_is_sent_again() {
        let tables = "[topology.reverse]\nloss = \"5 %\"\n\
                      [[arrivals]]\ncca = \"cubic\"\nrtt = \"20 ms\"\nrate = \"20 /s\"\nstop = \"8 s\"\n\
                      size = { kind = \"exponential\", mean = \"20 kB\" }\n\
                      request = { kind = \"exponential\", mean = \"3 kB\" }\nserver_time = \"10 ms\"";
        let outcome = run(&scenario("rate = \"10 Mbit/s\"\nloss = \"5 %\"", tables));
        let value = |name: &str| column(rows(&outcome), name);
        let finished = value("outcome").iter().filter(|end| **end == 0.0).count();
        assert!((100..220).contains(&finished), "{finished}");
        assert_eq!(value("outcome").len(), finished, "all of them end");
        assert!(value("retransmissions").iter().sum::<f64>() > finished as f64 / 4.0);
        assert!(value("slowdown").iter().all(|slowdown| *slowdown >= 1.0));
        let samples = outcome.arrival_samples.as_ref().unwrap();
        let carried = column(samples, "carried_bytes");
        assert_eq!(carried.last().copied().unwrap(), value("size").iter().sum::<f64>());
    }
}
