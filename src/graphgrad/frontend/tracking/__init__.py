"""Objects that remember which objects they hold, for checkpoints, SavedModels and libraries of layers."""
