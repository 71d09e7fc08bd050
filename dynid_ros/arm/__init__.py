"""Models of robot arms: URDF and DH readers, drive, friction terms and ``arm.yaml``."""

from dynid_ros.arm.description.tree import JointLimits, LimitMargins
from dynid_ros.arm.drive import Drive
from dynid_ros.arm.friction import friction_terms, FrictionShape, FrictionTerm
from dynid_ros.arm.load import load_arm, shipped_arms
from dynid_ros.arm.model import ArmModel, Conditioning, CouplingColumn, Table
from dynid_ros.arm.parameters import ParameterLayout

__all__ = [
    'ArmModel', 'Conditioning', 'CouplingColumn', 'Drive', 'FrictionShape', 'FrictionTerm',
    'JointLimits', 'LimitMargins', 'ParameterLayout', 'Table', 'friction_terms', 'load_arm',
    'shipped_arms',
]
