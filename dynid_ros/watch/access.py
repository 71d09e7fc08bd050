"""Who may give commands on a page: those at this computer, and those who know the token."""

from __future__ import annotations

import hmac
import ipaddress
import secrets

#: Bytes of a token: more than can be tried.
TOKEN_BYTES = 16


class Access:
    """
    Who may give commands.

    Parameters
    ----------
    host : str
        Address on which the page is served.

    Attributes
    ----------
    token : str
        What others must know; empty where the page is served to this computer only.

    """

    def __init__(self, host: str) -> None:
        self.token = '' if is_loopback(host) else secrets.token_urlsafe(TOKEN_BYTES)

    def opened_by(self, typed: str) -> bool:
        """Whether somebody knows the token; it takes as long whatever was typed."""
        return not self.token or hmac.compare_digest(
            typed.strip().encode(), self.token.encode())


def is_loopback(host: str) -> bool:
    """Whether an address is reached from this computer only."""
    if host == 'localhost':
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
