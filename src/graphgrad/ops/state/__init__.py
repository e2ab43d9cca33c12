"""Variables, optimizer updates, queues, tables, iterators: ops on what a session keeps."""
