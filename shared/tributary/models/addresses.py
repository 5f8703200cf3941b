"""Where providers are when no setting says otherwise: apart from their adapters, which load much more."""

from __future__ import annotations

OPENAI_URL = "https://api.openai.com/v1"
