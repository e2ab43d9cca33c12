"""Variables, optimizer updates, queues, tables, iterators: ops on a session's state."""
