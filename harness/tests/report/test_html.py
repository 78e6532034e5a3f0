"""The HTML page stands alone, runs nothing but its own script, and can be read by everyone."""

import hashlib
import re
from base64 import b64encode
from html import unescape
from html.parser import HTMLParser
from itertools import pairwise

import pytest

from assay.report import cards


class Page(HTMLParser):
    """The tags of a page, and the text of none of them."""

    def __init__(self, text):
        super().__init__()
        self.tags = []
        self.open = []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        """Keep a tag, and remember that it is open."""
        self.tags.append((tag, dict(attributes)))
        if tag not in {"meta", "br", "input"}:
            self.open.append(tag)

    def handle_endtag(self, tag):
        """Close a tag, which must be the one that was opened last."""
        assert self.open.pop() == tag


@pytest.fixture
def page(mixed, written):
    """Return the parsed HTML of a run with every verdict."""
    return Page(written(mixed, "html"))


def test_html_well_formed(page):
    """Every tag that is opened is closed in its place."""
    assert page.open == []


def test_html_alone(page, mixed, written):
    """The page refers to nothing outside itself and has no script but its own."""
    tags = [tag for tag, _ in page.tags]
    forbidden = {"link", "img", "iframe", "object", "embed", "base", "form"}
    assert not forbidden.intersection(tags)
    assert 1 == tags.count("script")
    for _, attributes in page.tags:
        assert attributes.get("href", "#").startswith("#")
        assert not {"src", "srcset", "action", "data", "style"} & attributes.keys()
        assert not any(name.startswith("on") for name in attributes)
    style = re.search(r"<style>(.*?)</style>", written(mixed, "html"), re.DOTALL)[1]
    assert "url(" not in style
    assert "@import" not in style


