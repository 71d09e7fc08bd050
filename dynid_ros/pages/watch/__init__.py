"""A live page of the running nodes: what they said last, drawn, and the buttons beside it."""
