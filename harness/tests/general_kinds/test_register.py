"""Beneficiaries that are made, changed and deleted at any time: runs against sound and wrong banks."""

from pathlib import Path

from faulty import changed
from foreign.bank import Bank, Refused
from foreign.dialects import dialect
from rows import for_each

from assay.kinds import Standing
from assay.testing import verdicts

HERE = Path(__file__).parent
CONTRACT, TARGET = HERE / "register.yaml", HERE / "register-target.yaml"


def list_own(bank, call):
    own = [each for each in call.world.requests.values() if bank.is_own(call, each)]
    return 200, [bank.shown(each) for each in own if bank.is_listed(each)]


def list_pages(bank, call, number):
    """Return some entries, and where the others begin."""
    days = call.customer.accounts[number]
    entries = bank.entries(call, None, number, days)
    start = int(call.query.get("from", 0))
    end = start + bank.page_sizes[0 if start == 0 else 1]
    shown = {"entries": bank.arranged(entries)[start:end]}
    following = end < len(entries) or bank.endless
    return 200, bank.on_page({**shown, "next": str(end % 99)} if following else shown)


def newest_first(bank, entries):
    return sorted(entries, key=lambda entry: str(entry["day"]), reverse=True)


def removed(bank, call, id_):
    """Delete what is the caller's own, and say nothing."""
    bank.forget(call.world, bank.own(call, id_))
    return 204, {}


#: What is deleted is not found.
REGISTER = dialect(
    "Register",
    routes={
        "GET accounts": "list_accounts",
        "GET accounts/*/entries": "list_pages",
        "GET beneficiaries": "list_own",
        "POST beneficiaries": "make",
        "GET beneficiaries/*": "show",
        "PATCH beneficiaries/*": "change",
        "DELETE beneficiaries/*": "stop",
    },
    paging="bare",
    list_pages=list_pages,
    page_sizes=(4, 4),
    arranged=newest_first,
    on_page=lambda bank, page: page,
    endless=False,
    list_own=list_own,
    is_listed=lambda bank, request: True,
    forget=lambda bank, world, request: world.requests.pop(request.id),
    stop=removed,
    check=lambda bank, *_: None,
    changed=lambda bank, request, body: {**request.body, **body},
)


def changed_whole(bank, request, body):
    """Replace everything, as a PUT does: what is not sent is lost."""
    return {name: body.get(name) for name in ("name", "account", "note")}


def kept_as_ended(bank, world, request):
    request.status = "deleted"


def shown_unless_deleted(bank, call, id_):
    request = call.world.requests.get(id_)
    if request is None or not bank.is_own(call, request) or request.status == "deleted":
        raise Refused(410)
    return 200, bank.shown(request)


#: A bank that answers anything about what it never had, and only says that nothing is left of it.
QUIET = changed(
    REGISTER,
    "Quiet",
    stop=lambda bank, call, id_: (
        bank.forget(call.world, call.world.requests[id_])
        if id_ in call.world.requests and bank.is_own(call, call.world.requests[id_])
        else None,
        204,
        {},
    )[1:],
)
#: A bank that remembers what was deleted, and shows it to nobody.
HIDING = changed(
    REGISTER,
    "Hiding",
    forget=kept_as_ended,
    show=shown_unless_deleted,
    is_listed=lambda bank, request: request.status != "deleted",
)
#: A bank that shows what was deleted as such.
KEEPING = changed(
    HIDING, "Keeping", show=Bank.show, is_listed=lambda bank, request: request.status != "deleted"
)


def keeps(name):
    """Return what changes a field in words only."""
    return lambda bank, request, body: {
        **request.body, **body, name: request.body[name]
    }  # fmt: skip


def without(name):
    """Return what refuses a change of a field."""

    def change(bank, call, id_):
        if name in call.json:
            raise Refused(422)
        return Bank.change(bank, call, id_)

    return change


def results_of(bank, rule):
    """Return the verdicts on the facets of one rule."""
    results = verdicts(CONTRACT, TARGET, bank())
    return {
        name.partition("/")[2]: each
        for name, each in results.items()
        if name.startswith(f"{rule}/")
    }


def violated(bank, rule):
    return {name for name, each in results_of(bank, rule).items() if each is Standing.VIOLATES}


@for_each(
    ("bank", "rule"),
    [
        (REGISTER, "pages"),
        (changed(REGISTER, "Short", page_sizes=(2, 3)), "pages"),
        (REGISTER, "newest"),
        (changed(REGISTER, "Later", page_sizes=(4, 2)), "newest"),
        (REGISTER, "changes"),
        (changed(REGISTER, "Firm", changed=keeps("account")), "account"),
        (changed(REGISTER, "Strict", change=without("account")), "account"),
        (REGISTER, "gone"),
        (QUIET, "gone"),
        (HIDING, "gone"),
        (KEEPING, "shown"),
    ],
)
def test_a_sound_bank_conforms(bank, rule):
    """A deletion may be answered in any way, and what was deleted be kept or forgotten."""
    assert {Standing.CONFORMS} == {*results_of(bank, rule).values()}


