"""Messages: protobuf's wire format, the messages of graphs, examples and summaries, records and their checksums."""
