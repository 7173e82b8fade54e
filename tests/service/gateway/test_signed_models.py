"""A gateway with a signing key: whoever fetches a model can tell that it is the curator's."""

import pytest

from privet.errors import SignatureError
from privet.signing import PrivateKey, Roster, verify_model
from privet.signing.model_signature import utc_today

CURATOR = PrivateKey("clinic", bytes(range(32)))
KEYS = Roster([CURATOR.public])


@pytest.fixture
def ana(make_gateway):
    return make_gateway(signer=CURATOR).analyst()


def fetched(ana, folder, fit):
    for name, what in (("model.privet", "model"), ("model.privet.sig", "signature")):
        answer = ana.get(f"/v1/fits/{fit}/{what}")
        assert answer.status_code == 200, answer.text
        (folder / name).write_bytes(answer.content)
    return folder / "model.privet"


def test_a_fetched_model_is_the_curators(ana, tmp_path):
    fit = ana.made()["fit"]
    path = fetched(ana, tmp_path, fit)
    assert verify_model(path, KEYS).signer == "clinic"
    header = ana.get(f"/v1/fits/{fit}/signature").headers["content-disposition"]
    assert header == f'attachment; filename="{fit}.privet.sig"'


def test_another_model_of_the_same_gateway_does_not_pass_with_it(ana, tmp_path):
    first, second = ana.made()["fit"], ana.made()["fit"]
    path = fetched(ana, tmp_path, first)
    path.write_bytes(ana.get(f"/v1/fits/{second}/model").content)
    with pytest.raises(SignatureError, match="is for another model"):
        verify_model(path, KEYS)


def test_a_signature_is_for_whoever_paid_and_once_there_is_a_model(make_gateway):
    gateway = make_gateway(signer=CURATOR)
    ana, eve = gateway.analyst(), gateway.analyst("eve")
    fit = ana.made()["fit"]
    assert eve.get(f"/v1/fits/{fit}/signature").content == eve.get(f"/v1/fits/{'0' * 32}/signature").content
    assert eve.get(f"/v1/fits/{fit}/signature").status_code == 404


def test_a_gateway_without_a_key_says_so(make_gateway):
    ana = make_gateway().analyst()
    answer = ana.get(f"/v1/fits/{ana.made()['fit']}/signature")
    assert (answer.status_code, answer.json()["error"]) == (404, "not_signed")
    assert answer.json()["message"] == "this gateway signs no models; ask its owner for a signature"


def test_the_report_says_whose_model_it_is(ana, make_gateway):
    words = f"<strong><bdi>clinic</bdi></strong> signed it on {utc_today()}"
    assert words in ana.get(f"/v1/fits/{ana.made()['fit']}/report").text
    unsigned = make_gateway("two").analyst()
    assert "not verified: no signature was checked" in unsigned.get(f"/v1/fits/{unsigned.made()['fit']}/report").text
