"""Why a model does not fit, and whether to trust it."""
