"""A headless Chromium for tests: the one of the system, driven by Playwright."""

import os
import shutil
from contextlib import contextmanager

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome")


def chromium_path():
    """Return the path of the system's Chromium; the test is skipped without one, but never in CI."""
    found = next((path for name in NAMES if (path := shutil.which(name))), None)
    if found is None and not os.environ.get("CI"):
        pytest.skip("Chromium is not installed")
    assert found is not None, "CI needs Chromium: .ci/run installs it"
    return found


@contextmanager
def chromium():
    """Yield a running browser."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium_path(), args=["--no-sandbox"])
        try:
            yield browser
        finally:
            browser.close()


class Visit:
    """A page with what it asked for and complained of."""

    def __init__(self, browser, path, width=1440):
        self.page = browser.new_page(viewport={"width": width, "height": 900})
        self.complaints, self.requests, self.dialogs = [], [], []
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("dialog", self._refuse)
        self.address = path.as_uri()
        self.page.goto(self.address)

    def _refuse(self, dialog):
        self.dialogs.append(dialog.message)
        dialog.dismiss()

    def is_quiet(self):
        """Say whether nothing was logged, nothing popped up, and nothing but the file itself was asked for."""
        return (
            not self.complaints
            and not self.dialogs
            and {url.partition("#")[0] for url in self.requests} == {self.address}
        )
