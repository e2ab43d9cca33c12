"""Files: written under another name until they are complete, records, checksums, decompression."""
