"""Forward kinematics, and pose errors from geometry and joint errors."""
