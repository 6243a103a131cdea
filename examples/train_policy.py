"""Train a policy that keeps the standing human upright after pushes, and write it as ONNX and TOML.

pip install 'biped-balance[gym,sb3,onnx]' onnx
python train_policy.py policy
biped run balance --policy policy/policy.toml
"""

import argparse
import time
from pathlib import Path

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper
from stable_baselines3 import PPO
from stable_baselines3.common.vec_env import VecNormalize

from biped import Fall, Scene, human, standing
from biped.gym import BalanceTask, BalanceVectorEnv, Randomization, StableBaselinesEnv

#: Number of episodes of an evaluation.
EPISODES = 64


def task(least: float, most: float) -> BalanceTask:
    """Return the task: servos too soft to stand without a policy, and a push of an impulse in this range [N·s]."""
    model = human()
    return BalanceTask(
        # The time step is the period of servos in `biped run`, 2 ms, which adds no damping of joints either.
        Scene(model, state=standing(model), fall=Fall(), step=2e-3),
        period=2e-2,
        damping=0.0,
        actions="targets",
        observation="body",
        stiffness={"*": 300.0, "*_ankle_*": 150.0},
        servo_damping={"*": 10.0, "*_hip_yaw": 3.0, "*_ankle_*": 1.0},
        action_scale=0.3,
        effort=0.2,
        randomization=Randomization(push=(least, most), push_start=(1.0, 4.0)),
    )


def train(steps: int, seed: int) -> tuple[PPO, VecNormalize]:
    """Train a network of two layers of 64 units for a number of periods; return it with the scaling of its inputs."""
    torch.set_num_threads(1)  # the network is small, and the simulation uses all cores
    envs = VecNormalize(StableBaselinesEnv(BalanceVectorEnv(32, task(0.0, 10.0))), gamma=0.98)
    ppo = PPO(
        "MlpPolicy",
        envs,
        n_steps=128,
        batch_size=512,
        n_epochs=5,
        gamma=0.98,
        learning_rate=lambda left: 1e-4 + 4e-4 * left,  # left: from 1 at the start to 0 at the end
        policy_kwargs={"net_arch": [64, 64], "activation_fn": torch.nn.Tanh, "log_std_init": -1.0},
        seed=seed,
        device="cpu",
    )
    return ppo.learn(steps), envs


def share_standing(impulse: float, act) -> float:
    """Return the share of episodes of 10 s without a fall, each with a push [N·s] in a random direction."""
    envs = BalanceVectorEnv(EPISODES, task(impulse, impulse))
    observations, _ = envs.reset(seed=10_000)
    ended, fallen = np.zeros(EPISODES, dtype=bool), np.zeros(EPISODES, dtype=bool)
    while not ended.all():
        observations, _, fell, late, _ = envs.step(act(observations))
        fallen |= fell & ~ended
        ended |= fell | late
    envs.close()
    return 1.0 - float(fallen.mean())


def network(ppo: PPO, scaled: VecNormalize) -> onnx.ModelProto:
    """Return the network as ONNX, from the observation to the action, with the scaling of its inputs."""
    layers = [layer for layer in ppo.policy.mlp_extractor.policy_net if isinstance(layer, torch.nn.Linear)]
    layers.append(ppo.policy.action_net)
    deviation = np.sqrt(scaled.obs_rms.var + scaled.epsilon)
    constants = {"mean": scaled.obs_rms.mean, "deviation": deviation, "low": -scaled.clip_obs, "high": scaled.clip_obs}
    nodes = [("Sub", "observation", "mean"), ("Div", "", "deviation"), ("Clip", "", "low", "high")]
    for k, layer in enumerate(layers):
        constants |= {f"weight_{k}": layer.weight.detach().numpy(), f"bias_{k}": layer.bias.detach().numpy()}
        nodes += [("Gemm", "", f"weight_{k}", f"bias_{k}"), ("Tanh", "")]
    nodes.pop()  # no Tanh after the last layer
    chain = [f"value_{k}" for k in range(len(nodes) - 1)]
    made = [
        helper.make_node(kind, [first or before, *more], [after], **({"transB": 1} if kind == "Gemm" else {}))
        for (kind, first, *more), before, after in zip(nodes, ["", *chain], [*chain, "action"], strict=True)
    ]
    ends = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, size])
        for name, size in (("observation", layers[0].in_features), ("action", layers[-1].out_features))
    ]
    tensors = [numpy_helper.from_array(np.asarray(value, np.float32), name) for name, value in constants.items()]
    graph = helper.make_graph(made, "policy", ends[:1], ends[1:], tensors)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def description(about: BalanceTask) -> str:
    """Return the policy's description, for ``biped``."""
    return f"""\
network = "policy.onnx"
period = {about.period}
default = {about.initial_posture.tolist()}
action_scale = {about.by_joint("action_scale").tolist()}
action_limit = 1.0
kp = {about.by_joint("stiffness").tolist()}
kd = {about.by_joint("servo_damping").tolist()}
observation = ["projected_gravity", "base_lin_vel", "base_ang_vel", "joint_pos", "joint_vel", "last_action"]
"""


def main() -> None:
    """Train, write the policy, and evaluate it beside servos alone."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="folder for policy.onnx and policy.toml")
    parser.add_argument("--steps", type=int, default=600_000, help="number of periods simulated in training")
    parser.add_argument("--seed", type=int, default=1, help="seed of the training")
    options = parser.parse_args()

    begin = time.perf_counter()
    ppo, scaled = train(options.steps, options.seed)
    print(f"trained for {time.perf_counter() - begin:.0f} s")
    options.folder.mkdir(parents=True, exist_ok=True)
    onnx.save(network(ppo, scaled), options.folder / "policy.onnx")
    (options.folder / "policy.toml").write_text(description(task(0.0, 0.0)), encoding="utf-8")

    actors = {
        "policy": lambda seen: ppo.predict(scaled.normalize_obs(seen), deterministic=True)[0],
        "servos alone": lambda seen: np.zeros((len(seen), 12)),
    }
    print(f"share of {EPISODES} episodes of 10 s without a fall, by impulse of a push in a random direction")
    for name, act in actors.items():
        shares = [f"{impulse:g} N·s: {share_standing(impulse, act):.0%}" for impulse in (0.0, 5.0, 10.0, 20.0)]
        print(f"{name}: {', '.join(shares)}")


if __name__ == "__main__":
    main()
