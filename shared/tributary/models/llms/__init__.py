"""Language models over a wire, each an adapter of the port `LanguageModel`.

    BedrockModel   Amazon Bedrock's Converse: models, inference profiles, ARNs
    OpenAiModel    chat completions at OpenAI, OpenRouter, DeepSeek, Ollama, vLLM or any other base URL
    ClaudeModel    the Claude Code executable, `claude -p`
    ScriptedModel  a file, in the place of a model

They differ in what they send and in what they read; how a question is bounded, metered and tried again is one (`asking.py`).
"""

from __future__ import annotations

from tributary.models.llms.bedrock import BedrockModel
from tributary.models.llms.claude import ClaudeModel
from tributary.models.llms.openai import OpenAiModel
from tributary.models.llms.scripted import ScriptedModel

__all__ = ["BedrockModel", "ClaudeModel", "OpenAiModel", "ScriptedModel"]
