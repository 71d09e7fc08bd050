"""Data collection and dynamic identification of robot arms."""

__version__ = '0.1.0'