def test_html_policy(page, mixed, written):
    """The page allows one style sheet and one script, by their digests, and nothing else."""
    (policy,) = [
        attributes["content"]
        for tag, attributes in page.tags
        if attributes.get("http-equiv") == "Content-Security-Policy"
    ]
    text = written(mixed, "html")
    digests = [
        b64encode(hashlib.sha256(content.encode()).digest()).decode()
        for tag in ("style", "script")
        for content in re.findall(rf"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
    ]
    nothing = "default-src 'none'; base-uri 'none'; form-action 'none'"
    style, script = (f"'sha256-{digest}'" for digest in digests)
    assert f"{nothing}; style-src {style}; script-src {script}" == policy


def test_html_anchors(page, mixed):
    """Each obligation has one anchor, and each link inside the page has its end."""
    ids = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    assert {one.planned.id for one in mixed.results} <= set(ids)
    links = {a["href"][1:] for tag, a in page.tags if tag == "a" and "href" in a}
    assert links <= set(ids)


def test_html_headings(page):
    """The page has a language, one main title and no skipped heading level."""
    assert ("html", {"lang": "en"}) in page.tags
    levels = [int(tag[1]) for tag, _ in page.tags if re.fullmatch("h[1-6]", tag)]
    assert 1 == levels[0] == levels.count(1)
    assert all(after - before <= 1 for before, after in pairwise(levels))


def test_html_budget(journal, monkeypatch, written):
    """Beyond its budget the page counts the findings that it leaves out."""
    monkeypatch.setattr(cards, "CARDS", 3)
    monkeypatch.setattr(cards, "EXCHANGES", 4_000)
    text = written(journal.findings(5), "html")
    assert text.count("<article") == 3
    assert "2 more are left out here" in text
    assert text.count("<summary>exchange 17") == 1
    assert "and 1 more exchange" in text
    ids = re.findall(r'id="(aisp/[^"]+)"', text)
    assert 5 == len(ids) == len(set(ids))


def cards_of(text):
    """Return the articles of a page, by the id of their obligation."""
    return dict(re.findall(r'(?s)<article [^>]*id="([^"]+)".*?>(.*?)</article>', text))


def summary_of(text, name="aisp/batch-quota/next-day"):
    """Return the words of the line that opens a card."""
    line = re.search(r"(?s)<summary>(.*?)</summary>", cards_of(text)[name])[1]
    return re.sub(r"\s+", " ", re.sub("<[^>]+>", " ", line)).strip()


def test_html_one_line(mixed, written):
    """A finding is one closed line: the sentence, the facet, what was expected, what was seen."""
    text = written(mixed, "html")
    sentence = "At most four accesses a day without the customer."
    line = f"✗ {sentence} violates next-day expected accepted seen refused with 429"
    assert line == summary_of(text)
    assert 2 == text.count("<details data-finding><summary>")
    assert "<details data-finding open" not in text


def test_html_the_only_context(journal, written):
    """The line says in which context alone it was seen; any other reason stands in the card."""
    name = "aisp/batch-quota/next-day"
    context = {"trial": "aisp/batch-quota#next-day [tpp=other]"}

    def shown(reason, **more):
        journal.lines = journal.lines[:1]
        journal.plan(name).exchange(more.get("trial", "aisp/batch-quota#next-day"))
        journal.verdict(name, "violates", reason, **more)
        return written(journal.footer().read(), "html")

    found = "expected accepted; refused with 429"
    line = "next-day expected accepted seen refused with 429"
    text = shown(f"only by another TPP: {found}", **context)
    assert summary_of(text).endswith(f"{line} only by another TPP")
    assert f"only by another TPP: {found}" not in text
    assert summary_of(shown(found)).endswith(line)
    other = shown("only by another TPP: nothing alike", **context)
    assert summary_of(other).endswith(line)
    assert "<p>only by another TPP: nothing alike</p>" in other


def groups_of(text):
    """Return the head of each group of violations, with the ids of its cards."""
    part = text[text.index('id="violations"') : text.index("</section>")]
    heads = re.findall(r"(?s)<h3 data-head>(.*?) <span[^>]*>(.*?), probably", part)
    ids = [re.findall(r'<article [^>]*id="([^"]+)"', each) for each in part.split("<h3 data-head>")]
    return [(*head, names) for head, names in zip(heads, ids[1:], strict=True)]


def test_html_group_of_a_sentence(journal, written):
    """Violations of one sentence are one group, whose lines have the sentences of the facets."""
    names = [f"aisp/clause-{n}/facet" for n in range(3)]
    for n, name in enumerate(names):
        says = "A page has 15 items." if n < 2 else "Only euro."
        journal.plan(name, says=says, asks=f"the facet {n}")
    for n, name in enumerate(names):
        journal.exchange(name.replace("/facet", "#facet"), n=17 + n)
        evidence = {"agreement": "disagrees", "expected": "15", "seen": "16", "exchanges": [17 + n]}
        journal.verdict(name, "violates", evidence=[evidence])
    text = written(journal.footer().read(), "html")
    ((title, number, ids),) = groups_of(
        text.replace('<article class="card violates" id="aisp/clause-2', "<x ")
    )
    assert ("A page has 15 items.", "2 findings", names[:2]) == (title, number, ids)
    assert "✗ the facet 0 violates facet expected 15 seen 16" == summary_of(text, names[0])
    assert "✗ Only euro. violates facet expected 15 seen 16" == summary_of(text, names[2])


def test_html_group_of_an_exchange(journal, written):
    """So are violations that one exchange shows, though their sentences differ; not of one trial."""
    names = [f"aisp/clause-{n}/facet" for n in range(3)]
    for name in names:
        journal.plan(name, says=f"The sentence of {name}.", trial="aisp/one#trial")
    journal.exchange("aisp/one#trial", 17).exchange("aisp/one#trial", 18)
    for name, number in zip(names, (17, 17, 18), strict=True):
        evidence = {"agreement": "disagrees", "expected": "a", "seen": "b", "exchanges": [number]}
        journal.verdict(name, "violates", evidence=[evidence])
    text = written(journal.footer().read(), "html")
    ((title, number, _),) = groups_of(text)
    assert ("Exchange 17: GET /accounts/1/balances → 429", "2 findings") == (title, number)
    assert "✗ The sentence of aisp/clause-1/facet. " in summary_of(text, names[1])


def test_html_timeline(journal, written):
    """A timeline has relative times without the moves of the clock, and what was sent."""
    trial = "aisp/batch-quota#next-day"
    journal.plan().add(
        type="subject", trial=trial, name="psu", now="2026-09-16T10:00:00+02:00", owns=[]
    )
    journal.exchange(n=15, at="2026-09-16T10:00:00.250+02:00", variation="")
    journal.add(type="advanced", trial=trial, now="2026-09-17T10:00:00.250+02:00")
    journal.exchange(n=17, at="2026-09-17T10:00:01.500+02:00")
    journal.exchange(n=18, at="2026-09-17T10:00:01.500+02:00")
    text = written(journal.verdict(verdict="violates").footer().read(), "html")
    table = re.search(r'(?s)<table class="timeline">(.*?)</table>', text)[1]
    rows = [re.sub("<[^>]+>", "|", row) for row in re.findall("<tr.*?</tr>", table)[1:]]
    times = [re.findall(r"\+[\d.]+ s|clock moved: .*?(?=\|)", row) for row in rows]
    assert [["+0.00 s"], ["+0.25 s"], ["clock moved: 1 day"], ["+1.50 s"], []] == times
    assert "psu: GET /accounts/1/balances, customer absent |without the customer|" in rows[3]
    assert "bank.invalid" not in table


def test_html_sources(journal, written):
    """A card shows one source, and the others behind a number."""
    sources = [{"section": f"Section {n}", "line": n} for n in range(1, 4)]
    text = written(
        journal.plan(sources=sources).exchange().verdict(verdict="violates").footer().read(), "html"
    )
    card = cards_of(text)["aisp/batch-quota/next-day"]
    assert 1 == card.count("<dt>Source</dt>")
    first, more = re.search(r"(?s)<dt>Source</dt><dd>(.*?)<details>(.*?)</details>", card).groups()
    assert ("Section 1, line 1", ["+2", "Section 2, line 2", "Section 3, line 3"]) == (
        first,
        re.findall(r"\+2|Section \d, line \d", more),
    )


def test_html_commands(journal, written):
    """A card shows the commands that reproduce and explain it, and a button beside each."""
    journal.path = journal.path.parent / "a run" / "journal.jsonl"
    journal.path.parent.mkdir()
    text = unescape(
        cards_of(written(journal.finding().footer().read(), "html"))["aisp/batch-quota/next-day"]
    )
    commands = re.findall(r"<code>(assay .*?)</code> <button [^>]*data-copy[^>]* hidden>", text)
    folder = f"'{journal.path.parent}'"
    assert [
        "assay run -k 'aisp/batch-quota/next-day' --seed 0",
        f"assay explain aisp/batch-quota/next-day {folder}",
    ] == commands


def test_html_harness_notes(mixed, written):
    """What went wrong in the harness is in the record, and not above the findings."""
    text = written(mixed, "html")
    note = "The harness itself failed once."
    assert 1 == text.count(note)
    assert text.index('id="record"') < text.index(note) < text.index('id="faults"')
    assert "could not be verified" in text[: text.index("<main>")]


def test_html_chips(mixed, page, written):
    """The filter has a chip with its number for each value of what differs, and no form."""
    chips = [a for tag, a in page.tags if tag == "button" and "data-pick" in a]
    text = written(mixed, "html")
    assert 7 == len([each for each in chips if each["data-pick"] == "v"])
    assert {"quota", "unspecified"} == {
        each["data-value"] for each in chips if each["data-pick"] == "k"
    }
    assert not [each for each in chips if each["data-pick"] in {"c", "l"}]
    assert re.search(r'data-value="quota"[^>]*>quota <span class="zero">6</span>', text)
    assert not {"select", "form", "label"} & {tag for tag, _ in page.tags}


def test_html_four_sizes(mixed, written):
    """The page has four sizes of type."""
    style = re.search(r"<style>(.*?)@page \{ @bottom", written(mixed, "html"), re.DOTALL)[1]
    sizes = set(re.findall(r"font-size: ([^;]+);", style)) | set(
        re.findall(r"font: ([^/ ]+)[/ ]", style)
    )
    assert {"var(--small)", "var(--text)", "var(--large)", "var(--title)"} == sizes - {"inherit"}


def luminance(colour):
    """Return the relative luminance of #rrggbb as WCAG defines it."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_html_contrast(mixed, written):
    """Every text colour meets WCAG AA on every ground, light and dark."""
    grounds = {"paper", "raised", "sunk", "marked"}
    pairs = r"--([a-z-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)"
    colours = {name: pair for name, *pair in re.findall(pairs, written(mixed, "html"))}
    assert grounds < colours.keys()
    for scheme in (0, 1):
        for name in colours.keys() - grounds - {"rule"}:
            for ground in grounds:
                both = (luminance(colours[each][scheme]) for each in (name, ground))
                dark, light = sorted(both)
                assert (light + 0.05) / (dark + 0.05) >= 4.5, (name, ground)


def test_html_cause(journal, written):
    """Inconclusive obligations with one reason share a card; each has its anchor."""
    names = [f"aisp/clause-{n}/facet" for n in range(5)]
    for name in names:
        journal.plan(name)
    for name in names:
        journal.verdict(name, "indeterminate", "the control call failed")
    text = written(journal.footer().read(), "html")
    assert 1 == text.count("<article")
    assert "5 obligations" in text
    assert 5 == len(re.findall(r'<li id="aisp/clause-\d/facet"', text))


def test_html_questions(journal, written):
    """A question that two contracts ask in the same words is listed once, with both ids."""
    for name in ("aisp/codes/open", "pis/codes/open"):
        open_point = {"kind": "unspecified", "disposition": "unspecified", "asks": ""}
        journal.plan(name, says="Which status a refusal has.", **open_point)
    for name in ("aisp/codes/open", "pis/codes/open"):
        journal.verdict(name, "unspecified")
    text = written(journal.footer().read(), "html")
    listed = text[text.index('id="open-points"') :]
    assert 1 == listed.count("Which status a refusal has.")
    assert {"aisp/codes/open", "pis/codes/open"} <= set(re.findall(r'id="([^"]+)"', listed))


def test_html_not_applicable(journal, written):
    """What the bank does not offer is told from what cannot occur."""
    journal.lines[0] = journal.lines[0] | {"not_offered": ["instant"]}
    names = ("aisp/instant/offered", "aisp/night/short")
    for name in names:
        journal.plan(name)
    for name in names:
        journal.verdict(name, "not-applicable", f"the reason of {name}")
    text = written(journal.footer().read(), "html")
    text = text[text.index('id="not-applicable"') :]
    offered, never = text.index("Not offered by this bank"), text.index("Cannot occur")
    assert offered < text.index("the reason of aisp/instant/offered") < never
    assert never < text.index("the reason of aisp/night/short")


def test_html_absent(journal, written):
    """So is what the bank does not have at all, by the reason of the target file."""
    journal.lines[0] = journal.lines[0] | {"absent": ["no cards"]}
    journal.plan("aisp/cards/recent")
    journal.verdict("aisp/cards/recent", "not-applicable", "no cards")
    text = written(journal.footer().read(), "html")
    text = text[text.index('id="not-applicable"') :]
    assert "Not offered by this bank" in text
    assert "Cannot occur at this target" not in text


@pytest.mark.parametrize("path", ["/home/me/venv/assay/data/aisp.yaml", r"C:\me\aisp.yaml"])
def test_html_local_path(journal, written, path):
    """The page names the file of a contract, and not the folder of the user."""
    contract = journal.lines[0]["contracts"][0] | {"path": path}
    journal.lines[0] = journal.lines[0] | {"contracts": [contract], "environment": "live"}
    text = written(journal.finding().footer().read(), "html")
    assert path not in text
    assert text.count("<code>aisp.yaml</code>") == 2
    assert "live: a live bank" in text
    assert "2026-11-21 10:00:00 UTC" in text
