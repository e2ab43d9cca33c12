"""The state of a graph besides its operations: a record for each purpose."""
