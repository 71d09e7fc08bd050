# ROS 2 Jazzy with this package:
#   docker build -t dynid_ros . && docker run --rm -v "$PWD:/ws/out" dynid_ros
# All tests, as colcon runs them:
#   docker build --target test .
FROM ros:jazzy AS package
SHELL ["/bin/bash", "-eo", "pipefail", "-c"]
WORKDIR /ws
COPY package.xml src/dynid_ros/
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install -y --no-install-recommends python3-pip \
    && rosdep update --rosdistro jazzy \
    && rosdep install --from-paths src --ignore-src -y \
    && rm -rf /var/lib/apt/lists/*
# The physics of the demonstration, which no key of rosdep installs. NumPy stays that of Ubuntu.
RUN python3 -m pip install --no-cache-dir --break-system-packages 'mujoco==3.3.*' 'numpy<2'
COPY . src/dynid_ros
RUN source /opt/ros/jazzy/setup.bash && colcon build

FROM package AS test
RUN source install/setup.bash \
    && colcon test --event-handlers console_direct+ --return-code-on-test-failure \
    && colcon test-result --verbose

FROM package AS demo
CMD ["bash", "-c", "source install/setup.bash && ros2 run dynid_ros dynid demo -o out/demo"]
