"""How the set-up of sections 4.2 to 4.6 was read."""

CHOICES = (
    "4.2, 4.4, 4.6: messages of 1,024 B as in the published configurations; the small flow of "
    "4.4 of 100 B; priority 5, as those configurations have",
    "4.2: node 0 sends and admits; the text has its proxy at node 1",
    "4.3: links, changes, K and priority as published; the text has priority 1 instead of 5",
    "4.4: the topology of nine nodes that the text determines: an X with 3 in the middle, 1, 2, "
    "4 and 5 around it, 6 and 7 at 4, 8 and 9 at 5",
    "4.5: links and K as published; ceilings of the text, 50 Mbit/s (25 in the configuration)",
    "4.6: a web of 24, 12, 6, 3 and 1 nodes, as 4.5's is of 12, 6, 3 and 1; with 72 hosts these "
    "are 118; three variants of how the rings are joined; hosts of an enclave share their node, "
    "so that a receiver is an enclave; K as in 4.5; all of a queue is searched; 45 s",
    "4.2, 4.3, 4.4, 4.5, 4.6: bound: the largest rate that all streams can have at once, by any "
    "routing and coding, less headers, SLIQ's acknowledgments and messages about queues; optimum: "
    "what a stream has where the sum of utilities, logarithms by priority, is largest, likewise, "
    "and no more than it offers",
)
