from datetime import timedelta

import pytest
from pydantic import ValidationError

from alerts.pagers.alertmanager import AlertmanagerSettings
from alerts.pagers.pagerduty import PagerDutySettings
from alerts.pagers.second_channel import SecondChannelSettings
from alerts.pagers.webhook import WebhookSettings

SECRET = "s3cret-value"


@pytest.mark.parametrize(
    "build",
    [
        lambda: PagerDutySettings(routing_key=SECRET, url=f"https://{SECRET}.example"),
        lambda: WebhookSettings(url=f"https://hooks.example/{SECRET}", secret=SECRET),
        lambda: AlertmanagerSettings(url=f"https://user:{SECRET}@am.example", token=SECRET),
        lambda: SecondChannelSettings(urls=(f"json://user:{SECRET}@host",)),
    ],
)
def test_settings_do_not_print_their_secrets(build):
    settings = build()
    assert SECRET not in repr(settings) + str(settings) + settings.model_dump_json()


@pytest.mark.parametrize(
    "url",
    [
        "",
        SECRET,
        f"ftp://{SECRET}",
        f"https:///{SECRET}",
        f"https://[{SECRET}",
        f"http://h:{SECRET}",
        f"http://{SECRET}:99999999",
    ],
)
def test_a_wrong_url_is_refused_without_being_shown(url):
    with pytest.raises(ValidationError, match="no URL that starts with") as caught:
        WebhookSettings(url=url, secret=SECRET)
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize(
    "facts",
    [
        {"time_limit": timedelta(0)},
        {"time_limit": timedelta(seconds=10)},
        {"name": ""},
        {"name": "two words"},
        {"lang": "fr"},
        {"accepted": {302}},
        {"no_such_key": 1},
    ],
)
def test_settings_that_cannot_work_are_refused(facts):
    with pytest.raises(ValidationError):
        WebhookSettings(**{"url": "http://127.0.0.1", "secret": "s", **facts})


def test_a_second_channel_needs_a_url():
    with pytest.raises(ValidationError):
        SecondChannelSettings(urls=())


def test_a_page_may_not_be_held_shorter_than_it_takes_to_resolve():
    with pytest.raises(ValidationError):
        AlertmanagerSettings(url="http://127.0.0.1", hold=timedelta(minutes=4))
