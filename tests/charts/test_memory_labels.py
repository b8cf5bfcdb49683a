"""Labels of marks that stand side by side."""

from workprof.charts.shapes import stacked_labels


def test_marks_apart_keep_their_own_labels():
    assert stacked_labels([0.1, 0.5, 0.1], [2.0, 2.0, 1.5], ["a", "b", "c"]) == ["a", "b", "c"]


def test_marks_close_by_share_a_stack_at_the_middle_one():
    assert stacked_labels([0.50, 0.51, 0.52, 0.9], [2.01, 2.03, 2.0, 2.0], ["a", "b", "c", "d"]) == [
        "b<br>a<br>c",
        "",
        "",
        "d",
    ]


def test_no_name_is_lost_and_none_is_made_up():
    names = [f"p{at}" for at in range(30)] + [""]
    labels = stacked_labels([at * 0.03 for at in range(31)], [2 + at % 3 * 0.04 for at in range(31)], names)
    assert sorted(name for label in labels for name in label.split("<br>") if name) == sorted(names[:-1])
    assert stacked_labels([], [], []) == []
