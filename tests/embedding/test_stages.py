"""Whatever fails, and wherever: what was answered in a form of the page is in no request."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

from playwright.sync_api import Error, Frame, Route

from tests.browser.wire import Wire

from .pages import PAY, ROOT, Reader, leaks

Visit = Callable[..., Reader]

# What a respondent, a browser and a careless page might do; disabled controls are filled too.
ACT = """async (pay) => {
  const wait = (time) => new Promise((done) => setTimeout(done, time));
  const form = document.forms[0];
  for (let turn = 0; turn < 40 && !heard.length; turn++) await wait(25);
  const ready = heard.includes("deniable-ready");
  for (const control of form.querySelectorAll("input")) {
    if (control.type === "number") control.value = pay;
    else if (["Yes", "More often", "Green"].includes(control.value)) control.checked = true;
  }
  const button = form.querySelector("button");
  button?.click();
  await wait(50);
  const key = { key: "Enter", bubbles: true, cancelable: true };
  form.querySelector("input[type=number]").dispatchEvent(new KeyboardEvent("keydown", key));
  for (const submit of [() => form.requestSubmit(), () => form.submit()]) {
    try { submit(); } catch { /* the page has broken even this */ }
  }
  await wait(150);
  return [ready, heard.includes("deniable-sent")];
}"""


def places(script: str, path: Path) -> list[int]:
    """Find where a statement may stand: in the form's own code, the device's, and the sending."""
    path.write_text(script)
    node = ROOT / ".venv/bin/node-for-deniable"
    done = subprocess.run(
        [str(node) if node.exists() else "node", ROOT / "tests/embedding/stages.mjs", path,
         "export async function fetchSurvey"],
        capture_output=True, text=True, check=True, cwd=ROOT,
    )  # fmt: skip
    found: list[int] = json.loads(done.stdout)
    return found


def test_a_script_that_throws_at_each_stage(visit: Visit, wire: Wire, pages: Any,
                                            tmp_path: Path) -> None:  # fmt: skip
    """A throw before every statement of the form, and every fifth of its device and sending."""
    pages.policy = False  # the worst case: nothing but the markup and the script
    script = pages._files.index("plain").body.decode()
    stages = places(script, tmp_path / "index.js")
    own = script.index("export async function attach")
    stages = [at for turn, at in enumerate(stages) if at > own or turn % 5 == 0]
    broken = [script[:at] + "\nthrow new Error();" + script[at:] for at in stages]
    broken += ["throw new Error();", "syntax error", script]
    assert len(broken) > 50

    def answer(route: Route) -> None:
        stage = int(route.request.url.rpartition("=")[2])
        text = broken[stage].replace('indexedDB.open("deniable")', f'indexedDB.open("d{stage}")')
        headers = {"Access-Control-Allow-Origin": "*"}
        route.fulfill(body=text, content_type="text/javascript", headers=headers)

    made = pages.places("plain.html")["snippet"].partition("<form")
    pages.extra |= {
        f"stage-{stage}.html": f'<script src="listen.js"></script><p id="heard"></p>'
        f'<script type="module" src="{wire.origin}/client/plain/index.js?{stage}={stage}">'
        f"</script>{made[1]}{made[2]}"
        for stage in range(len(broken))
    }
    reader = visit()
    reader.page.route("**/plain/index.js?*", answer)
    ready, sent = 0, []
    for first in range(0, len(broken), 25):
        group = range(first, min(first + 25, len(broken)))
        pages.extra["all.html"] = "".join(f'<iframe src="stage-{s}.html"></iframe>' for s in group)
        reader.page.goto(f"{pages.address}/all.html")
        for stage, found in zip(group, act(reader), strict=True):
            ready += found[0]
            sent += [stage] if found[1] else []
    assert leaks(reader, wire, pages) == []
    assert len(broken) - 1 in sent, "the script that is not broken sends"
    assert 20 < ready < len(broken) - 20, "some broke before the form opened, some after"
    posts = [one for one in reader.asked if one.startswith("POST")]
    assert posts
    assert all(f"{wire.origin}/v1/surveys/tickets/reports" in post for post in posts)


def act(reader: Reader) -> list[tuple[bool, bool]]:
    """Do everything in all frames at once."""
    frames: list[Frame] = reader.page.main_frame.child_frames
    for frame in frames:
        frame.evaluate(f"window.done = ({ACT})('{PAY}'); 0")
    return [tuple(frame.evaluate("window.done")) for frame in frames]  # type: ignore[misc]


def test_a_form_that_could_be_submitted_is_caught(visit: Visit, wire: Wire, pages: Any) -> None:
    """The same acts find the answer in a request of a usual form, whose script did not come."""
    pages.policy = False
    form = pages.places("plain.html")["snippet"].partition("<form")[2]
    usual = form.replace("data-name", "name").replace('method="dialog"', 'action="send"')
    script = '<script src="listen.js"></script><p id="heard"></p><form'
    pages.extra["usual.html"] = script + usual.replace("<fieldset disabled>", "<fieldset>")
    reader = visit()
    reader.page.goto(f"{pages.address}/usual.html")
    try:
        reader.page.evaluate(ACT, PAY)
    except Error:
        reader.page.wait_for_load_state()  # it has left the page, with the answers
    assert leaks(reader, wire, pages) != []


def test_forms_that_could_be_submitted_are_refused(visit: Visit, wire: Wire, pages: Any) -> None:
    """Each change by which a form could be submitted is refused as the page loads, and named."""
    made = pages.places("plain.html")["snippet"]
    changes = {
        "method": made.replace('method="dialog"', ""),
        "an action": made.replace('method="dialog"', 'method="dialog" action="/send"'),
        "is not disabled": made.replace("<fieldset disabled>", "<fieldset>"),
        "has a name": made.replace('data-name="pay"', 'data-name="pay" name="pay"'),
        "submits elsewhere": made.replace("<button>", '<button formmethod="post">'),
        "outside the fieldset": made.replace("<output>", '<input data-name="pay"><output>'),
        "not exactly one of its options": made.replace('value="Red"', 'value="Blue"'),
        "no control has this data-name": made.replace('data-name="pay"', 'data-name="salary"'),
        "expected controls": made.replace('type="checkbox"', 'type="radio"'),
    }
    reader = visit()
    for said, page in changes.items():
        assert page != made, said
        pages.extra["form.html"] = f'<script src="listen.js"></script>{page}<p id="heard"></p>'
        reader.read("form", "deniable-error page")
        assert said in (reader.page.locator("output").text_content() or "")
        enabled = reader.page.locator("form > fieldset:enabled").count()
        assert enabled == (said == "is not disabled")
    assert not wire.reports
