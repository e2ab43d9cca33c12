"""Programs in the idioms of users: type checkers read them without complaint, and they run."""
