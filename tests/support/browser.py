"""A real browser on the page: Debian's Chromium without a window, and what it has to complain of."""

import importlib.util
import pathlib
import shutil

from selenium import webdriver
from selenium.webdriver.chrome.service import Service

from support.patience import patient
from support.process import wait

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCREENSHOTS = ROOT / "build" / "screenshots"
_WATCH = """
window.__violations = [];
document.addEventListener('securitypolicyviolation', (event) =>
  window.__violations.push(`${event.violatedDirective} ${event.blockedURI} ${event.sample}`));
window.__asked = [];
const fetched = window.fetch;
window.fetch = (...given) => { window.__asked.push(String(given[0])); return fetched(...given); };
"""
_AXE = """
const done = arguments[arguments.length - 1];
axe.run(document, {resultTypes: ['violations']}).then((found) => done(found.violations.map((one) =>
  `${one.id}: ${one.help}: ${one.nodes.slice(0, 3).map((node) => node.html.slice(0, 160)).join(' | ')}`)));
"""
# Milliseconds from a call to the first frame that differs, and to that in which all that it asked for is on the screen.
_TIMED = """
const [what, ready, most, done] = arguments;
const began = performance.now();
let first = null;
const changes = new MutationObserver(() => {
  changes.disconnect();
  requestAnimationFrame(() => { first = performance.now() - began; });
});
changes.observe(document.body, {attributes: true, childList: true, characterData: true, subtree: true});
new Function(what)();
const until = new Function(`return ${ready}`);
const look = () => until() && first !== null ? requestAnimationFrame(() => done([first, performance.now() - began]))
  : performance.now() - began > most ? done(null) : setTimeout(look, 10);
setTimeout(look, 10);
"""


def axe_source():
    """axe.min.js, which scripts/browser-tools brings in a package whose Python is not used."""
    spec = importlib.util.find_spec("axe_playwright_python")
    return pathlib.Path(spec.submodule_search_locations[0], "axe.min.js").read_text()


class Browser:
    """`url` is where the page lives; `go("queue?state=late")` opens one of its states."""

    def __init__(self, url, width=1440, height=900):
        self.url = url
        options = webdriver.ChromeOptions()
        options.binary_location = shutil.which("chromium")
        for flag in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                     "--disable-background-networking", "--disable-component-update", "--disable-sync",
                     "--hide-scrollbars", "--force-color-profile=srgb"):  # fmt: skip
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.driver = webdriver.Chrome(service=Service(shutil.which("chromedriver")), options=options)
        self.driver.set_script_timeout(patient(60))
        self._axe = None
        self.command("Page.addScriptToEvaluateOnNewDocument", source=_WATCH)
        self.resize(width, height)

    def close(self):
        self.driver.quit()

    def command(self, name, **arguments):
        return self.driver.execute_cdp_cmd(name, arguments)

    def resize(self, width, height=900):
        self.command("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
                     mobile=width < 700)  # fmt: skip

    def dark(self, is_dark=True):
        self.command("Emulation.setEmulatedMedia",
                     features=[{"name": "prefers-color-scheme", "value": "dark" if is_dark else "light"}])  # fmt: skip

    def offline(self, is_offline=True):
        self.command("Network.enable")
        self.command("Network.emulateNetworkConditions", offline=is_offline, latency=0, downloadThroughput=-1,
                     uploadThroughput=-1)  # fmt: skip

    def go(self, state):
        """Opens a state of the page anew."""
        self.driver.get("about:blank")
        self.driver.get(f"{self.url}/#/{state}")

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def text(self, selector="body"):
        return self.run("return document.querySelector(arguments[0])?.innerText || ''", selector)

    def wait(self, script, seconds, what):
        """Until the expression is true."""
        self._wait(lambda: self.run(f"return Boolean({script})"), seconds, what)

    def wait_text(self, text, seconds=15, selector="body"):
        self._wait(lambda: text in self.text(selector), seconds, repr(text))

    def _wait(self, condition, seconds, what):
        try:
            wait(condition, seconds, what)
        except AssertionError as failure:
            raise AssertionError(f"{failure}; the page says:\n{self.text()[:1500]}") from None

    def cpu_ms(self):
        """Processor time that the page's main thread has used; a loaded machine does not change it."""
        self.command("Performance.enable", timeDomain="threadTicks")
        metrics = {one["name"]: one["value"] for one in self.command("Performance.getMetrics")["metrics"]}
        return 1000 * metrics["TaskDuration"]

    def timed(self, what, ready):
        """Runs a script; ms until the page looks different, and until the expression `ready` is true and painted."""
        answer = self.driver.execute_async_script(_TIMED, what, ready, 1000 * patient(20))
        assert answer, f"{ready} was not true in time; the page says:\n{self.text()[:1500]}"
        return answer

    def screenshot(self, name):
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        self.driver.save_screenshot(str(SCREENSHOTS / f"{name}.png"))

    def axe(self):
        """What axe-core finds wrong for people who do not see or use a mouse."""
        self._axe = self._axe or axe_source()
        self.run(self._axe)
        return self.driver.execute_async_script(_AXE)

    def problems(self):
        """Violations of the policy, errors of scripts, requests that leave the page's own site."""
        violations = self.run("return window.__violations")
        foreign = self.run(
            "return performance.getEntriesByType('resource').map((one) => one.name)"
            ".filter((name) => !name.startsWith(location.origin))"
        )
        logged = [one["message"] for one in self.driver.get_log("browser") if one["level"] == "SEVERE"]
        return [*violations, *foreign, *logged]
