"""Show every way to embed a survey: a server of surveys, and a site of another origin with pages.

Run it from the repository: ``.venv/bin/python examples/embedding/run.py``.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import threading
import tomllib
from dataclasses import dataclass, field
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from string import Template
from typing import Any, Final

from deniable_protocol import Survey
from deniable_server import create_app
from deniable_server.browser_files import BrowserFiles
from deniable_server.embed_cli import script, snippet
from deniable_server.services import services
from deniable_server.wsgi import listen, run

HERE: Final = Path(__file__).resolve().parent
ROOT: Final = HERE.parents[1]
PACKAGES: Final = {
    "npm/react.js": "react/umd/react.production.min.js",
    "npm/react-dom.js": "react-dom/umd/react-dom.production.min.js",
    "npm/vue.js": "vue/dist/vue.runtime.esm-browser.prod.js",
    "npm/survey-core.js": "survey-core/survey.core.min.js",
    "npm/survey-core.css": "survey-core/survey-core.fontless.min.css",
    "npm/survey-js-ui.js": "survey-js-ui/survey-js-ui.min.js",
}
TYPES: Final = {".html": "text/html", ".js": "text/javascript", ".css": "text/css",
                ".json": "application/json"}  # fmt: skip


def surveys() -> dict[str, Survey]:
    """Give the survey of the pages, and the one that a SurveyJS form becomes."""
    own = Survey.load(HERE / "survey.toml")
    return {own.name: own, "tickets-surveyjs": Survey.load(from_surveyjs("tickets-surveyjs"))}


def from_surveyjs(name: str) -> dict[str, Any]:
    """Turn the JSON of a SurveyJS form into a survey, with the client's own converter."""
    module = ROOT / "client/deniable_client/browser/surveyjs.js"
    program = (
        f"import {{ toSurvey, toToml }} from {json.dumps(str(module))};"
        f"const form = {(HERE / 'surveyjs.json').read_text()};"
        f"const settings = {{ name: {json.dumps(name)}, privacy: {{ epsilon: 4 }} }};"
        "console.log(toToml(toSurvey(form, settings)));"
    )
    node = ROOT / ".venv/bin/node-for-deniable"
    done = subprocess.run(
        [str(node) if node.exists() else "node", "--input-type=module", "-e", program],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return tomllib.loads(done.stdout)


@dataclass
class Pages:
    """A site of another origin. It knows the survey and the server, and pins both.

    Attributes:
        origin: Where the survey's server is.
        requests: Every request to this site: first line, headers and body.
        policy: Whether pages come with a strict Content-Security-Policy.
        extra: More pages, by path.
    """

    origin: str
    requests: list[str] = field(default_factory=list)
    policy: bool = True
    extra: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._surveys, self._files = surveys(), BrowserFiles()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Handler, self))
        self._server.daemon_threads = True
        self.address = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def close(self) -> None:
        """Stop."""
        self._server.shutdown()
        self._server.server_close()

    def headers(self, path: str) -> dict[str, str]:
        """Allow a page its own files, the survey's server, and nothing else.

        SurveyJS writes markup and styles as texts, which a strict policy would refuse.
        """
        loose = path == "surveyjs.html"
        strict = "" if loose else "; require-trusted-types-for 'script'"
        inline = " 'unsafe-inline'; img-src data:" if loose else ""
        return {"Content-Security-Policy": (
            f"default-src 'none'; script-src 'self' {self.origin}; "
            f"style-src 'self' {self.origin}{inline}; connect-src 'self' {self.origin}; "
            f"form-action 'none'; base-uri 'none'{strict}"
        )} if self.policy else {}  # fmt: skip

    def find(self, path: str) -> str | None:
        """Give a file or a page, with the survey in its place."""
        if path in self.extra:
            return self.extra[path]
        if path in PACKAGES:
            return (ROOT / "node_modules" / PACKAGES[path]).read_text(encoding="utf-8")
        folder = HERE if path == "surveyjs.json" else HERE / "pages"
        if Path(path).name != path or not (folder / path).is_file():
            return None
        text = (folder / path).read_text(encoding="utf-8")
        return Template(text).substitute(self.places(path)) if path.endswith(".html") else text

    def places(self, path: str) -> dict[str, str]:
        """Give what a page is made with; its author pastes it from ``deniable embed``."""
        entry = {"plain.html": "plain", "surveyjs.html": "surveyjs"}.get(path, "embed")
        survey = self._surveys["tickets-surveyjs" if entry == "surveyjs" else "tickets"]
        lines = snippet(survey, self._files, self.origin, form=entry == "plain")
        return {
            "snippet": "\n".join(lines),
            "script": script(self._files, self.origin, entry),
            "module": f"{self.origin}/client/{entry}/index.js",
            "src": f"{self.origin}/v1/surveys/{survey.name}",
            "digest": survey.digest,
        }


class _Handler(BaseHTTPRequestHandler):
    def __init__(self, pages: Pages, *args: Any) -> None:
        self.pages = pages
        super().__init__(*args)

    def do_GET(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.pages.requests.append(f"{self.requestline}\n{self.headers}\n{body!r}")
        path = self.path.partition("?")[0].lstrip("/") or "index.html"
        found = self.pages.find(path)
        self.send_response_only(200 if found is not None else 404)
        self.send_header("Content-Type", TYPES.get(Path(path).suffix, "text/plain"))
        for name, value in self.pages.headers(path).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write((found or "").encode())

    do_POST = do_GET  # noqa: N815

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


def main() -> None:
    """Serve until stopped."""
    with tempfile.TemporaryDirectory() as folder:
        app = create_app({"DATABASE": Path(folder) / "tickets.db"})
        for survey in surveys().values():
            services(app).store.publish(survey)
        server = listen(app, "127.0.0.1", 0)
        pages = Pages(f"http://127.0.0.1:{server.effective_port}")
        for name in ("element", "plain", "react", "vue", "surveyjs"):
            print(f"{name:9} {pages.address}/{name}.html")
        print("Stop with Ctrl+C.", flush=True)
        run(server, app)


if __name__ == "__main__":
    sys.exit(main())
