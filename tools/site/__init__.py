"""What the documentation site is made with: `make docs-site`."""
