"""Chromium, driven by Playwright, for tests of pages."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest


@contextmanager
def chromium_browser() -> Iterator[Any]:
    """A browser; skips the test where there is none. Playwright has to be installed."""
    from playwright.sync_api import sync_playwright

    path = shutil.which("chromium") or shutil.which("google-chrome")
    if path is None:
        pytest.skip("no chromium or google-chrome on this machine: apt-get install chromium")
    with sync_playwright() as running:
        # As root, as in a container, Chromium does not start with its sandbox; the pages are our own.
        browser = running.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()
