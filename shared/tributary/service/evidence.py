"""Where evidence files are kept, as the settings choose."""

from __future__ import annotations

from tributary.core.errors import BadSetting
from tributary.core.evidence import EvidenceStore
from tributary.models.installed import need
from tributary.service.language_models import region
from tributary.service.settings import PREFIX, Settings

_VARIABLE = f"{PREFIX}EVIDENCE"


def evidence_store(settings: Settings) -> EvidenceStore | None:
    """Returns what keeps the bytes of evidence files, None when nothing does; raises BadSetting."""
    chosen = settings.evidence
    folder = settings.evidence_folder or (settings.home and settings.home / "evidence")
    if chosen == "off" or (chosen is None and folder is None):
        return None
    if chosen == "s3":
        if settings.evidence_bucket is None:
            raise BadSetting(f"{_VARIABLE}_BUCKET: is needed with {_VARIABLE}=s3; set it to the name of a bucket")
        need("boto3", library="boto3", extra="aws", by=f"{_VARIABLE}=s3")
        from tributary.files.s3 import S3Store

        return S3Store(settings.evidence_bucket, region=region(settings, f"{_VARIABLE}=s3"))
    if folder is None:
        raise BadSetting(f"{_VARIABLE}_FOLDER: is needed with {_VARIABLE}=folder; set it, or TRIBUTARY_HOME")
    from tributary.files.folder import FolderStore

    return FolderStore(folder)
