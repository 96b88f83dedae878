"""Reproductions of published evaluations: each folder has one paper's experiments, published
tables, cells, statements, page and card.
"""
