"""What programs use around their graphs: flags, logging, files, `app.run`. On Python's standard library alone."""
