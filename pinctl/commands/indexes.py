"""The places that pip would look at for packages, each asked once a run."""

from collections.abc import Sequence
from threading import Lock
from typing import TYPE_CHECKING

from pinctl.commands.evidence import at_once
from pinctl.external.gitcli import Profile
from pinctl.options import Step

if TYPE_CHECKING:
    from pinctl.external.pip_config import Settings
    from pinctl.upstream.availability import Offer


class Indexes:
    """What indexes offer, under a profile."""

    def __init__(self, profile: Profile) -> None:
        self._profile = profile
        self._settings: Settings | None = None
        self._known: dict[str, list[Offer]] = {}
        self._lock = Lock()

    @property
    def places(self) -> int:
        """How many places there are."""
        return len(self._read().places)

    def offers(self, packages: Sequence[str], step: Step = lambda _: None) -> "list[Offer]":
        """What each place has of each package: pip would take the best of them all, wherever that is. What fails is in
        the offer. Raises UsageError: pip's configuration cannot be read."""
        from pinctl.external import packages_index
        from pinctl.external.web import Web

        settings = self._read()
        web = Web(self._profile, settings.access)
        missing = [package for package in dict.fromkeys(packages) if package not in self._known]
        wanted = [(place, package) for package in missing for place in settings.places]
        asked = at_once(wanted, lambda pair: packages_index.ask(*pair, web), step)
        with self._lock:
            for package in missing:
                self._known[package] = [offer for offer in asked if offer.package == package]
            return [offer for package in dict.fromkeys(packages) for offer in self._known[package]]

    def _read(self) -> "Settings":
        from pinctl.external import packages_index

        if self._settings is None:
            self._settings = packages_index.settings(self._profile)
        return self._settings
