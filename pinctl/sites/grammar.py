"""tree-sitter's grammars, loaded without the packages around them.

A grammar package's `__init__` imports importlib.resources to offer queries that nothing here uses: 11 ms of a check
that takes 100.
"""

import importlib.machinery
import importlib.util
from functools import cache

from tree_sitter import Language


@cache
def grammar(name: str) -> Language:
    """The grammar of the package `tree_sitter_NAME`. Raises ImportError where it is not installed."""
    package = importlib.util.find_spec(f"tree_sitter_{name}")
    if package is None:
        raise ImportError(f"tree_sitter_{name} is not installed")
    binding = f"{package.name}._binding"
    spec = importlib.machinery.PathFinder.find_spec(binding, package.submodule_search_locations)
    if spec is None or spec.loader is None:
        raise ImportError(f"{binding} is not installed")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return Language(module.language())
