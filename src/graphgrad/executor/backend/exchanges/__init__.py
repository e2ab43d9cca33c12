"""What processes exchange, and the process of their coordinator; nothing here imports anything of the package."""
