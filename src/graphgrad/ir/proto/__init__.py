"""Protocol buffers: the wire format, messages, their descriptors; the messages of examples."""
