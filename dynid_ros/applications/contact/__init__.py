"""Contact of the arm with its surroundings: external torque and the wrench behind it."""
