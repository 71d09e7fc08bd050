"""The complete chain on a simulated arm, with real nodes."""

from dynid_ros.ros.stand_in import step_in

step_in()
