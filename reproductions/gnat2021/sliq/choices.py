"""How the set-up of sections 3.1 to 3.3 was read."""

CHOICES = (
    "3.1, 3.2, 3.3: LinkEm: experiments/gnat2021/; buffers hold the frame that is being sent; 14 "
    "B of framing",
    "3.1, 3.2: goodput: payload delivered, from the first to the last sample of 20 ms that has "
    "some",
    "3.1: linux_tcp_cubic: stack = linux-4.9, after the 4.6.3 that SLIQ's Cubic follows; iperf's "
    "goodput over 60 s from the connection's start; linux_tcp_cubic_today: stack = linux-6",
    "3.1, 3.2, 3.3: over time: rates of frames as a capture at LinkEm's ends shows them, from "
    "one seed; rates and shares from 2 s after a change, those of 3.3.5 as well",
    "3.3.2, 3.3.3: 5 seeds (1 with --quick), their median",
    "3.1, 3.2, 3.3: random loss: 20 seeds (5 with --quick), measured = their median",
    "3.3: the application hands over a message when the one before has gone; messages are "
    "retransmitted up to 20 times after their deadline",
    "3.3: outliers of the largest RTT count, as by default in the test program that the report ran",
    "3.1.5: 300 Mbit/s: the report's hosts struggled; shown, not judged",
)
