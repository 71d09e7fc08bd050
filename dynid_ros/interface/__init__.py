"""What people touch: commands, reports, pages and the demo."""
