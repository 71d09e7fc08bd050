"""Arrays, compiled kernels, threads and complete files, for every wing."""
