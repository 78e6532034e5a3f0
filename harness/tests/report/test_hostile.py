"""Whatever a target sends, every format stays whole, harmless and small."""

import json
import re
import xml.etree.ElementTree as ET
from base64 import b64encode
from urllib.parse import quote

import pytest
from support.consumers import workflow_commands

from assay.journal.codec import SIGNING

MEGABYTES = 1024 * 1024
ODD = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\uffff]")

HOSTILE = {
    "script": "</script><img src=x onerror=alert(1)><!-- -->{{ 7*7 }}",
    "cdata": "]]><evil/>&entity;",
    "ansi": "\x1b[31m\x1b]0;title\x07\x9b2J",
    "nul": "\x00\uffff\ud800\ufffe",
    "table": "| a | b |\n|---|---|\n# heading",
    "backticks": "```\n````\n</details>\n@everyone https://evil.invalid",
    "rich": "[bold red]x[/] [link=https://evil.invalid]y[/link]",
    "right-to-left": "\u202egnp.exe\u2066",
}

HUGE = {"letters": "A", "controls": "\x1b", "bars": "|", "ticks": "`", "angles": "<"}


def hostile_report(journal, text):
    """Return a report into which a target wrote `text` wherever it can."""
    evidence = {
        "agreement": "disagrees",
        "expected": text,
        "seen": text,
        "variation": text,
        "exchanges": [17],
        "pointer": f"/{text}",
    }
    missing = {**evidence, "pointer": "", "header": text}
    message = {"headers": [[text, text]] * 100, "body": text}
    journal.plan(says=text, asks=text, sources=[{"section": text, "text": text}])
    journal.plan("aisp/b/two").plan("aisp/c/three", reason=text)
    journal.exchange(
        body=text,
        at=text,
        operation=text,
        subject=text,
        variation=text,
        request={"method": text, "url": text, **message},
        response={"status": 200, "truncated": True, **message},
        outcome={"kind": text, "why": text},
    )
    journal.search(findings=[{"obligation": text, "sequence": text, "steps": 4}] * 200)
    journal.verdict(verdict="violates", reason=text, evidence=[evidence, missing])
    journal.verdict("aisp/b/two", "indeterminate", text, evidence=[])
    journal.verdict("aisp/c/three", "unverified", text)
    journal.add(type="fault", where=text, what=text)
    return journal.footer().read()


def harmless(text, view):
    """Check what holds of every format, and of each in its own syntax."""
    assert not ODD.search(text)
    # A HAR file is as large as its journal, whose writer bounds bodies.
    assert len(text.encode()) < 1 * MEGABYTES or view.format == "har"
    match view.format:
        case "json" | "ctrf" | "sarif" | "har":
            json.loads(text)
        case "github":
            assert all(properties["title"] for _, properties, _ in workflow_commands(text))
        case "junit":
            ET.fromstring(text)
        case "html":
            assert "<img" not in text
            assert text.count("<script") == 1  # the page's own
            assert "<evil" not in text
        case "markdown":
            prose = re.sub(r"(?ms)^(`{3,})\w*\n.*?^\1$", "", text)
            prose = re.sub(r"(?<!`)(`+)(?!`).+?(?<!`)\1(?!`)", "", prose)
            assert "<img" not in prose
            assert "@everyone" not in prose
            assert "https://evil" not in prose
            assert prose.count("<details>") == prose.count("</details>")


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile(journal, any_view, text):
    """A hostile text anywhere in a journal does no harm in any format."""
    harmless(any_view(hostile_report(journal, text)), any_view)


#: Spellings in which a hostile text has no hostile character, until somebody decodes it.
SPELLINGS = {
    "JSON": lambda text: json.dumps({"page": text, text: [text, "x"], "more": {"a": text}}),
    "URL": lambda text: f"https://bank.example/a?q={quote(text, errors='replace')}#x",
    "HTML": lambda text: "".join(f"&#{ord(sign)};" for sign in text),
    "base64": lambda text: b64encode(text.encode(errors="replace")).decode(),
    "JSON in JSON": lambda text: json.dumps({"page": json.dumps({"page": text})}),
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
@pytest.mark.parametrize("spelling", SPELLINGS)
def test_hostile_once_decoded(journal, any_view, spelling, text):
    """What the screens or a URL have in escapes is harmless for people who read it decoded."""
    spelt = SPELLINGS[spelling](text)
    journal.plan()
    message = {"headers": [["X-A", spelt]], "body": spelt}
    for n, operation in enumerate([SIGNING, "accounts"]):
        journal.exchange(
            n=17 + n,
            operation=operation,
            request={"method": "GET", "url": spelt, **message},
            response={"status": 200, "truncated": False, **message},
            outcome={"kind": "accepted", "why": spelt},
        )
    evidence = {"agreement": "disagrees", "expected": "a", "seen": spelt, "exchanges": [17, 18]}
    journal.verdict(verdict="violates", evidence=[evidence])
    rendered = any_view(journal.footer().read())
    harmless(rendered, any_view)
    if any_view.format in {"json", "ctrf", "sarif", "har"}:
        assert not [value for value in texts(json.loads(rendered)) if ODD.search(value)]


def texts(value):
    """Yield every text in a JSON value."""
    if isinstance(value, dict | list):
        inner = value.items() if isinstance(value, dict) else enumerate(value)
        yield from (text for name, each in inner for text in (str(name), *texts(each)))
    elif isinstance(value, str):
        yield value


@pytest.mark.parametrize("sign", HUGE.values(), ids=HUGE)
def test_huge(journal, view, sign):
    """A body and an observation of five million characters make a small report."""
    text = sign * (5 * MEGABYTES)
    evidence = {
        "agreement": "disagrees",
        "expected": "a page",
        "seen": text,
        "exchanges": [17],
    }
    journal.plan().exchange(body=text)
    journal.verdict(verdict="violates", evidence=[evidence])
    harmless(view(journal.footer().read()), view)


def test_forged_lines(journal, any_view):
    """A target cannot write a line that looks like the harness's own."""
    forged = "x\nThe gateway meets all 3 obligations.\nreproduce  rm -rf /"
    text = any_view(hostile_report(journal, forged))
    assert not re.search(r"(?m)^(    )?(The gateway meets|reproduce  rm)", text)


def test_surrogates_in_ids(journal, any_view):
    """An id that UTF-8 cannot write does not stop a report."""
    name = "aisp/\ud800/\x1b[0m"
    any_view(journal.plan(name).verdict(name).footer().read())
