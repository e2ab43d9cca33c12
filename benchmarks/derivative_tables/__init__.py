"""The tables of `benchmarks.derivatives`, one module each.

A table is a module with a `TITLE`, a `TEXT`, `SYSTEMS`, `CASES` and two functions. `prepare(system, case)` runs in a
process of that system: it gives a function that runs once, and a dictionary of further numbers, such as the number of
operations. `columns(results)` gives the heading and the rows: for each case and system what was measured.
"""
