"""The real server with little patience, so that a test of it is short."""

from __future__ import annotations

import sys
from pathlib import Path

from deniable_protocol import Survey
from deniable_server import create_app
from deniable_server.connections import Patience
from deniable_server.services import services
from deniable_server.wsgi import listen, run

if __name__ == "__main__":
    survey, _, database = sys.argv[1:]
    app = create_app({"DATABASE": database})
    services(app).store.publish(Survey.load(Path(survey)))
    patience = Patience(request=1.0, idle=1.5, answer=1.0, connections=40, waiting=3 << 20)
    server = listen(app, "127.0.0.1", 0, patience=patience)
    print(f"Listening on http://127.0.0.1:{server.effective_port}/", flush=True)
    run(server, app)
