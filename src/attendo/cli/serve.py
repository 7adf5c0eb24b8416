"""`attendo serve`: models as a web page and an HTTP API."""

from pathlib import Path
from typing import Annotated

import typer

from attendo.cli.kernel_cache import bound_for_serving
from attendo.cli.progress import note


def serve(
    models: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[MODEL]...",
            help="Model folders, run folders or shipped models; NAME=MODEL gives one a name. Default: all shipped "
            "models.",
        ),
    ] = None,
    host: Annotated[
        str | None, typer.Option("--host", help="Address to listen on; 0.0.0.0 for all interfaces. Default: 127.0.0.1.")
    ] = None,
    port: Annotated[
        int | None,
        typer.Option("--port", min=0, max=65535, help="Port to listen on; 0 chooses a free one. Default: 5000."),
    ] = None,
    config: Annotated[
        Path | None, typer.Option("--config", metavar="FILE", help="Configuration file in TOML (docs/serving.md).")
    ] = None,
    keys: Annotated[
        Path | None,
        typer.Option(
            "--keys",
            metavar="FILE",
            help="File of API keys; requests without one of them are refused (see `attendo keys`).",
        ),
    ] = None,
    threads: Annotated[
        int | None,
        typer.Option("--threads", min=1, help="Number of threads that translate. Default: one per CPU core."),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="SECTION.KEY=VALUE", help="Change another setting of the configuration; may be repeated."
        ),
    ] = None,
) -> None:
    """Serves models as a web page and an HTTP API that clients of LibreTranslate, DeepL and OmegaT can use too."""
    from attendo.workflow.extras import need_packages

    need_packages(["fastapi", "uvicorn", "prometheus_client", "multipart", "py3langid", "threadpoolctl"], "serve")
    bound_for_serving()
    from attendo.serving.config_file import load_config
    from attendo.serving.core.model_names import model_sources
    from attendo.settings.toml import toml_value
    from attendo.workflow.input_files import check_inputs

    options = {"server.host": host, "server.port": port, "keys.file": keys and str(keys), "batching.threads": threads}
    given = [f"{key}={toml_value(value)}" for key, value in options.items() if value is not None]
    found = load_config(config, [*given, *(settings or ())])
    sources = model_sources(models or ())
    check_inputs(models=[source.path for source in sources])
    from attendo.serving.run import serve as run_server

    for warning in found.warnings():
        note(warning)
    note(f"serving {', '.join(source.name for source in sources)}; end with Ctrl-C")
    run_server(found, sources, listening=lambda address: note(f"listening on {address}"))
