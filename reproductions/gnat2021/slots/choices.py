"""How the set-up of sections 2.1, 2.2 and 2.4 was read."""

CHOICES = (
    "2.1, 2.4: the report's ns-3 models send packets and count K in packets, as its mobsim does: "
    "the same model in slots",
    "2.1: the network is a picture; three that can carry 4 Mbit/s through all changes",
    "2.2: five groups on the ten nodes of mobsim; the bottleneck is a picture: three networks",
    "2.2: K 5,000 packets squared per second, packets of 10,000 bits, as in mobsim; 2.4: packets "
    "of 8,192 bits, so that 15,000 of them squared are 1e12 bits squared",
    "2.2: original ZLR adds zombies as the overlay's program does, improved ZLR as mobsim does, "
    "with arrivals counted as well",
    "2.4: eight of the ten nodes; node 7 does not send to itself, though it is printed so",
    "2.1, 2.2, 2.4: bound and optimum as in 4.2 to 4.6, but of packets, which have no headers here",
    "2.1, 2.4: coding in generations of 16 packets, whose coefficients are 16 B; delay ends when "
    "the generation is decoded; a packet that brings nothing new is made up for after 100 ms",
)
