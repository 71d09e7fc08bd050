"""package.xml is valid; ``colcon test`` runs this linter."""

from pathlib import Path
import shutil

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.mark.linter
@pytest.mark.xmllint
@pytest.mark.skipif(shutil.which('xmllint') is None, reason='xmllint is not installed')
def test_package_xml_is_valid():
    xmllint = pytest.importorskip('ament_xmllint.main', reason='ament_xmllint is not installed')
    assert xmllint.main([str(ROOT / 'package.xml')]) == 0
