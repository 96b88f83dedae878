"""The generated pages of the documentation: ``make docs``.

One page or section per registered member, from the header of its source file, its parameters and
a run of a scenario of ``experiments/catalogue`` with it.
"""
