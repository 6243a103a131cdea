"""Thresholds of recovery: the largest parameter value that is recovered, over ensembles of replicas."""

from experiments.studies.registry import Kind

_THRESHOLD = Kind(
    study="experiments.studies.threshold.threshold:Threshold",
    findings="experiments.visualization.studies.threshold",
    plan="experiments.studies.threshold.threshold:threshold_from",
    title="threshold of any parameter for recovery, from a file",
    description="""\
Find the largest value of a parameter up to which the human recovers: by a grid and bisection for each replica, with the
median over replicas and its confidence interval.""",
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
    compared_with="experiments.studies.threshold.command:maps_to_compare",
)

KINDS = {
    "threshold": _THRESHOLD,
    "push-map": _PRESET._replace(
        title="push threshold for each direction of the push",
        description="""\
Find the push threshold [N·s] in each direction: the largest impulse that the human recovers from. It is the median over
replicas with random joint angles, floors and times of the push, with its confidence interval.""",
        examples="""\
  biped push-map --quick                     fewer directions and replicas
  biped push-map --gains tuned.toml --compare results/push-map/published
  biped push-map --engines recursive,pybullet,mujoco
  biped push-map --controller stepping --steps 0,1,any
  biped push-map --heights 0.95 1.1 1.25     a map for each height [m]
  biped push-map --set push.duration=0.02 --set floor.mu_s=0.3 --set floor.mu_d=0.25
""",
    ),
    "benchmark-policy": _PRESET._replace(
        options="experiments.studies.threshold.policy_benchmark:add_options",
        plan="experiments.studies.threshold.policy_benchmark:plan_of",
        findings="experiments.visualization.studies.policy_benchmark",
        title="push thresholds of a learned policy, by a fixed protocol",
        description="""\
Push a robot that a learned policy controls, by a fixed protocol: 24 directions, pushes of 0.1 and 0.3 s, and 21
replicas whose pushes begin at any phase of the gait. The servos without the policy, and whole-body, are pushed too.""",
        examples="""\
  biped benchmark-policy policy.toml --robot robot.toml --quick
  biped benchmark-policy policy.toml --robot robot.toml --out mine
  biped benchmark-policy other.toml --robot robot.toml --compare mine
""",
        page="policy-benchmark",
    ),
    "block-speed": _PRESET._replace(
        title="threshold of a thrown block's speed for recovery",
        description="""\
Find the largest speed [m/s] of a block thrown at the human's back up to which it recovers: the experiment of Wendlandt
1997, section 4.3, with replicas of random joint angles, floors and times of the hit.""",
        examples="""\
  biped block-speed --quick                  in seconds
  biped block-speed --gains my-gains.toml --set block.mass=2.5
  biped block-speed --by 0.02 --replicas 80  a finer search
""",
    ),
}
