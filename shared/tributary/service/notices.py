"""Who is told of pending lessons, as the settings choose."""

from __future__ import annotations

import re

from tributary.core.ports import PendingNotice
from tributary.models.installed import need
from tributary.service.language_models import region
from tributary.service.settings import PREFIX, Settings

_VARIABLE = f"{PREFIX}PENDING_QUEUE_URL"
_HOST = re.compile(r"https://(?:sqs\.([a-z0-9-]+)\.amazonaws|([a-z0-9-]+)\.queue\.amazonaws)\.")


def pending_notice(settings: Settings) -> PendingNotice | None:
    """Returns what tells the queue that is set, None when none is; raises BadSetting."""
    url = settings.pending_queue_url
    if url is None:
        return None
    need("boto3", library="boto3", extra="aws", by=_VARIABLE)
    from tributary.queues.sqs import SqsNotice

    named = _HOST.match(url)
    where = (named[1] or named[2]) if named else region(settings, _VARIABLE)
    notice = SqsNotice(url, region=where, cell=settings.cell)
    notice.prepare()
    return notice