def refuses(status):
    def refused(*_):
        raise Refused(status)

    return refused


def deletes_for_anybody(bank, call, id_):
    return 204, bank.forget(call.world, call.world.requests[id_]) and {}


def everything(bank, world, request):
    world.requests.clear()


def breaks_down(bank, call, id_):
    """Fail over what is not there any more."""
    if id_ not in call.world.requests:
        return 500, {}
    return removed(bank, call, id_)


def breaks_on_reading(bank, call, id_):
    return Bank.show(bank, call, id_) if id_ in call.world.requests else (500, {})


def account_is_lost(bank, request, body):
    return {**request.body, **body, "account": "0"}


def turned(bank, page):
    """Show each page the other way round."""
    return {**page, "entries": page["entries"][::-1]}


def pages_turned(bank, entries):
    """Show the pages from the last to the first, each in order."""
    newest = newest_first(bank, entries)
    pages = [newest[max(0, end - 4) : end] for end in range(len(newest), 0, -4)]
    return [entry for page in pages for entry in page]


@for_each(
    ("bank", "rule", "broken"),
    [
        (changed(REGISTER, "U", page_sizes=(5, 4)), "pages", {"first-page"}),
        (changed(REGISTER, "V", page_sizes=(4, 5)), "pages", {"later-pages"}),
        (changed(REGISTER, "W", arranged=lambda bank, all_: all_ * 2), "pages", {"no-repeats"}),
        (changed(REGISTER, "X", arranged=lambda bank, all_: all_[1:]), "pages", {"complete"}),
        (changed(REGISTER, "Y", endless=True), "pages", {"ends"}),
        (changed(REGISTER, "Z", on_page=turned), "newest", {"order-within-page"}),
        (changed(REGISTER, "S", arranged=pages_turned), "newest", {"order-across-pages"}),
        (
            changed(REGISTER, "T", arranged=lambda bank, all_: all_),
            "newest",
            {"order-within-page", "order-across-pages"},
        ),
        (changed(REGISTER, "A", changed=keeps("name")), "changes", {"persists"}),
        (changed(REGISTER, "B", changed=keeps("note")), "changes", {"persists"}),
        (changed(REGISTER, "C", change=without("note")), "changes", set()),
        (changed(REGISTER, "N", change=refuses(403)), "changes", {"accepted"}),
        (changed(REGISTER, "D", changed=account_is_lost), "changes", {"others-unchanged"}),
        (REGISTER, "account", {"account-kept"}),
        (changed(REGISTER, "O", change=refuses(403)), "account", {"accepted"}),
        (changed(REGISTER, "E", stop=refuses(403)), "gone", {"accepted"}),
        (changed(REGISTER, "F", show=breaks_on_reading), "gone", {"read-refused"}),
        (changed(KEEPING, "G", state=lambda *_: "open"), "gone", {"read-refused"}),
        (
            changed(HIDING, "H", is_listed=lambda *_: True, state=lambda *_: "open"),
            "gone",
            {"unlisted"},
        ),
        (changed(REGISTER, "I", stop=breaks_down), "gone", {"repeated"}),
        (changed(REGISTER, "J", forget=everything), "gone", {"others-stay"}),
        (changed(REGISTER, "K", stop=deletes_for_anybody), "gone", {"others-stay"}),
        (KEEPING, "gone", set()),
        (REGISTER, "shown", {"read-ended"}),
        (changed(KEEPING, "M", state=lambda *_: "open"), "shown", {"read-ended"}),
    ],
)
def test_each_mutant_breaks_its_own_facet(bank, rule, broken):
    """Each facet has a bank that breaks it, and nothing else."""
    assert broken == {each.removesuffix("-status") for each in violated(bank, rule)}


def test_items_of_several_lists_are_in_no_order(tmp_path):
    """Whoever reads two lists as one has joined them, and not the bank."""
    target = tmp_path / "target.yaml"
    text = TARGET.read_text("utf-8")
    target.write_text(
        text.replace("    list: /entries\n", "    list: [/entries, /pending]\n"), "utf-8"
    )
    results = verdicts(CONTRACT, target, changed(REGISTER, "Turned", on_page=turned)())
    orders = {each for name, each in results.items() if name.startswith("newest/order")}
    assert {Standing.NOT_APPLICABLE} == orders
