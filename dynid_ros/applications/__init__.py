"""Uses of a model: payload, contact, fleets, export."""
