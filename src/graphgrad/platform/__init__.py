"""What programs use around their graphs: flags and `app.run` on absl; logging and files."""
