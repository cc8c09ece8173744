"""The AsyncAPI document: which topic is read, and what an event must look like."""

from __future__ import annotations

from importlib.metadata import version

from faststream.specification import AsyncAPI
from faststream.specification.asyncapi import get_asyncapi_html

from monitor.sources.client import Client


def _specify(client: Client) -> AsyncAPI:
    return AsyncAPI(
        client.broker,
        title="jiezhu",
        version=version("jiezhu"),
        description="Turns of conversations, as jiezhu reads them.",
        license={"name": "Apache-2.0"},
    )


def describe_json(client: Client) -> str:
    """AsyncAPI 3.0 as JSON."""
    return _specify(client).to_specification().to_json()


def describe_html(client: Client) -> str:
    """The same for people. The page takes its script and style from a public CDN."""
    return get_asyncapi_html(_specify(client).to_specification())
