from concurrent.futures import ThreadPoolExecutor

import pytest

from monitor.crypto.development import FILE_NAME, development_keys
from monitor.crypto.pseudonym import Kind
from monitor.errors import ConfigurationError


def test_keys_are_made_once_for_the_owner_alone(tmp_path):
    state = tmp_path / "state"
    first, second = development_keys(state), development_keys(state)
    assert second.keyring.open(first.keyring.seal(b"words", "a"), "a") == b"words"
    assert first.pseudonymiser.pseudonym(Kind.USER, "u") == second.pseudonymiser.pseudonym(Kind.USER, "u")
    assert (state / FILE_NAME).stat().st_mode & 0o777 == 0o600
    assert [path.name for path in state.iterdir()] == [FILE_NAME]


def test_another_directory_gets_other_keys(tmp_path):
    one, other = development_keys(tmp_path / "a"), development_keys(tmp_path / "b")
    assert one.pseudonymiser.pseudonym(Kind.USER, "u") != other.pseudonymiser.pseudonym(Kind.USER, "u")


def test_many_at_once_get_the_same_keys(tmp_path):
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda _: development_keys(tmp_path), range(8)))
    assert len({keys.pseudonymiser.pseudonym(Kind.USER, "u") for keys in made}) == 1


@pytest.mark.parametrize("content", [b"", b"{}", b"[]", b'{"seal":"a:hunter2","pseudonym":"hunter2"}'])
def test_a_damaged_file_is_a_configuration_error(tmp_path, content):
    path = tmp_path / FILE_NAME
    path.touch(0o600)
    path.write_bytes(content)
    with pytest.raises(ConfigurationError) as caught:
        development_keys(tmp_path)
    assert "hunter2" not in str(caught.value)


def test_a_file_that_others_can_read_is_refused(tmp_path):
    development_keys(tmp_path)
    (tmp_path / FILE_NAME).chmod(0o644)
    with pytest.raises(ConfigurationError, match="chmod 600"):
        development_keys(tmp_path)


def test_a_state_directory_that_cannot_be_made_is_a_configuration_error(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(ConfigurationError):
        development_keys(tmp_path / "file" / "state")
