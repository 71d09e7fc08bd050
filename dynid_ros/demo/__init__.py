"""The whole chain on a simulated arm, with real nodes."""

from dynid_ros.embedded import step_in

step_in()
