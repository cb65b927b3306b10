"""The text that a wallet signs to register: that one, for that wallet and that host, or none."""

from __future__ import annotations

import re
import time
from datetime import datetime
from typing import Optional
from urllib.parse import urlsplit

# Anything else could be a login for another site, or words put into the owner's mouth.
_TEMPLATE = re.compile(
    r"(\S+) wants you to sign in with your Solana account:\n(\S+)\n\n"
    r"Sign to prove this wallet is yours and receive an API key\. This moves no funds and costs nothing\.\n\n"
    r"URI: (\S+)\nVersion: 1\nChain ID: [a-z0-9:-]{1,44}\nNonce: [0-9A-Za-z]{8,64}\nIssued At: (\S+)\nExpiration Time: (\S+)"
)
# No control characters but line ends, nothing invisible, nothing that changes the direction of text.
_PLAIN = re.compile(r"[\n\x20-\x7e]*")
_ORIGIN = re.compile(r"(https?)://([^/@?#]+)/?")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z")
_LONGEST_LIFE = 15 * 60
# Clocks of callers are off by up to an hour; a challenge of yesterday is a replay.
_LONGEST_SKEW = 2 * 3600


def check_challenge(
    message: str, wallet: str, base_url: str, domain: Optional[str] = None, now: Optional[float] = None
) -> None:
    """Raises ValueError unless the text registers this wallet with the service at `base_url`, and does nothing else.

    `domain`: host of the service, with its port if it has one, if it is not that of `base_url`. `now`: Unix time, seconds.
    """
    fault = _fault(message, wallet, base_url, domain, time.time() if now is None else now)
    if fault is not None:
        raise ValueError(f"refused to register: {fault}; nothing was signed")


def _fault(message: str, wallet: str, base_url: str, domain: Optional[str], now: float) -> Optional[str]:
    match = _TEMPLATE.fullmatch(message) if _PLAIN.fullmatch(message) else None
    if match is None:
        return "the service asked to sign something other than a registration"
    site, signer, uri, issued, expires = match.groups()
    if signer != wallet:
        return "the challenge is for another wallet"
    base = urlsplit(base_url)
    host = _host(base.netloc, base.scheme) if domain is None else domain
    origin = _ORIGIN.fullmatch(uri)
    if origin is None or _same(site) != _same(host) or _same(origin[2]) != _same(host):
        return f"the challenge signs in to {site} ({uri}), not to {host} (domain names another host)"
    if domain is None and origin[1] != base.scheme:
        return f"the challenge is for {uri}, not for {base_url}"
    start, end = _seconds(issued), _seconds(expires)
    if start is None or end is None or not 0 < end - start <= _LONGEST_LIFE or abs(now - start) > _LONGEST_SKEW:
        return f"the challenge is valid from {issued} to {expires}, which is not now"
    return None


def _host(netloc: str, scheme: str) -> str:
    """Without a user, and without the port that the scheme has anyway."""
    default = {"https": ":443", "http": ":80"}.get(scheme, "")
    return netloc.rpartition("@")[2].removesuffix(default)


def _same(host: str) -> str:
    """The host with every name of this machine's loopback as one."""
    return re.sub(r"^(127\.0\.0\.1|\[::1\])(?=:|$)", "localhost", host.lower())


def _seconds(text: str) -> Optional[float]:
    try:
        return datetime.fromisoformat(text).timestamp() if _TIME.fullmatch(text) else None
    except ValueError:
        return None
