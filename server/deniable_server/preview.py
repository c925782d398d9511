"""A survey as respondents will see it, from a file that its author is still writing.

The application has no database and takes nothing: there is no route to which a report could go.
"""

from __future__ import annotations

from pathlib import Path

from flask import Flask, Response, abort, render_template, request

from deniable_protocol import Survey, SurveyError

from .app import HEADERS
from .routes import files


def create_preview(file: Path) -> Flask:
    """Make the application that shows one survey's form. The file is read anew for every page."""
    app = Flask("deniable_server")
    app.register_blueprint(files.blueprint)

    @app.get("/")
    def page() -> tuple[str, int]:
        try:
            survey = Survey.load(file)
        except SurveyError as error:
            return render_template("preview-problems.html", problems=error.problems), 200
        arm = request.args.get("arm") or (survey.arms[0] if survey.arms else None)
        return render_template("preview.html", survey=survey, arm=arm, file=file.name), 200

    @app.get("/survey.json")
    def published() -> Response:
        try:
            return Response(Survey.load(file).to_json(), mimetype="application/json")
        except SurveyError:
            abort(404)

    @app.after_request
    def protect(response: Response) -> Response:
        for name, value in HEADERS.items():
            response.headers.setdefault(name, value)
        return response

    return app
