"""What a process has ready from which nodes are forked: it takes longer than most tests."""

from dynid_ros.arm import load_arm
from dynid_ros.nodes import (  # noqa: F401
    feedforward,
    identifier,
    monitor,
    recorder,
    simulated_arm,
    trajectory_publisher,
)
from dynid_ros.nodes.warm_up import compile_kernels

compile_kernels(load_arm('two_axis'), print)
