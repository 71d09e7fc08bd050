"""From the factors of groups to parameters: weights, friction, possible links, error bars."""
