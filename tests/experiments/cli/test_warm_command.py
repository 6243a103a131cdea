"""``biped warm``: what is named is compiled ahead."""

from experiments.cli import main


def test_a_name_of_nothing_is_refused(refusal):
    said = refusal("warm", "whole-bod")
    assert "nothing is called 'whole-bod'; did you mean 'whole-body'?" in said
    assert "rigid" in said


def test_a_controller_and_an_integrator_are_compiled_ahead(capsys):
    assert main(["warm", "joint-pd", "recursive"]) == 0
    assert "joint-pd, recursive" in " ".join(capsys.readouterr().out.split())


def test_what_was_not_compiled_is_said(monkeypatch, capsys):
    def compile_ahead(calls, progress):
        for call in calls:
            progress("" if call.arguments == ("recursive",) else f"{call.arguments} ValueError: no")

    monkeypatch.setattr("kernelcache.compile_ahead", compile_ahead)
    assert main(["warm", "joint-pd", "recursive"]) == 2
    assert "not all was compiled: ('joint-pd',) ValueError: no" in capsys.readouterr().err
