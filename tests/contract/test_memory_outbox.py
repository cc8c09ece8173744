import pytest

from alerts.memory_outbox import MemoryOutbox
from tests.contract.outbox_contract import OutboxContract
from tests.support.pages import a_notification


class TestMemoryOutbox(OutboxContract):
    @pytest.fixture
    async def outbox(self):
        return MemoryOutbox()

    async def add(self, outbox, *notifications):
        outbox.add(notifications)

    async def test_what_is_written_elsewhere_can_be_forgotten(self, outbox):
        outbox.add([a_notification("n-1"), a_notification("n-2")])
        await self.ids(outbox)
        outbox.forget("n-1")
        assert [row.id for row in outbox.rows()] == ["n-2"]
