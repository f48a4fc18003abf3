"""The tests. Shared set-ups are modules here; their asserts are to be as telling as those of tests."""

import pytest

pytest.register_assert_rewrite("tests.api_client", "tests.chat_client", "tests.search_library")
