"""The recipe for an onion service, run as it stands in docs/proxies.md in a tor network of our own.

``python -m tests.server.onion`` starts three directory authorities, five relays and a client on
this machine alone, and a service with the recipe. It sends marked requests, garbage and reports
through the onion address, also while the intake is down, and reads what the service wrote. Then it
does so with the log at the level that tor suggests, to see that reading finds something.
"""

from __future__ import annotations

import http.client
import re
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from itertools import chain
from pathlib import Path

from .postgres import user
from .proxies import MARK, PAGE
from .running import REPORTS, Server
from .samples import body, dump

SOCKS_FAILED = "the address did not answer"
TELLING = (MARK, ".onion", "127.0.0.1", "INTRODUCE2")
"""What the log may not hold: requests, addresses, and how many came since it last said so."""

EVERYONE = """
TestingTorNetwork 1
DataDirectory FOLDER/NAME
Log notice file FOLDER/NAME/log
ShutdownWaitLength 0
"""
RELAY = """
Nickname NAME
Address 127.0.0.1
ORPort 127.0.0.1:PORT
AssumeReachable 1
SocksPort 0
ExitRelay 0
"""
AUTHORITY = """
DirPort 127.0.0.1:DIRECTORY
AuthoritativeDirectory 1
V3AuthoritativeDirectory 1
ContactInfo nobody@example.org
TestingV3AuthInitialVotingInterval 20
TestingV3AuthInitialVoteDelay 4
TestingV3AuthInitialDistDelay 4
V3AuthVotingInterval 20
V3AuthVoteDelay 4
V3AuthDistDelay 4
V3AuthNIntervalsValid 2
TestingDirAuthVoteExit *
TestingDirAuthVoteHSDir *
TestingDirAuthVoteGuard *
MinUptimeHidServDirectoryV2 0 minutes
"""
AUTHORITIES, RELAYS = ("a0", "a1", "a2"), ("r0", "r1", "r2", "r3", "r4")


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])


