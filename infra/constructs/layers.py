"""The Lambda layers, as `make layer` built them."""

from __future__ import annotations

from pathlib import Path

from aws_cdk import RemovalPolicy
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from infra.config import BadOption, Config

ARCHITECTURE = lambda_.Architecture.ARM_64
RUNTIME = lambda_.Runtime.PYTHON_3_13


class Layers(Construct):
    """Dependencies and library; the local embedder, where the settings choose that; and what one function alone has."""

    def __init__(self, scope: Construct, id_: str, config: Config) -> None:
        super().__init__(scope, id_)
        self.all = [self._layer("Memory", config.layer, "make layer", "dependencies and library")]
        if config.needs.local_layer:
            self.all.append(self._layer("Local", config.local_layer, "make layer-local", "the local embedder"))
        self.beside = {"mcp": self._layer("Tools", config.mcp_layer, "make layer-mcp", "the Model Context Protocol")}
        """Layers of single functions, by name."""
        if config.dashboard == "lambda":
            pages = self._layer("Pages", config.dashboard_layer, "make layer-dashboard", "the dashboard's pages")
            self.beside["dashboard"] = pages

    def _layer(self, id_: str, folder: Path, command: str, what: str) -> lambda_.LayerVersion:
        if not (folder / "python").is_dir():
            raise BadOption(f"the layer in {folder} is not there yet: run '{command}' first")
        return lambda_.LayerVersion(
            self,
            id_,
            code=lambda_.Code.from_asset(str(folder)),
            description=f"Tributary: {what}",
            compatible_architectures=[ARCHITECTURE],
            compatible_runtimes=[RUNTIME],
            removal_policy=RemovalPolicy.RETAIN,  # an older version of a function still names it
        )
