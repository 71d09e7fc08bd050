"""Where the arm points, and how errors of geometry and joints spread to there."""
