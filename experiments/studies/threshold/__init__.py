"""Thresholds of recovery: the largest parameter value that is recovered, over ensembles of replicas."""

from experiments.studies.registry import Kind

_THRESHOLD = Kind(
    study="experiments.studies.threshold.threshold:Threshold",
    findings="experiments.visualization.studies.threshold",
    plan="experiments.studies.threshold.threshold:threshold_from",
    title="threshold of any parameter for recovery, from a file",
    description="""\
Find how large a parameter may be for the human to recover: the largest value below the first at which it does not, by
a grid and a bisection for each replica, and the median over replicas with its interval.""",
    examples="""\
  biped example robustness-floor.toml > floor.toml
  biped threshold floor.toml                 into results/threshold/floor
""",
    page="push-map",
    table="swept",
    command="threshold",
    key="plan",
    caption="plan.toml",
)
_PRESET = _THRESHOLD._replace(
    table="",
    plan="experiments.studies.threshold.command:plan_of",
    options="experiments.studies.threshold.command:add_options",
    beside="experiments.studies.threshold.command:others_of",
)

KINDS = {
    "threshold": _THRESHOLD,
    "push-map": _PRESET._replace(
        title="push threshold over the direction of the push",
        description="""\
Find how hard the human can be pushed before it falls, for each direction of the push: the median over replicas with
scattered joint angles, floors and times of the push, with its interval.""",
        examples="""\
  biped push-map --quick                     fewer directions and replicas
  biped push-map --gains tuned.toml --compare results/push-map/published
  biped push-map --engines recursive,pybullet,mujoco
  biped push-map --controller stepping --steps 0,1,any
  biped push-map --heights 0.95 1.1 1.25     a map for each height [m]
  biped push-map --set push.duration=0.02 --set floor.mu_s=0.3 --set floor.mu_d=0.25
""",
    ),
    "block-speed": _PRESET._replace(
        title="greatest speed of a thrown block for recovery",
        description="""\
Find how fast a block may be thrown at the human's back: the experiment of the thesis (Wendlandt 1997, 4.3) with many
replicas, whose joint angles, floors and times of the hit are scattered.""",
        examples="""\
  biped block-speed --quick                  in seconds
  biped block-speed --gains my-gains.toml --set block.mass=2.5
  biped block-speed --by 0.02 --replicas 80  a finer search
""",
    ),
}
