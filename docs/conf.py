# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The site: ``make docs`` builds it from a copy of this folder, beside which examples/ stands."""

from pathlib import Path
import sys

import dynid_ros

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

project = 'dynid_ros'
version = release = dynid_ros.__version__
copyright = 'the dynid_ros maintainers'

extensions = [
    'generated_pages',
    'myst_parser',
    'sphinx.ext.autodoc',
    'sphinx.ext.autosummary',
    'sphinx.ext.napoleon',
    'sphinx_gallery.gen_gallery',
]
exclude_patterns = ['gallery/*.ipynb', 'gallery/*.py']
templates_path = ['templates']

# Links to headings, as GitHub makes them.
myst_heading_anchors = 4
myst_enable_extensions = ['colon_fence']

# The page is written before the build, when the others have been found.
autosummary_generate = ['api.rst']
autodoc_member_order = 'bysource'
autodoc_typehints = 'none'
napoleon_google_docstring = False
napoleon_use_param = False
napoleon_use_rtype = False
# As parameters are: several names may stand in a line.
napoleon_custom_sections = [('Attributes', 'params_style')]

sphinx_gallery_conf = {
    'examples_dirs': str(HERE.parent / 'examples' / 'gallery'),
    'gallery_dirs': 'gallery',
    # In the order of their numbers.
    'within_subsection_order': 'FileNameSortKey',
    'filename_pattern': r'\.py',
    'image_scrapers': ('matplotlib', 'picture_scraper'),
    # Tables of models are shown by print in a few lines.
    'capture_repr': ('__repr__',),
    'ignore_repr_types': r'matplotlib\.(text|legend|axes)|tuple|list',
    'download_all_examples': False,
    'remove_config_comments': True,
    'show_memory': False,
    'show_signature': False,
    'min_reported_time': 1e9,
    'write_computation_times': False,
    'abort_on_example_error': True,
}

html_theme = 'furo'
html_title = f'dynid_ros {release}'
html_static_path = ['static']
html_css_files = ['site.css']
html_copy_source = False
html_show_sourcelink = False
