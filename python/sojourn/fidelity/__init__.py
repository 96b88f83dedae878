"""Random scenarios on the simulator and on a kernel in virtual time: how often both do the same.

Scenarios are drawn by seed (``draw``), both sides run them (``campaign``), a goal of their kind
judges them (``goals``, ``judge``), shares are counted (``table``), and of the worst ones the first
packet is found at which both part (``parting``).
"""
