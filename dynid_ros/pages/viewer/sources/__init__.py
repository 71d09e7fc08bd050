"""The two sources of pages: files, and live topics."""
