"""The pytest fixture `warpgrind`: the module itself, skipped where the library is missing."""
import pytest


@pytest.fixture(scope="session")
def warpgrind():
    import warpgrind as module
    from warpgrind import library
    try:
        library.load()
    except OSError as e:
        pytest.skip(f"libwarpgrind is not installed: {e}")
    return module
