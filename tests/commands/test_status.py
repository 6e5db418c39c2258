from __future__ import annotations

from consumer import NEW, OLD, PINS, Consumer
from integration.indexes import Reply

from commands.releases import FILES, Shop


def rows(consumer: Consumer) -> dict[str, dict[str, object]]:
    run = consumer.run("status", "--offline", "--format", "json")
    assert run.code == 0  # a report, not a gate
    return {row["name"]: row for row in run.document["result"]["pins"]}


def test_a_table_of_all_pins(consumer: Consumer) -> None:
    run = consumer.run("status", "--offline")
    assert (run.code, run.err) == (0, "")
    assert run.out == (
        "pin  at          version  sites  state\n"
        f"dg   {OLD[:10]}  -        3      in sync\n"
        "tl   0.1.11      0.1.11   1      in sync\n"
    )


def test_the_row_of_a_pin_for_scripts(consumer: Consumer) -> None:
    consumer.edit("pins.toml", "submodules =", 'track = "main"\nsubmodules =')
    assert rows(consumer)["dg"] == {
        "name": "dg", "at": OLD[:10], "commit": OLD, "version": None, "track": "main", "newest": None,
        "ahead": None, "behind": None, "fork": {"ahead": None, "behind": None}, "sites": 3, "state": "in sync",
    }  # fmt: skip


def test_drift_counts_what_is_wrong_of_each_pin(consumer: Consumer) -> None:
    consumer.edit("tools/install dg.sh", OLD, NEW)
    (consumer.path / "docker/Dockerfile").unlink()
    assert {name: row["state"] for name, row in rows(consumer).items()} == {"dg": "drift (2)", "tl": "in sync"}


def test_a_warning_is_no_drift(consumer: Consumer) -> None:
    consumer.edit("tools/install dg.sh", OLD, OLD[:8])
    assert rows(consumer)["dg"]["state"] == "in sync"


def test_generated_files_count_as_sites(consumer: Consumer) -> None:
    consumer.put("pins.toml", PINS + 'generate."r.txt" = "./r.j2"\n')
    consumer.put("r.j2", "{{ pin.version }}\n")
    assert (rows(consumer)["tl"]["sites"], rows(consumer)["tl"]["state"]) == (2, "drift (1)")
    consumer.run("sync")
    assert rows(consumer)["tl"]["state"] == "in sync"


def test_a_pin_that_is_not_resolved(consumer: Consumer) -> None:
    consumer.edit("pins.toml", f'commit     = "{OLD}"', f'unresolved = "{OLD[:9]}"')
    row = rows(consumer)["dg"]
    assert (row["commit"], row["at"], row["state"]) == (None, OLD[:9], "unresolved")


def test_a_tag_says_more_than_its_commit(consumer: Consumer) -> None:
    consumer.edit("pins.toml", "submodules =", 'tag = "v2.1"\nsubmodules =')
    assert rows(consumer)["dg"]["at"] == "v2.1"


def test_sites_of_no_single_pin_have_a_row(consumer: Consumer) -> None:
    variant = '[variants.cu13]\ncuda = "13.0.3"\n[[sites]]\nfile = "v.env"\nCUDA = "{variants.cu13.cuda}"\n'
    consumer.put("pins.toml", PINS + variant)
    consumer.put("v.env", "CUDA=13.0.2\n")
    assert consumer.run("status", "--offline").out.splitlines()[-1].split() == [
        "(no",
        "pin)",
        "-",
        "-",
        "1",
        "drift",
        "(1)",
    ]
    assert consumer.run("status", "--offline", "--format", "json").document["result"]["other"] == {
        "sites": 1,
        "state": "drift (1)",
    }


def test_the_newest_of_what_goes_by_versions_and_tags(shop: Shop) -> None:
    shop.project("tilelang", "0.1.5", "0.1.6", "0.1.7rc1", "0.1.8", v0_1_8={"yanked": True})
    shop.project("lost", "1.0")
    digest = shop.image("library/os", "1", "linux/amd64")
    data = shop.file("fmt-1.0.zip", b"fmt")
    shop.consume(
        '[pins.tl]\npackages = ["tilelang"]\nversion = "0.1.5"\nunused = true\n'
        f'[pins.os]\nimage = "os:1"\ndigest = "{digest}"\nunused = true\n'
        f'[pins.fmt]\nurl = "{FILES}fmt-{{version}}.zip"\nversion = "1.0"\nsha256 = "{data}"\nunused = true\n'
        '[pins.lost]\npackages = ["lost"]\nversion = "1.0"\nunused = true\n'
    )
    shop.server.pages["/simple/lost/"] = Reply(status=503)
    shop.server.seen.clear()
    words = ("status", "--policy", str(shop.policy))
    assert shop.run(*words, "--offline").code == 0
    assert shop.server.seen == []
    new = shop.image("library/os", "1", "linux/amd64", note="new")
    run = shop.run(*words, "--format", "json")
    assert (run.code, run.told) == (0, [("PIN320", "warning")])
    told = {row["name"]: (row["newest"], row["ahead"], row["behind"]) for row in run.document["result"]["pins"]}
    assert told == {"tl": ("0.1.6", 0, 1), "os": (new, 0, 1), "fmt": (None, None, None), "lost": (None, None, None)}
    lines = shop.run(*words).out.splitlines()
    assert lines[0].split() == ["pin", "at", "version", "newest", "distance", "sites", "state"]
    assert lines[1].split() == ["tl", "0.1.5", "0.1.5", "0.1.6", "1", "behind", "0", "in", "sync"]
    assert lines[2].split()[:4] == ["os", digest[:17], "-", new[:17]]
