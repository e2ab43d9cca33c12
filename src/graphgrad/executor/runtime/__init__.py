"""Runs: sessions, executables, NumPy's runs, interrupts, locks."""
