"""Links between files become links between pages."""

import pytest

from docs.tools.links import BrokenLink, Links


@pytest.fixture
def links(tmp_path):
    for path in (
        "docs/guide.md",
        "docs/images/a.svg",
        "src/privet/tree.md",
        "src/privet/vote.md",
        "papers/x/README.md",
    ):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("x")
    (tmp_path / "papers/x/results").mkdir()
    for name in ("figure.png", "all.csv"):
        (tmp_path / "papers/x/results" / name).write_text("x")
    pages = {
        "docs/guide.md": "guide.md",
        "src/privet/tree.md": "arguments/tree.md",
        "src/privet/vote.md": "arguments/vote.md",
        "papers/x/README.md": "papers/x/index.md",
        "papers": "papers/index.md",
    }
    return Links(tmp_path, pages)


@pytest.mark.parametrize(
    ("source", "text", "expected"),
    [
        ("docs/guide.md", "[t](../src/privet/tree.md#why)", "[t](arguments/tree.md#why)"),
        ("docs/guide.md", "[`t`](../src/privet/tree.md)", "[`t`](arguments/tree.md)"),
        ("docs/guide.md", "[p](../papers/)", "[p](papers/index.md)"),
        ("docs/guide.md", "[x](../papers/x)", "[x](papers/x/index.md)"),
        ("docs/guide.md", "![a](images/a.svg)", "![a](images/a.svg)"),
        ("docs/guide.md", "[here](#part), [there](https://example.org/a)", "[here](#part), [there](https://example.org/a)"),
        ("papers/x/README.md", "![f](results/figure.png)", "![f](../../pictures/papers/x/results/figure.png)"),
        ("papers/x/README.md", '<img src="results/figure.png" width="9">',
         '<img src="../../pictures/papers/x/results/figure.png" width="9">'),
        ("papers/x/README.md", "[![f](results/figure.png)](../../docs/guide.md)",
         "[![f](../../pictures/papers/x/results/figure.png)](../../guide.md)"),
        ("src/privet/tree.md", "as vote.md says", "as [vote.md](vote.md) says"),
        ("src/privet/tree.md", "as `vote.md` says", "as [`vote.md`](vote.md) says"),
        ("src/privet/tree.md", "tree.md and none.md", "tree.md and none.md"),
    ],
)  # fmt: skip
def test_a_link_to_a_page_leads_to_it(links, source, text, expected):
    assert links.rewritten(text, source) == expected


def test_what_is_smaller_than_a_letter_is_no_tag(links):
    text = 'loss plus <b, theta> and x <y, <img src="https://example.org/a.png">, `<b>`\n\n    a <b, c>\n'
    expected = text.replace("plus <b", "plus &lt;b").replace("x <y", "x &lt;y")
    assert links.rewritten(text, "docs/guide.md") == expected


def test_what_is_no_page_stands_as_code(links):
    text = "[all.csv](results/all.csv) and [`all`](results/all.csv)"
    assert links.rewritten(text, "papers/x/README.md") == "`all.csv` and `all`"


def test_code_stays_as_it_is(links):
    text = "```python\nf = a[b](results/none.md)\n```\n`[a](b)`"
    assert links.rewritten(text, "papers/x/README.md") == text


def test_a_link_to_nothing_is_refused_by_name(links):
    with pytest.raises(BrokenLink, match=r"docs/guide\.md links to 'none\.md', which is not there; mend the link"):
        links.rewritten("[n](none.md)", "docs/guide.md")


def test_a_link_out_of_the_repository_is_refused(links):
    with pytest.raises(BrokenLink, match="which is not there"):
        links.rewritten("[n](../../etc/hosts)", "docs/guide.md")


def test_lists_and_tables_get_the_blank_line_that_other_readers_do_without(links):
    text = "Two:\n- one\n  goes on\n- two\n\n1. first\n   more\n2. second\n\nSo:\n| a |\n|---|\n| b |"
    expected = "Two:\n\n- one\n  goes on\n- two\n\n1. first\n   more\n2. second\n\nSo:\n\n| a |\n|---|\n| b |"
    assert links.rewritten(text, "docs/guide.md") == expected


def test_pictures_are_found_where_they_are_shown(links):
    text = '![f](results/figure.png) <img alt="g" src="results/figure.png"> ![w](https://example.org/x.png)'
    text += " [![f](results/figure.png)](results/all.csv)"
    assert list(links.pictures(text, "papers/x/README.md")) == ["papers/x/results/figure.png"] * 3
