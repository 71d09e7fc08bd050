"""A figure of Matplotlib that a notebook shows, without pyplot and its list of open figures."""

from __future__ import annotations

from base64 import b64encode
import io

from matplotlib.figure import Figure

#: Dots per inch in a notebook.
DPI = 80


class Picture(Figure):
    """A figure of Matplotlib; ``savefig`` writes it to a file."""

    def _repr_html_(self) -> str:
        """Show the figure in a notebook."""
        buffer = io.BytesIO()
        self.savefig(buffer, format='png', dpi=DPI)
        content = b64encode(buffer.getvalue()).decode()
        return f'<img alt="figure" src="data:image/png;base64,{content}">'
