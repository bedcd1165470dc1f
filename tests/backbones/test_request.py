"""Texts of backbones: taken apart, made canonical, refused with what to write instead."""

import pytest

from eds.backbones import Request
from eds.backbones.presets import IMAGENET
from eds.errors import InputError


def test_parts_of_a_text() -> None:
    request = Request.parse("timm:resnet50.tv2_in1k@/data/a.pth?size=224&prefix=b.&prefix=a.&crop=0")
    assert (request.loader, request.name, request.weights) == ("timm", "resnet50.tv2_in1k", "/data/a.pth")
    assert request.options_named("prefix") == ["b.", "a."]
    assert request.key_map == (("b.", ""), ("a.", ""))
    assert Request.parse("checkpoint:/my@home/a.pth?arch=timm:x").name == "/my@home/a.pth"


@pytest.mark.parametrize("text", ["resnet50", ":resnet50", "timm:", "", "timm:a?size", "timm:a?=3"])
def test_no_backbone(text: str) -> None:
    with pytest.raises(InputError, match=r"does not name a backbone|invalid option"):
        Request.parse(text)


def test_what_says_nothing_is_left_out_of_the_text() -> None:
    request = Request.parse("timm:a?size=9&precision=float32&random_init=false&channels=BGR")
    assert request.text == "timm:a?channels=BGR&size=9"
    assert request.with_options(size=7, mean=(0.5, 0.25, 1.0)).text == "timm:a?channels=BGR&mean=0.5,0.25,1.0&size=7"


def test_options_change_the_preprocessing() -> None:
    steps = Request.parse("a:b?resize=shortest&size=256&crop=224&std=1,1,1&draft=true").preprocessing(IMAGENET)
    assert (steps.resize, steps.size, steps.crop, steps.std, steps.draft) == ("shortest", 256, 224, (1.0,) * 3, True)
    assert Request.parse("a:b?crop=0").preprocessing(steps).side == 256


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a:b?size=big", "option size is 'big'"),
        ("a:b?draft=1", "draft is '1'"),
        ("a:b?mean=x,y,z", "mean is 'x,y,z'"),
        ("a:b?size=1&size=2", "size is repeated 2 times"),
    ],
)
def test_values_that_cannot_be_read(text: str, told: str) -> None:
    with pytest.raises(InputError, match=told):
        Request.parse(text).preprocessing(IMAGENET)


def test_unknown_options_are_told_together() -> None:
    with pytest.raises(InputError) as caught:
        Request.parse("a:b?siz=3&normalize=true").allow_only("output")
    assert caught.value.faults[:2] == (
        "unknown option normalize; did you mean normalise?",
        "unknown option siz; did you mean size?",
    )
