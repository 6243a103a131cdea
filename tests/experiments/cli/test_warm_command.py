"""``biped warm``: what is named is compiled ahead."""

from experiments.cli import main


def test_a_name_of_nothing_is_refused(capsys):
    assert main(["warm", "whole-bod"]) == 2
    said = capsys.readouterr().err
    assert "nothing is called 'whole-bod'; did you mean 'whole-body'?" in said
    assert "rigid" in said


def test_a_controller_and_an_integrator_are_compiled_ahead(capsys):
    assert main(["warm", "joint-pd", "recursive"]) == 0
    assert "joint-pd, recursive" in " ".join(capsys.readouterr().out.split())
