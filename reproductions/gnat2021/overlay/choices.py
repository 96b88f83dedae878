"""How the set-up of chapter 4 was read."""

CHOICES = (
    "3.4, 4: links hold twice rate times round trip, at least 20,000 B, as LinkEm; 14 B of "
    "framing; messages of 1,024 B",
    "3.4, 4: K is 1e12 bits squared per second, the program's default, but where it is "
    "published: 8e11 to 2.5e10 in 4.16, 1.5e11 in 4.17; services a = 10, m = 25 Mbit/s, as its "
    "configurations",
    "3.4, 4: overhead is that of headers and acknowledgments, in the oracle as well; the report "
    "computes with 12.5, 15 and 20 % in different places",
    "3.4, 4: delays of datagrams count from their admission, as the published configurations "
    "make MGEN do; so do deadlines",
    "4.1: the slower link has 19.4 Mbit/s, also printed as 19.5",
    "4.7: the outage lies at 20 to 30 s as in its configuration, not at 12 to 22 s",
    "4.9: expected goodput is in Mbit/s, printed as kbit/s",
    "4.10: 60 flows at the expected goodput are 32 Mbit/s on links of 30; the oracle counts",
    "4.13: 152 and 962 kbit/s are not 5:1; the oracle is",
    "4.14: interval 6 ends at 160 s, printed as 660; flows between all nodes; the deadline, "
    "which is not printed, is 1 s",
    "4.15: 10 Mbit/s less overhead is 8.5 Mbit/s, printed as 18.5; the other links' rates are "
    "not printed: 20 Mbit/s",
    "4.17: the outage lies 15 to 25 s after the start, as in its configuration, not at 12 to 22 s",
    "4.20: 10:1 is expected, but a flow on the detour displaces two others: the optimum is 5:1",
    "4.21: the constraint is twice the capacity; run 4 has links of 50 Mbit/s",
    "4.24: 42.5 less 15 Mbit/s leave 27.5, printed as 12.5",
    "4.26: delays and deadlines of the published configuration; the report's are another run",
    "4.27: in the end more flows are to stay on than the path carries: not judged",
    "4.27, 4.30: also with Copa alone: Cubic keeps buffers full for longer than the deadlines",
)
