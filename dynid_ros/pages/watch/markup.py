"""Looks of the texts of the page."""

from __future__ import annotations

#: Characters of a name that are shown.
NAME = 40
GREEN, AMBER, RED, GREY, BLUE = '#2b8a3e', '#c77700', '#c92a2a', '#868e96', '#0b5cad'
BOX = 'padding:6px 12px;font-size:13px;line-height:1.4'
ALARM = (f'background:{RED};color:#fff;font-weight:600;border-radius:4px;padding:5px 8px;'
         'margin-bottom:6px')
