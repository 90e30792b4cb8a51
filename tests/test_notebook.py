"""What the chapters share: parameters that are checked, however often their cells are run."""

import pytest

from romae_lite.page.notebook import Parameters
from romae_lite.spirals.experiment import Spirals


class Chapter:
    """A notebook's first three cells and its names."""

    def __init__(self):
        self.names = {"__name__": "__main__", "seeded": print}  # what imports leave there

    def set_up(self):
        self.names["parameters"] = Parameters(self.names)

    def choose(self, **given):
        self.names |= given

    def apply(self) -> Spirals:
        self.names["exp"] = self.names["parameters"].apply(Spirals.quick(), self.names, seed=(int, 0))
        return self.names["exp"]

    def run(self, **given) -> Spirals:
        self.set_up()
        self.choose(**given)
        return self.apply()


def test_parameters_are_put_in():
    assert Chapter().run(seed=0, epochs=7).config() == Spirals.quick().replace(epochs=7).config()


def test_all_cells_run_again_with_another_value():
    chapter = Chapter()
    assert chapter.run(seed=0, epochs=7).epochs == 7
    assert chapter.run(seed=0, epochs=9).epochs == 9
    assert chapter.run(seed=0, lr=0.5).epochs == Spirals.quick().epochs  # a parameter that was taken out is gone


def test_cells_run_again_from_the_parameters_on():
    """The chapter's own names, `exp` among them, are no parameters."""
    chapter = Chapter()
    chapter.run(seed=0, epochs=7)
    chapter.choose(epochs=9)
    assert chapter.apply().epochs == 9


def test_a_misspelt_parameter_is_named_and_can_be_mended():
    chapter = Chapter()
    with pytest.raises(TypeError, match="'epoch' is no parameter of this chapter. Did you mean 'epochs'"):
        chapter.run(seed=0, epoch=7)
    assert chapter.run(seed=0, epochs=7).epochs == 7


@pytest.mark.parametrize("epochs", ["many", 2.5, -3])
def test_a_wrong_value_is_named(epochs):
    with pytest.raises((TypeError, ValueError), match=f"epochs is {epochs!r}; it must be"):
        Chapter().run(seed=0, epochs=epochs)


@pytest.mark.parametrize("seed", [-1, 0.5, "0", True])
def test_a_seed_is_a_whole_number(seed):
    with pytest.raises(TypeError, match=f"seed is {seed!r}; it must be int, at least 0"):
        Chapter().run(seed=seed)
