"""Detection off the event loop: one thread, one call a batch."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from detectors.finding import ReplySignal, UserSignal
from detectors.fold import Unscored
from detectors.ports import ReplyScorer, UserScorer
from detectors.turn import Role

Signal = UserSignal | ReplySignal


class Scoring:
    """Inline model work stalls the loop for tens of seconds and costs the group membership (DESIGN §7)."""

    def __init__(self, users: UserScorer, replies: ReplyScorer) -> None:
        self.users = users
        self.replies = replies
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="scoring")

    async def score(self, unscored: Sequence[Unscored]) -> list[Signal]:
        """Return a signal for each text, in order."""
        if not unscored:
            return []
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, self.score_now, unscored)

    def score_now(self, unscored: Sequence[Unscored]) -> list[Signal]:
        """Do it here and now (replay, command line)."""
        users = [item for item in unscored if item.role is Role.USER]
        replies = [item for item in unscored if item.role is Role.ASSISTANT]
        judged = iter(self.users.score([u.text for u in users], [u.lang for u in users]) if users else [])
        said = iter(
            self.replies.score(
                [r.text for r in replies], [r.lang for r in replies], [r.region for r in replies]
            )
            if replies
            else []
        )
        return [next(judged) if item.role is Role.USER else next(said) for item in unscored]

    def close(self) -> None:
        self._thread.shutdown(wait=False, cancel_futures=True)
