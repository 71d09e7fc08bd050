"""package.xml is what the tools of ROS 2 take it for; ``colcon test`` runs this linter."""

from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / 'package.xml'


@pytest.mark.linter
def test_package_xml_is_valid():
    # What colcon, ament and rosdep read it with. ament_xmllint would fetch the schema that the
    # file names from the internet.
    reader = pytest.importorskip('catkin_pkg.package', reason='catkin_pkg is not installed')
    warnings = []
    package = reader.parse_package_string(PACKAGE.read_text(), str(PACKAGE), warnings=warnings)
    package.validate(warnings=warnings)
    assert warnings == []
    assert package.get_build_type() == 'ament_python'
