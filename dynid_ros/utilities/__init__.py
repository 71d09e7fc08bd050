"""What every wing uses: arrays, compiled kernels, threads, whole files."""
