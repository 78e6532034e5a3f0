"""The HTML page in a real browser: accessible, harmless, and of use by keyboard and on paper.

Skipped where there is no browser, unless `ASSAY_BROWSER=required`. One browser serves all tests.
"""

import json
import os
import re
from importlib.resources import files
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from shutil import which

import pytest
from report.test_hostile import HOSTILE, hostile_report

from assay.cli.live import serving
from assay.sca.browser import DRIVER, NAMES

pytestmark = pytest.mark.slow

WIDE = {"width": 1400, "height": 900}
PHONE = {"width": 390, "height": 844}
NEEDED = ("playwright", "axe_playwright_python", "pypdf")


@pytest.fixture(scope="module")
def chromium():
    """Start a browser once; skip where there is none, unless there has to be one."""
    path = next(filter(None, map(which, NAMES)), None)
    missing = [name for name in NEEDED if find_spec(name) is None]
    missing += [] if path else ["chromium"]
    if missing and os.environ.get("ASSAY_BROWSER") == "required":
        pytest.fail(f"ASSAY_BROWSER=required, and there is no {', '.join(missing)}")
    if missing:
        pytest.skip(f"there is no {', '.join(missing)}")
    browser = DRIVER.start(
        lambda running: running.chromium.launch(executable_path=path, chromium_sandbox=False)
    )
    yield browser
    DRIVER.end(browser)


