"""The optimal design of exciting motions."""
