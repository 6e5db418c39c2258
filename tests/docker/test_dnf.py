"""The step that installs packages, run by the real dnf against a repository on this disk."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from pinctl.external import resources

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not all(map(shutil.which, ("dnf", "rpmbuild", "createrepo_c"))),
        reason="dnf, rpmbuild or createrepo_c is missing",
    ),
    pytest.mark.skipif(os.geteuid() != 0, reason="dnf installs for root alone"),
]

SPEC = """\
Name: {name}
Version: 1
Release: 1
Summary: A package of the tests
License: Apache-2.0
BuildArch: noarch
{more}
%description
x
%install
mkdir -p %{{buildroot}}/usr/include/elfutils
echo '// {name}' > %{{buildroot}}/usr/include/elfutils/{name}.h
%files
/usr/include/elfutils/{name}.h
"""


class Machine:
    """A root folder, a repository of two packages, and a `dnf` that works on them alone."""

    def __init__(self, tmp: Path) -> None:
        self.tmp, self.root = tmp, tmp / "root"
        repository = tmp / "repository"
        repository.mkdir()
        for name, more in (("elfutils-devel", "Recommends: extra"), ("extra", "")):
            (tmp / f"{name}.spec").write_text(SPEC.format(name=name, more=more))
            subprocess.run(["rpmbuild", "-bb", "--quiet", "--define", f"_topdir {tmp}/rpm", f"{tmp}/{name}.spec"],
                           check=True, capture_output=True)  # fmt: skip
        for path in (tmp / "rpm/RPMS").rglob("*.rpm"):
            shutil.copy(path, repository)
        subprocess.run(["createrepo_c", "-q", repository], check=True, capture_output=True)
        (tmp / "repos").mkdir()
        (tmp / "repos/local.repo").write_text(f"[local]\nname=local\nbaseurl=file://{repository}\ngpgcheck=0\n")
        (tmp / "bin").mkdir()
        options = [f"--installroot={self.root}", f"--setopt=reposdir={tmp}/repos", "--releasever=1", "--noplugins",
                   f"--setopt=cachedir={tmp}/cache", f"--setopt=logdir={tmp}"]  # fmt: skip
        (tmp / "bin/dnf").write_text(f'#!/bin/sh\nexec {shutil.which("dnf")} {" ".join(options)} "$@"\n')
        (tmp / "bin/dnf").chmod(0o755)
        (tmp / "steps").mkdir()
        for name in ("packages", "access"):
            text = resources.docker(f"steps/{name}").replace("/pinctl/steps", str(tmp / "steps"))
            (tmp / "steps" / name).write_text(text)

    def install(self, *names: str) -> "subprocess.CompletedProcess[str]":
        """Run the step for `names`."""
        (self.tmp / "packages").write_text("".join(f"{name}\n" for name in names))
        env = {"PATH": f"{self.tmp}/bin:{os.environ['PATH']}", "HOME": str(self.tmp), "LC_ALL": "C.UTF-8"}
        argv = ["sh", self.tmp / "steps/packages", "dnf", self.tmp / "packages"]
        return subprocess.run(argv, env=env, capture_output=True, text=True, check=False)


def test_dnf_installs_what_is_named_and_no_more(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    done = machine.install("elfutils-devel")
    assert done.returncode == 0, done.stdout + done.stderr
    headers = sorted(path.name for path in (machine.root / "usr/include/elfutils").iterdir())
    assert headers == ["elfutils-devel.h"], "what a package recommends stays away"
    missing = machine.install("nobody-has-this")
    assert missing.returncode != 0
    assert "nobody-has-this" in missing.stdout + missing.stderr
    assert machine.install().returncode == 0, "nothing to install is no work"
