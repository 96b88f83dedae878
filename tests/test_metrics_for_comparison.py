"""Metrics that comparisons of controls need: fairness over time, RTT fairness, responsiveness."""

from __future__ import annotations

import numpy as np
import pytest

import sojourn

DUMBBELL = """
duration = "{seconds} s"
[topology]
kind = "dumbbell"
[topology.bottleneck]
rate = "8 Mbit/s"
queue = {{ kind = "fifo", limit = "20 packets" }}
{link}
{flows}
"""


def net(flows: str, link: str = "", seconds: int = 20) -> dict[str, float | None]:
    result = sojourn.run(DUMBBELL.format(seconds=seconds, link=link, flows=flows))
    return dict(result.net.row(0, named=True))


def flow(cca: str, rtt: str = "40 ms", more: str = "") -> str:
    return f'[[flows]]\ncca = {cca}\nrtt = "{rtt}"\n{more}\n'


def udp(rate: str, on: str = "") -> str:
    kind = f'traffic = {{ kind = "cbr", rate = "{rate}" }}'
    return f'[[flows]]\ntransport = "udp"\n{kind}\n{on}\n'


def test_jains_index_is_that_of_the_stretch() -> None:
    # Rates of 1 and 3 Mbit/s at all times: (1 + 3)^2 / (2 * (1 + 9)) = 0.8 at every scale.
    steady = net(udp("1 Mbit/s") + udp("3 Mbit/s"))
    for scale in ("1s", "10s"):
        assert steady[f"mean_jains_fairness_throughput_{scale}_l4"] == pytest.approx(0.8, abs=0.01)
    # Turns of 1 s: uneven over 1 s, even over 10 s.
    kind = '"on-off", rate = "2 Mbit/s", on = "1 s", off = "1 s", times = "fixed"'
    turn = f'[[flows]]\ntransport = "udp"\ntraffic = {{ kind = {kind} }}\n'
    turns = net(turn + turn + 'start = "1 s"\n', seconds=21)
    short = turns["mean_jains_fairness_throughput_1s_l4"]
    long = turns["mean_jains_fairness_throughput_10s_l4"]
    assert short is not None
    assert long is not None
    assert short < 0.7
    assert long > 0.95


def test_one_flow_shares_with_nobody() -> None:
    alone = net(flow('"reno"'))
    assert alone["mean_jains_fairness_throughput_1s_l4"] is None
    assert alone["rtt_fairness_slope_l4"] is None


def test_the_slope_is_that_of_windows_that_are_alike() -> None:
    # Fixed windows without a queue: throughput is inverse to the round trip.
    window = '{ kind = "fixed-window", window = "4 packets" }'
    rtts = ("20 ms", "40 ms", "80 ms")
    found = net("".join(flow(window, rtt) for rtt in rtts))
    assert found["rtt_fairness_slope_l4"] == pytest.approx(-1, abs=0.12)
    even = net(udp("1 Mbit/s", 'rtt = "20 ms"') + udp("1 Mbit/s", 'rtt = "80 ms"'))
    assert even["rtt_fairness_slope_l4"] == pytest.approx(0, abs=0.01)


@pytest.mark.parametrize(
    ("schedule", "until_the_next_change"),
    [
        (
            'kind = "steps", steps = [{ at = "5 s", value = "4 Mbit/s" }, '
            '{ at = "10 s", value = "8 Mbit/s" }]',
            10,
        ),
        ('kind = "square", high = "4 Mbit/s", low = "2 Mbit/s", period = "10 s"', 5),
    ],
)
def test_the_response_time_is_until_the_rate_is_taken_up(
    schedule: str, until_the_next_change: float
) -> None:
    link = f"rate_schedule = {{ {schedule} }}"
    fast = net(udp("10 Mbit/s"), link)["mean_response_time_l4"]
    assert fast == pytest.approx(0.1, abs=0.101)
    # What sends less than 80 % of the new rate never takes it up.
    never = net(udp("1.5 Mbit/s"), link)["mean_response_time_l4"]
    assert never == pytest.approx(until_the_next_change, abs=0.01)
    reno, cubic = (
        net(flow(f'"{c}"', "60 ms"), link)["mean_response_time_l4"] for c in ("reno", "cubic")
    )
    assert reno is not None
    assert cubic is not None
    assert min(reno, cubic) > 0


def test_without_a_schedule_there_is_nothing_to_respond_to() -> None:
    assert net(flow('"reno"'))["mean_response_time_l4"] is None
    walk = 'kind = "walk", start = "8 Mbit/s", step = "1 Mbit/s", interval = "1 s"'
    link = f'rate_schedule = {{ {walk}, least = "2 Mbit/s", most = "14 Mbit/s" }}'
    assert net(flow('"reno"'), link)["mean_response_time_l4"] is None


def test_nothing_before_the_warm_up_counts() -> None:
    late = 'warmup = "10 s"\n' + DUMBBELL.format(
        seconds=20, link="", flows=udp("1 Mbit/s") + udp("3 Mbit/s", 'stop = "5 s"')
    )
    value = sojourn.run(late).net["mean_jains_fairness_throughput_1s_l4"][0]
    assert value is None or np.isnan(value)
