"""Pages read back, for the tests of this folder."""

import json
import re
from html.parser import HTMLParser

from privet.report.page.facts import facts
from privet.report.page.page import page


def page_of(model, name="people.privet"):
    return page(model, facts(model, model_checksum="0" * 64, name=name))


class Elements(HTMLParser):
    """Every start tag with its attributes, and the text outside of scripts and styles."""

    def __init__(self, source):
        super().__init__()
        self.tags, self.words, self._inside = [], [], []
        self.feed(source)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self._inside.append(tag)

    def handle_endtag(self, tag):
        while self._inside and self._inside.pop() != tag:
            pass

    def handle_data(self, data):
        if not {"script", "style"} & set(self._inside):
            self.words.append(data)

    @property
    def text(self):
        return " ".join("".join(self.words).split())


def embedded(source):
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', source)[1])
