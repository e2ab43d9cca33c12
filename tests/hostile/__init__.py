"""Hostile input, made from seeds: one module a kind, and the harness that runs them in processes of their own.

A module offers `attack(seed)`, which makes the seed's input, feeds it to the package, and returns what came of it:
"ok", or the class of TensorFlow's error; or that and the number of bytes that the input truly holds. It raises where
what is promised does not hold. It may offer, too:

    prepare()       what need not be measured, such as imports; called once a process
    QUICK = 100     how many seeds `make test` runs
    SECONDS = 1.0, MEGABYTES = 200    what an input may take beyond what it holds (`--limit-bytes`)
    ADDRESS_SPACE = 6 << 30           what a process may map; None for no limit
"""