class Network:
    """A tor network in a folder; ``socks`` is the port of its client."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self.folder, self._stack, self.socks = folder, stack, free_port()
        parts = {name: EVERYONE + RELAY.replace("PORT", str(free_port())) for name in RELAYS}
        authorities = []
        for name in AUTHORITIES:
            parts[name], line = self._authority(name)
            authorities.append(line)
        self.authorities = "".join(authorities)
        parts["client"] = EVERYONE + f"SocksPort 127.0.0.1:{self.socks}\n"
        for name, part in parts.items():
            self._write(name, part + self.authorities)
        for name in (*AUTHORITIES, *RELAYS):
            self.start(name)
        for name in RELAYS:  # until all are agreed upon: a client that asks too early waits long
            self._wait(self.folder / "a0/cached-microdesc-consensus", f"\nr {name} ")
        self.start("client")
        self._wait(self.folder / "client/log", "Bootstrapped 100%")

    def _authority(self, name: str) -> tuple[str, str]:
        keys = self.folder / name / "keys"
        keys.mkdir(parents=True)
        port, directory = free_port(), free_port()
        flags = {"-i": "identity_key", "-s": "signing_key", "-c": "certificate"}
        files = [(flag, keys / f"authority_{each}") for flag, each in flags.items()]
        subprocess.run(
            ["tor-gencert", "--create-identity-key", "--passphrase-fd", "0", *chain(*files)],
            input=b"test\n", check=True, capture_output=True,
        )  # fmt: skip
        (voter,) = re.findall(r"fingerprint (\w+)", (keys / "authority_certificate").read_text())
        part = (EVERYONE + RELAY + AUTHORITY).replace("DIRECTORY", str(directory))
        part = part.replace(":PORT", f":{port}")
        nobody = f"DirAuthority x 127.0.0.1:1 {'A' * 40}\n"  # it wants one, and has no other yet
        said = subprocess.run(
            ["tor", "-f", self._write(name, part + nobody), "--list-fingerprint"],
            check=True, capture_output=True, text=True,
        ).stdout  # fmt: skip
        fingerprint = said.strip().splitlines()[-1].removeprefix(name).replace(" ", "")
        where = f"127.0.0.1:{directory} {fingerprint}"
        return part, f"DirAuthority {name} orport={port} v3ident={voter} {where}\n"

    def _write(self, name: str, text: str) -> Path:
        folder = self.folder / name
        folder.mkdir(exist_ok=True)
        file = folder / "torrc"
        file.write_text(text.replace("NAME", name).replace("FOLDER", str(self.folder)))
        return file

    def start(self, name: str, *words: object) -> subprocess.Popen[bytes]:
        """Start one tor, as a user that may do nothing else where this one may do all."""
        if (account := user()) is not None:
            for path in (self.folder, *(self.folder / name).rglob("*"), self.folder / name):
                shutil.chown(path, account)
        (self.folder / name).chmod(0o700)
        with (self.folder / f"{name}.output").open("wb") as output:
            process = self._stack.enter_context(subprocess.Popen(
                ["tor", "-f", self.folder / name / "torrc", *words],
                stdout=output, stderr=output, user=account, cwd="/", env={"HOME": "/nowhere"},
            ))  # fmt: skip
        self._stack.callback(process.terminate)
        return process

    def _wait(self, log: Path, text: str) -> None:
        for _ in range(2400):
            if log.exists() and text in log.read_text():
                return
            time.sleep(0.1)
        raise AssertionError(f"{log.parent.name} never had {text!r}")

    @contextmanager
    def service(self, name: str, recipe: str, intake: int) -> Iterator[tuple[str, Path]]:
        """Run a recipe in this network; gives its address and its log."""
        folder = self.folder / name
        changes = {
            "/var/lib/tor/survey/": f"{folder}/survey/",
            "127.0.0.1:8000": f"127.0.0.1:{intake}",
            "syslog": f"file {folder}/log",
        }
        for old, new in changes.items():
            assert old in recipe, old
            recipe = recipe.replace(old, new)
        self._write(name, recipe)
        around = folder / "around"
        around.write_text(
            f"TestingTorNetwork 1\nDataDirectory {folder}\n{self.authorities}"
            f"ControlPort unix:{folder}/control\n"
        )
        process = self.start(name, "--defaults-torrc", around)
        hostname = folder / "survey/hostname"
        for _ in range(200):
            if hostname.exists() and (folder / "control").exists():
                break
            assert process.poll() is None, (self.folder / f"{name}.output").read_text()
            time.sleep(0.1)
        assert (hostname.parent.stat().st_mode & 0o777) == 0o700
        yield hostname.read_text().strip(), folder / "log"
        process.terminate()
        process.wait(20)

    def summary(self, name: str) -> None:
        """Let a tor write what it writes by itself every six hours."""
        with socket.socket(socket.AF_UNIX) as control:
            control.connect(str(self.folder / name / "control"))
            control.sendall(b"AUTHENTICATE\r\nSIGNAL HEARTBEAT\r\nQUIT\r\n")
            while control.recv(1024):
                pass

    def connect(self, address: str) -> socket.socket:
        """Connect to an onion address through the client (RFC 1928)."""
        connection = socket.create_connection(("127.0.0.1", self.socks), 60)
        connection.sendall(b"\x05\x01\x00")
        assert connection.recv(2) == b"\x05\x00"
        name = address.encode()
        connection.sendall(b"\x05\x01\x00\x03" + bytes([len(name)]) + name + (80).to_bytes(2))
        if connection.recv(10)[1:2] != b"\x00":
            connection.close()
            raise ConnectionRefusedError(SOCKS_FAILED)
        return connection

    def ask(self, address: str, method: str, path: str, content: bytes = b"") -> int:
        connection = http.client.HTTPConnection(address)
        with closing(connection):
            connection.sock = self.connect(address)
            connection.request(method, f"{path}?{MARK}", content, {"User-Agent": MARK})
            return connection.getresponse().status


def check(network: Network, name: str, recipe: str) -> list[str]:
    """Send everything through a service, and give what its log holds that it may not."""
    with (
        tempfile.TemporaryDirectory() as own,
        Server(Path(own)) as server,
        network.service(name, recipe, server.port) as (address, log),
    ):
        for _ in range(60):  # until its address is known
            with suppress(ConnectionRefusedError):
                network.connect(address).close()
                break
            time.sleep(1)
        for _ in range(20):
            assert network.ask(address, "POST", REPORTS, dump(body())) == 201
        assert network.ask(address, "GET", f"/{MARK}") == 404
        with network.connect(address) as connection:
            connection.sendall(f"\x16\x03\x01{MARK}\r\n\r\n".encode())
            connection.recv(4096)
        assert server.stop() == 0
        assert len(server.rows()) == 20
        with suppress(ConnectionError):
            network.ask(address, "GET", "/")
            raise AssertionError("an intake that is down answered")
        network.summary(name)
        time.sleep(1)
        found = log.read_text() if log.exists() else ""
    return [mark for mark in TELLING if mark in found]


def main() -> None:
    """Run the recipe, whole and with tor's usual log, and print what was seen."""
    for program in ("tor", "tor-gencert"):
        if shutil.which(program) is None:
            print(f"{program}: not installed here")
            return
    (recipe,) = re.findall(r"```\n(# /etc/tor/torrc\n.*?)```", PAGE.read_text("utf-8"), re.S)
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        Path(name).chmod(0o755)
        network = Network(Path(name), stack)
        whole = check(network, "service", recipe)
        broken = check(network, "talkative", recipe.replace("Log warn", "Log notice"))
    print(f"tor: 20 reports through the onion address; its log holds {whole or 'nothing'}; "
          f"at its usual level {broken or 'nothing'}")  # fmt: skip
    assert not whole
    assert broken


if __name__ == "__main__":
    main()
