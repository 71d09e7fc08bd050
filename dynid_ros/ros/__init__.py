"""ROS 2 nodes, and a stand-in for rclpy on Cyclone DDS."""
