"""Texts of the offline page come back to the collector."""

import json

import pytest

from privet.errors import DataError
from privet.service.collect.reports import add_report
from tests.service.collect.conftest import BATCH


def written(tmp_path, answers, **more):
    (tmp_path / "text.json").write_text(json.dumps({"report_id": "0" * 32, "answers": answers, **more}))
    return tmp_path / "text.json"


def test_a_text_counts_once_under_its_own_link_or_the_one_it_is_added_with(collection, tmp_path):
    store, (first, second) = collection.store, (collection.token(), collection.token())
    inside = written(tmp_path, collection.reports[0], token=first)
    assert [add_report(collection.folder, store, inside) for _ in range(2)] == [True, False]
    outside = written(tmp_path, collection.reports[1])
    assert [add_report(collection.folder, store, outside, second) for _ in range(2)] == [True, False]


def test_added_texts_are_released_by_the_batch_with_those_that_came_by_the_network(collection, tmp_path):
    collection.send_many(2 * BATCH - 1)
    add_report(collection.folder, collection.store, written(tmp_path, collection.reports[9]), collection.token())
    assert collection.store.n_released() == BATCH


def test_a_link_is_for_one_report_however_it_comes(collection, tmp_path):
    token = collection.token()
    assert collection.send(token, collection.reports[0], report_id="1" * 32).status_code == 201
    with pytest.raises(DataError, match="its link was used for another report"):
        add_report(collection.folder, collection.store, written(tmp_path, collection.reports[1]), token)


def test_what_no_page_made_is_refused(collection, tmp_path):
    def refused(path, told, token=None):
        with pytest.raises(DataError, match=told):
            add_report(collection.folder, collection.store, path, token)

    good = collection.reports[0]
    refused(tmp_path / "missing.json", "is no text of the offline page")
    refused(written(tmp_path, good, more=5), "is no text of the offline page")
    refused(written(tmp_path, good, report_id=5), "is no text of the offline page")
    refused(written(tmp_path, good), "names no link, and each report needs one; pass --token")
    refused(written(tmp_path, good), "its link was not given out", token="A" * 22)
    refused(written(tmp_path, {**good, "sex": "other"}), "did not come through this channel", collection.token())
    assert collection.store.n_released() == 0


def test_a_closed_collection_takes_no_text(collection, tmp_path):
    collection.folder.change(open=False)
    with pytest.raises(DataError, match="the collection is closed; open it again"):
        add_report(collection.folder, collection.store, written(tmp_path, collection.reports[0]), collection.token())