@pytest.fixture
def opened(chromium, written, tmp_path):
    """Return a function that opens the page of a report from disk; it may load nothing else."""
    contexts, problems = [], []

    def open_page(report, *, fragment="", **options):
        path = tmp_path / "report.html"
        path.write_text(written(report, "html"), encoding="utf-8")
        context = chromium.new_context(viewport=options.pop("viewport", WIDE), **options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(5_000)
        # The machine may be busy: what a page may cost is measured in processor time.
        page.set_default_navigation_timeout(60_000)
        page.on("dialog", lambda dialog: (problems.append(dialog.message), dialog.dismiss()))
        page.on("console", lambda message: problems.append(message.text))
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("request", lambda request: check_address(request.url))
        page.goto(path.as_uri() + fragment)
        return page

    def check_address(url):
        if not url.startswith("file:"):
            problems.append(url)

    yield open_page
    for context in contexts:
        context.close()
    assert problems == []


UNSOUND = {
    "aisp/clause-0/facet": "violates",
    "aisp/clause-1/facet": "indeterminate",
    "aisp/clause-2/facet": "indeterminate",
}


@pytest.fixture
def cascade(journal):
    """Return a report with every verdict: a violation, and what it leaves unjudged, too."""
    names = [f"aisp/clause-{n}/facet" for n in range(12)]
    others = ("unverified", "not-applicable", "waived", "unspecified")
    for name in names:
        journal.plan(name, level="may" if name == "aisp/clause-1/facet" else "must")
    journal.plan("aisp/clause-0/other", kind="pagination", asks="A page has five entries.")
    for verdict in others:
        kind = "unspecified" if verdict == "unspecified" else "quota"
        journal.plan(f"aisp/{verdict}/facet", kind=kind)
    for name in [*names, "aisp/clause-0/other"]:
        context = " [mode=instant, weekday=sunday]" if name == "aisp/clause-11/facet" else ""
        journal.exchange(name.replace("/facet", "#facet") + context, body='{"accounts": [1, 2]}')
        journal.verdict(name, UNSOUND.get(name, "conforms"), "the control call failed")
    for verdict in others:
        journal.verdict(f"aisp/{verdict}/facet", verdict, f"the reason of {verdict}")
    journal.search("aisp/clause-0/facet").add(type="fault", where="a probe", what="it crashed")
    return journal.footer().read()


def expand(page):
    """Open all that a page has, the filter as well; on a phone that is closed at first."""
    page.keyboard.press("/")
    for kinds in page.get_by_text("Rule kind", exact=True).all():
        kinds.click()
    page.click("text=Expand all")


def chip(page, name):
    """Return the chip with a name, which a number follows."""
    return page.get_by_role("button", name=re.compile(rf"^\W*{name} \d"))


AXE = """async () => (await axe.run(document, {resultTypes: ["violations"]})).violations.flatMap(
    (each) => each.nodes.map((node) => `${each.id}: ${node.html.slice(0, 200)}`))"""


@pytest.mark.parametrize(
    ("scheme", "viewport"), [("light", WIDE), ("dark", PHONE)], ids=["wide-light", "phone-dark"]
)
def test_accessible(opened, cascade, scheme, viewport):
    """Axe finds nothing in any verdict, light or dark, wide or on a phone."""
    axe = files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")
    page = opened(cascade, color_scheme=scheme, viewport=viewport)
    page.evaluate(axe)
    expand(page)
    assert page.evaluate(AXE) == []


@pytest.mark.parametrize("viewport", [WIDE, PHONE], ids=["wide", "phone"])
def test_hostile_in_a_browser(opened, journal, viewport):
    """No text of a target runs, loads or breaks the layout, wide or on a phone."""
    page = opened(hostile_report(journal, "".join(HOSTILE.values()) * 20), viewport=viewport)
    expand(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= viewport["width"]
    assert page.locator("script, img, iframe").count() == 1


def shown(page):
    """Return the ids of the obligations that the clause table shows, on the screen or below it."""
    kept = "all => all.filter(each => !each.closest('[hidden]')).map(each => each.dataset.o)"
    return set(page.locator(".facets li").evaluate_all(kept))


def test_filter(opened, cascade):
    """Search and filters leave what matches, and say how many obligations that are."""
    from playwright.sync_api import expect  # noqa: PLC0415 -- an extra

    page = opened(cascade)
    status = page.locator("[role=status]")
    assert status.inner_text() == "17 obligations"
    page.keyboard.press("/")
    page.keyboard.type("clause-0 five")
    expect(status).to_have_text("1 of 17 obligations shown")
    assert shown(page) == {"aisp/clause-0/other"}
    assert not page.locator("article").first.is_visible()
    page.keyboard.press("Escape")
    assert len(shown(page)) == 16
    chip(page, "indeterminate").click()
    assert shown(page) == {"aisp/clause-1/facet", "aisp/clause-2/facet"}
    chip(page, "may").click()
    assert shown(page) == {"aisp/clause-1/facet"}
    chip(page, "violates").click()
    assert shown(page) == {"aisp/clause-1/facet"}
    chip(page, "may").click()
    assert shown(page) == {f"aisp/clause-{n}/facet" for n in range(3)}
    page.click("text=Rule kind")
    chip(page, "pagination").click()
    assert shown(page) == set()
    assert status.inner_text() == "0 of 17 obligations shown"
    assert chip(page, "pagination").get_attribute("aria-pressed") == "true"
    page.click("text=Clear filter")
    assert page.locator("[aria-pressed=true]").count() == 0
    page.fill("[type=search]", "line 163")
    expect(status).to_have_text("17 of 17 obligations shown")


def test_deep_link(opened, cascade):
    """A link to an obligation opens what it is in, and takes back a filter that hides it."""
    from playwright.sync_api import expect  # noqa: PLC0415 -- an extra

    page = opened(cascade, fragment="#aisp/clause-2/facet")
    target = page.locator("[id='aisp/clause-2/facet']")
    assert target.is_visible()
    expect(target).to_be_focused()
    chip(page, "violates").click()
    assert not target.is_visible()
    page.evaluate("location.hash = '#aisp/clause-2/facet?'")
    page.evaluate("location.hash = '#aisp/clause-2/facet'")
    expect(target).to_be_focused()
    assert target.is_visible()


def test_theme(opened, cascade):
    """The page is as light or dark as the system, unless the reader chooses."""
    page = opened(cascade, color_scheme="dark")
    paper = "getComputedStyle(document.documentElement).backgroundColor"
    dark = page.evaluate(paper)
    page.click("text=Theme: automatic")
    light = page.evaluate(paper)
    assert light != dark
    page.reload()
    assert page.evaluate(paper) == light
    page.click("text=Theme: light")
    assert page.evaluate(paper) == dark
    page.click("text=Theme: dark")
    assert page.get_by_text("Theme: automatic").is_visible()


def focused(page):
    """Return the id of the card whose line has the focus."""
    return page.evaluate(
        "document.activeElement.matches('summary') && document.activeElement.closest('article').id"
    )


def test_findings_by_keyboard(opened, cascade):
    """J and K move between the findings that are shown, Enter opens and closes one."""
    page = opened(cascade)
    lines = page.locator("[data-finding]")
    assert lines.evaluate_all("all => all.map(each => each.open)") == [False, False]
    page.keyboard.press("j")
    assert focused(page) == "aisp/clause-0/facet"
    page.keyboard.press("k")
    assert focused(page) == "aisp/clause-0/facet"
    page.keyboard.press("Enter")
    assert lines.first.evaluate("each => each.open")
    assert page.get_by_text("assay explain aisp/clause-0/facet").is_visible()
    page.keyboard.press("Tab")
    page.keyboard.press("j")
    assert page.evaluate("document.activeElement.innerText").find("not judged for one reason") > 0
    page.keyboard.press("j")
    assert page.evaluate("document.activeElement.innerText").find("not judged for one reason") > 0
    chip(page, "indeterminate").click()
    page.keyboard.press("j")
    assert "not judged for one reason" in page.evaluate("document.activeElement.innerText")
    page.click("text=Clear filter")
    chip(page, "violates").click()
    page.keyboard.press("j")
    assert focused(page) == "aisp/clause-0/facet"
    page.keyboard.press("j")
    assert focused(page) == "aisp/clause-0/facet"
    page.keyboard.press("Enter")
    assert not lines.first.evaluate("each => each.open")
    page.keyboard.press("/")
    page.keyboard.type("jk")
    assert page.locator("[type=search]").input_value() == "jk"


def test_finding_by_click(opened, cascade):
    """A click on a finding opens it: the decisive exchange in two panes beside one another."""
    page = opened(cascade)
    page.locator("[data-finding] > summary").first.click()
    request, response = (
        each.bounding_box() for each in page.locator(".panes > div").filter(visible=True).all()[:2]
    )
    assert request["y"] == response["y"]
    assert request["x"] + request["width"] < response["x"]
    assert (
        page.locator("pre").filter(visible=True).nth(1).inner_text().endswith("    2\n    ]\n  }")
    )


def test_decisive_member(opened, journal):
    """The pane of a finding opens at its decisive member, which has a sign and a name as well."""
    items = [{"iban": f"{n}", "currency": "EUR"} for n in range(60)]
    found = {"agreement": "disagrees", "expected": "a", "seen": "b", "exchanges": [17]}
    journal.plan().exchange(body=json.dumps({"accounts": items}))
    place = {"pointer": "/accounts/40/currency"}
    page = opened(journal.verdict(verdict="violates", evidence=[found | place]).footer().read())
    line = page.locator("[data-finding] > summary")
    assert page.evaluate("scrollY") == 0
    line.click()
    mark, pane = page.locator("pre mark"), page.locator("pre:has(mark)")
    assert mark.text_content().startswith("decisive: → ")
    assert "/accounts/40/currency" in page.locator(".panes .label").nth(1).inner_text()
    page.wait_for_function("document.querySelector('pre:has(mark)').scrollTop > 0")
    inner, outer = mark.bounding_box(), pane.bounding_box()
    assert outer["y"] < inner["y"] < outer["y"] + outer["height"] - inner["height"]
    assert page.evaluate("scrollY") == 0


@pytest.mark.parametrize("clipboard", [True, False], ids=["clipboard", "none"])
def test_copy(opened, cascade, clipboard):
    """A button copies its command, whether the browser has a clipboard for pages or not."""
    from playwright.sync_api import expect  # noqa: PLC0415 -- an extra

    page = opened(cascade)
    if not clipboard:
        page.evaluate("Object.defineProperty(navigator, 'clipboard', {value: undefined})")
    page.locator("[data-finding] > summary").first.click()
    for name, command in (
        ("reproduce", "assay run -k 'aisp/clause-0/facet' --seed 0"),
        ("explain", "assay explain aisp/clause-0/facet "),
    ):
        button = page.get_by_role("button", name=f"Copy the command: {name}").filter(visible=True)
        button.click()
        expect(button).to_have_text("Copied")  # a clipboard for pages answers later
        page.fill("[type=search]", "")
        page.locator("[type=search]").press("Control+v")
        assert page.locator("[type=search]").input_value().startswith(command)
        page.fill("[type=search]", "")


def test_live(chromium, cascade, tmp_path):
    """A page that is served loads itself again when there is more; what was open stays open."""
    from playwright.sync_api import expect  # noqa: PLC0415 -- an extra

    lines = Path(cascade.journal).read_bytes().splitlines(keepends=True)
    cut = next(
        n for n, line in enumerate(lines) if b"aisp/clause-0/other" in line and b"verdict" in line
    )
    journal = tmp_path / "growing.jsonl"
    journal.write_bytes(b"".join(lines[:cut]))
    context = chromium.new_context(viewport=WIDE)
    with serving(journal) as url:
        page = context.new_page()
        problems = []
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("console", lambda message: problems.append(message.text))
        page.goto(url)
        finding = page.locator("[data-finding]").first
        finding.locator("summary").first.click()
        expect(finding).to_have_attribute("open", "")
        before = page.locator("meta[name=assay-live]").get_attribute("content")
        journal.write_bytes(b"".join(lines))
        expect(page.locator("meta[name=assay-live]")).not_to_have_attribute("content", before)
        expect(page.locator("[data-finding]").first).to_have_attribute("open", "")
        assert problems == []
    expect(page).to_have_title(re.compile("^Ended: "))
    context.close()


def test_phone(opened, cascade):
    """On a phone the filter is closed, and the whole first finding is on the first screen."""
    page = opened(cascade, viewport=PHONE)
    assert not page.locator("[type=search]").is_visible()
    box = page.locator("[data-finding] > summary").first.bounding_box()
    assert box["y"] + box["height"] <= PHONE["height"]
    page.set_viewport_size(WIDE)
    page.locator("[type=search]").wait_for(state="visible")


def test_four_sizes(opened, cascade):
    """No text of the page has a fifth size."""
    page = opened(cascade)
    expand(page)
    sizes = "all => [...new Set(all.map(each => getComputedStyle(each).fontSize))]"
    assert len(page.locator("body *").evaluate_all(sizes)) == 4


def test_keyboard(opened, cascade):
    """The first key press reaches the skip link, and focus is always visible."""
    from playwright.sync_api import expect  # noqa: PLC0415 -- an extra

    page = opened(cascade)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the findings"
    page.keyboard.press("Enter")
    expect(page.locator("#violations")).to_be_focused()
    page.keyboard.press("Tab")
    style = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert style == "solid"


def test_without_script(opened, cascade):
    """Without its script the page is complete, and shows no control that does nothing."""
    page = opened(cascade, java_script_enabled=False)
    assert page.locator("input, select, button").filter(visible=True).count() == 0
    for result in cascade.results:
        assert page.locator(f"[id='{result.planned.id}']").count() == 1
    assert page.locator("nav a").filter(visible=True).count() > 5


def test_print(opened, cascade):
    """On paper closed evidence is open, and every page has the run, its digest and a number."""
    from pypdf import PdfReader  # noqa: PLC0415 -- only for tests

    page = opened(cascade, java_script_enabled=False, color_scheme="dark")
    pdf = PdfReader(BytesIO(page.pdf(prefer_css_page_size=True)))
    texts = [re.sub(r"\s+", " ", sheet.extract_text()) for sheet in pdf.pages]
    assert "GET https://bank.invalid/accounts/1/balances" in " ".join(texts)
    assert '"accounts": [ 1, 2 ]' in " ".join(texts)
    assert "assay explain aisp/clause-0/facet" in " ".join(texts)
    assert "aisp/clause-2/facet" in " ".join(texts)
    for number, text in enumerate(texts, 1):
        assert cascade.footer.digest in text
        assert "run of 2026-11-21 10:00:00 UTC" in text
        assert f"{number} / {len(texts)}" in text


def test_before_print(opened, cascade):
    """The script opens what is closed for as long as the browser prints."""
    page = opened(cascade)
    is_open, all_there = page.locator("article details[open]"), page.locator("article details")
    before = is_open.count()
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert before < is_open.count() == all_there.count()
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert before == is_open.count()


def test_large_page(opened, journal):
    """A thousand findings open in less than two seconds of the browser's time, and filter in one."""
    from playwright.sync_api import expect  # noqa: PLC0415 -- an extra

    page = opened(journal.findings(1_000))
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    page.reload()
    assert 0.05 < busy(session) < 2
    before = busy(session)
    page.keyboard.press("/")
    page.keyboard.type("clause-77/")
    expect(page.locator("[role=status]")).to_have_text("1 of 1,000 obligations shown")
    assert busy(session) - before < 1
    assert page.evaluate("document.documentElement.outerHTML.length") < 12_000_000


def busy(session):
    """Return the processor time that the page's main thread has taken, in seconds."""
    metrics = session.send("Performance.getMetrics")["metrics"]
    return next(each["value"] for each in metrics if each["name"] == "TaskDuration")
