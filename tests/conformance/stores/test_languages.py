"""The languages of accounts and of guidelines, in every store."""

import pytest

from eds.errors import InputError
from eds.labels.experts import set_language
from eds.labels.guidelines import guideline_named, save_guideline
from eds.labels.sessions import session_of, sign_in_vouched
from eds.labels.store import Store
from tests.labels.stores import begin


def test_an_accounts_language_counts_from_the_next_request(store: Store) -> None:
    begin(store)
    token = sign_in_vouched(store, "ann", by="test")
    languages = []
    for language in ("de", "pt-BR", ""):
        set_language(store, "ann", language)
        found = session_of(store, token)
        assert found is not None
        languages.append(found.language)
    assert languages == ["de", "pt-BR", ""]
    for wrong in ("../de", "Deutsch", "d"):
        with pytest.raises(InputError, match="is not a language"):
            set_language(store, "ann", wrong)
    with pytest.raises(InputError, match="nobody"):
        set_language(store, "nobody", "de")


def test_a_version_keeps_the_language_it_is_written_in(store: Store) -> None:
    save_guideline(store, "v1", "Gleicher Schnitt.", language="de")
    save_guideline(store, "v2", "Same cut.")
    assert [guideline_named(store, version).language for version in ("v1", "v2")] == ["de", ""]
