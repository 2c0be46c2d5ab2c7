"""`simulacrum new` on the command line; what it writes is tested in tests/scaffold."""

from __future__ import annotations


def test_writes_and_says_what_comes_next(cli, own_folders):
    done = cli("new", "two_doors")
    assert done.code == 0
    assert (own_folders / "two_doors" / "spec.md").is_file()
    assert "wrote simulacrum/two_doors-v0 into two_doors" in done.out
    assert "simulacrum validate ./two_doors" in done.out
    assert cli("list", ".").out.count("two_doors") >= 1


def test_own_id_and_folder(cli, own_folders):
    assert cli("new", "two_doors", "--into", "deep/er", "--id", "lab/two_doors-v3").code == 0
    assert '"lab/two_doors-v3"' in (own_folders / "deep" / "er" / "two_doors" / "schema.json").read_text()


def test_wrong_name_gets_a_right_one(cli):
    done = cli("new", "Two-Doors")
    assert done.code == 2
    assert "did you mean 'two_doors'?" in done.err


def test_never_overwrites(cli, own_folders):
    (own_folders / "two_doors").mkdir()
    (own_folders / "two_doors" / "notes").write_text("mine")
    done = cli("new", "two_doors")
    assert done.code == 2
    assert "nothing was touched" in done.err
    assert [path.name for path in (own_folders / "two_doors").iterdir()] == ["notes"]
