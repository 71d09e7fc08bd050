# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Pictures of the Python functions, which pyplot does not know, for the gallery."""

from typing import Any

from sphinx_gallery.scrapers import figure_rst

from dynid_ros.pages.report.figures import Picture

#: Dots per inch: text of 7 points is to be read.
DPI = 150


def _get_sg_image_scraper() -> Any:
    return scrape


def scrape(_block: Any, variables: dict[str, Any], settings: dict[str, Any]) -> str:
    """Save the picture that the block has left in ``figure``."""
    figure = variables['example_globals'].pop('figure', None)
    if not isinstance(figure, Picture):
        return ''
    path = next(variables['image_path_iterator'])
    figure.savefig(path, dpi=DPI)
    return str(figure_rst([path], settings['src_dir']))
