"""AutoGraph: `if`, `while` and `for` on tensors, written in Python, become control flow of the graph.

What a `tf.function` wraps is rewritten from its source, and what it calls in turn:

    convert    finds the source of a function, and makes the rewritten function of it
    jumps      replaces `break`, `continue` and `return` inside branches and loops by flags
    liveness   finds which names a branch or a loop passes on
    rewrite    replaces statements and expressions by calls of `operators`
    operators  decide, when the function is traced, between Python's own way and the graph's
    loops      the same for loops

Lines keep their numbers, so tracebacks and errors show the user's program.

Reference: Moldovan et al., AutoGraph: Imperative-style Coding with Graph-based Performance, 2019.
"""
