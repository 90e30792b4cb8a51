"""Old addresses: what stands there, and on the built site that each leads to a page that is there."""

import re

import pytest
from redirects import MOVED, redirects


def test_a_page_that_moved_leads_on_with_its_anchor():
    found = redirects({"a/new", "other"}, {"a/old": "a/new", "b/c/old": "other"})
    assert 'url=../a/new.html"' in found["a/old"] and "location.hash" in found["a/old"]
    assert 'href="../../other.html"' in found["b/c/old"]


def test_nothing_is_written_over_and_nothing_leads_nowhere():
    assert redirects({"old", "new"}, {"old": "new"}) == {}
    assert redirects({"other"}, {"old": "new"}) == {}


def test_no_address_is_both_old_and_new():
    assert not set(MOVED) & set(MOVED.values())


@pytest.mark.parametrize("old", MOVED)
def test_old_addresses_of_the_site(site, old):
    page = site / f"{old}.html"
    if not page.exists():
        assert not (site / f"{MOVED[old]}.html").exists()  # it has not moved yet
        return
    text = page.read_text(encoding="utf-8")
    if "This page has moved" in text:
        target = re.search(r'http-equiv="refresh" content="0; url=([^"]+)"', text)[1]
        assert (page.parent / target).resolve().is_file()
    else:
        assert not (site / f"{MOVED[old]}.html").exists()
