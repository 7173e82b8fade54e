"""The check of the built site finds what is broken."""

import pytest

from docs.tools.check_links import faults


@pytest.fixture
def site(tmp_path):
    """A site of two pages that link to each other."""
    write(tmp_path, "index.html", '<h1 id="top">x</h1><a href="sub/page.html#part">x</a><img src="a.png" alt="x">')
    write(tmp_path, "sub/page.html", '<h2 id="part">x</h2><a href="../index.html">x</a><a href="#part">x</a>')
    write(tmp_path, "a.png", "x")
    return tmp_path


def write(folder, name, text):
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_text(text)


def test_a_site_that_holds_together_has_no_fault(site):
    assert faults(site) == []


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ('<a href="none.html">x</a>', "none.html leads nowhere"),
        ('<a href="sub/page.html#none">x</a>', "sub/page.html#none names an anchor that is not there"),
        ('<a href="#none">x</a>', "#none names an anchor that is not there"),
        ('<a href="/sub/page.html">x</a>', "/sub/page.html holds on one server only"),
        ('<img src="none.png" alt="x">', "none.png leads nowhere"),
        ('<img src="a.png">', "a picture without words: a.png"),
        ('<script src="https://example.org/x.js"></script>', "fetches https://example.org/x.js"),
        ('<link rel="stylesheet" href="//example.org/x.css">', "fetches //example.org/x.css"),
        ("<p>text\n| a | b |</p>", "not rendered: 'text\\n| a | b |'"),
        ("<p>text\n- a\n- b</p>", "not rendered: 'text\\n- a\\n- b'"),
    ],
)
def test_a_fault_is_named_with_its_page(site, text, fault):
    write(site, "index.html", text)
    assert f"index.html: {fault}" in faults(site)


def test_a_link_to_another_place_in_the_web_is_nobodys_fault(site):
    write(site, "index.html", '<a href="https://example.org">x</a>')
    assert faults(site) == []
