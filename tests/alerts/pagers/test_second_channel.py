import logging
import subprocess
import sys
from datetime import timedelta

import pytest

from alerts.delivery import Answer, Attempt
from alerts.pagers.second_channel import ExtraMissingError, SecondChannel, SecondChannelSettings, load_extra
from tests.support.pages import a_page
from tests.support.scripted_server import Hang, ScriptedServer, Status
from tests.support.until import until

# apprise still looks for a module that Python 3.13 has dropped
pytestmark = pytest.mark.filterwarnings("ignore:'imghdr' is deprecated:DeprecationWarning")


@pytest.fixture
async def server():
    async with ScriptedServer() as server:
        yield server


def channel(*servers, limit=5.0, path="the-secret-path"):
    urls = tuple(f"json://127.0.0.1:{server.port}/{path}" for server in servers)
    return SecondChannel(SecondChannelSettings(urls=urls, time_limit=timedelta(seconds=limit)))


async def test_a_page_goes_out_with_title_and_details(server):
    pager = channel(server)
    assert await pager.send(a_page()) == Attempt(Answer.ACCEPTED, "apprise_sent")
    said = server.requests[0].json()
    assert said["title"].startswith("Crisis not caught")
    assert "First thing to do: " in said["message"]
    assert "Acknowledge: https://jiezhu.example/incidents/i-1/acknowledge" in said["message"]
    await pager.close()


async def test_one_service_that_took_it_is_enough(server):
    async with ScriptedServer() as broken:
        broken.script(then=Status(500))
        pager = channel(broken, server)
        assert await pager.send(a_page()) == Attempt(Answer.ACCEPTED, "apprise_sent_in_part")
        await pager.close()


async def test_none_that_took_it_is_asked_again(server):
    server.script(then=Status(500))
    pager = channel(server)
    assert await pager.send(a_page()) == Attempt(Answer.UNAVAILABLE, "apprise_failed")
    await pager.close()


async def test_a_service_that_hangs_holds_up_neither_the_loop_nor_the_page():
    async with ScriptedServer() as hanging:
        hanging.script(then=Hang())
        pager = channel(hanging, limit=0.3)
        assert await pager.send(a_page()) == Attempt(Answer.LOST, "timeout")
        await until(lambda: len(hanging.requests) == 1)
        await pager.close()
        assert await pager.send(a_page()) == Attempt(Answer.UNAVAILABLE, "closed")


async def test_secrets_show_nowhere(server, caplog):
    server.script(Status(500))
    with caplog.at_level(logging.DEBUG):
        pager = channel(server)
        attempt = await pager.send(a_page())
        await pager.close()
    assert "the-secret-path" not in repr(attempt) + repr(pager) + repr(pager._settings) + caplog.text


def test_a_url_that_apprise_does_not_know_is_refused_by_position():
    settings = SecondChannelSettings(urls=("json://127.0.0.1/ok", "nosuch://the-secret"))
    with pytest.raises(ValueError, match=r"URL no\. 2 of pager second_channel") as caught:
        SecondChannel(settings)
    assert "the-secret" not in str(caught.value)


def test_without_the_extra_the_error_names_it():
    with pytest.raises(ExtraMissingError, match=r"pip install 'jiezhu\[apprise\]'"):
        load_extra("a_package_that_is_not_installed")


def test_the_module_itself_needs_no_extra():
    program = (
        "import sys; sys.modules['apprise'] = None\n"
        "from alerts.pagers.second_channel import *\n"
        "try: SecondChannel(SecondChannelSettings(urls=('json://127.0.0.1',)))\n"
        "except ExtraMissingError as error: print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60
    )
    assert "jiezhu[apprise]" in done.stdout
