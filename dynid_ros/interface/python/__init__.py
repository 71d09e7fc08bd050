"""The functions of ``import dynid_ros``: names and paths, or objects, into results."""
