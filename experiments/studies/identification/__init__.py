"""Identification: frequency responses from trials or records, and models fitted to them."""

from experiments.studies.registry import Kind

KINDS = {
    "identify": Kind(
        study="experiments.studies.identification.identification:Identification",
        findings="experiments.visualization.studies.identification",
        plan="experiments.studies.identification.groups:plan_from",
        title="frequency responses to periodic disturbances, and models fitted to them",
        description="""\
Find the frequency response of balance to a periodic motion of the floor or a periodic force, simulated or measured:
gain, phase and coherence with bootstrap intervals, the remnant, and a model fitted to it.""",
        examples="""\
  biped example identify-tilt.toml > identify-tilt.toml
  biped identify identify-tilt.toml          into results/identify/identify-tilt
  biped identify identify-groups.toml        groups of subjects, compared
""",
        page="identify",
        table="identify",
        heading="Identification",
    ),
    "identify-groups": Kind(
        study="experiments.studies.identification.groups:GroupIdentification",
        findings="experiments.visualization.studies.groups",
        heading="Group identification",
        command="identify",
    ),
}
