"""What the recipes for proxies keep from everyone: the counts, and the operator's page."""

from __future__ import annotations

import re
import shutil

import pytest

from .proxies import DISGUISED, PAGE, PRIVATE, PROXIES, Proxy, statuses
from .running import CLIENT

each_proxy = pytest.mark.parametrize("proxy", PROXIES, ids=lambda proxy: proxy.program)


@each_proxy
def test_the_recipe_says_so(proxy: Proxy) -> None:
    """Also where the program is not installed: the recipe names both paths and who may see them."""
    (text,) = re.findall(rf"```{proxy.fence}\n(.*?)```", PAGE.read_text("utf-8"), re.S)[:1]
    assert re.search(r"metrics\W+operator", text)
    assert re.search(r"(allow|remote_ip|Require ip) 127\.0\.0\.1", text)


@each_proxy
def test_only_this_machine_sees_them(proxy: Proxy) -> None:
    """From 127.0.0.1 they are there; from elsewhere they are not, however they are spelled."""
    if shutil.which(proxy.program) is None:
        pytest.skip(f"{proxy.program} is not installed here")
    assert statuses(proxy, PRIVATE, source="127.0.0.1") == [200, 200]
    assert statuses(proxy, PRIVATE, source=CLIENT) == [403, 403]
    assert 200 not in statuses(proxy, DISGUISED, source=CLIENT)
    assert statuses(proxy, ["/", "/healthz"], source=CLIENT) == [200, 200]
