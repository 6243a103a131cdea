"""Train a policy by PPO that keeps the standing human upright when it is pushed, and export it as ONNX and TOML.

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
from biped.gym import BalanceTask, BalanceVectorEnv, Randomization
from biped.gym.sb3 import StableBaselinesEnv

STIFFNESS = {"*": 300.0, "*_ankle_*": 150.0}
DAMPING = {"*": 10.0, "*_hip_yaw": 3.0, "*_ankle_*": 1.0}
EVALUATED = 64  # episodes


def task(push: tuple[float, float] | None) -> BalanceTask:
    """Return the task: soft servos, observation in body axes, and a push of an impulse in this range [N·s]."""
    model = human()
    return BalanceTask(
        Scene(model, state=standing(model), fall=Fall(), step=2e-3),
        period=2e-2,
        damping=0.0,
        actions="targets",
        observation="body",
        stiffness=STIFFNESS,
        servo_damping=DAMPING,
        action_scale=0.3,
        effort=0.2,
        randomization=Randomization(push=push, push_start=(1.0, 4.0)),
    )


def share_standing(push: float | None, act) -> float:
    """Return the share of episodes of 10 s without a fall, with a push of this impulse [N·s] in random directions."""
    envs = BalanceVectorEnv(EVALUATED, task(None if push is None else (push, push)))
    observations, _ = envs.reset(seed=10_000)
    standing_yet, ended = np.ones(EVALUATED, dtype=bool), np.zeros(EVALUATED, dtype=bool)
    while not ended.all():
        observations, _, fell, late, _ = envs.step(act(observations))
        standing_yet &= ended | ~fell
        ended |= fell | late
    envs.close()
    return float(standing_yet.mean())


def train(steps: int, seed: int) -> tuple[PPO, VecNormalize]:
    """Train a network of two layers of 64 units for a number of periods; return it with the scaling of its inputs."""
    torch.set_num_threads(1)  # the network is small, and the simulation uses all cores
    envs = StableBaselinesEnv(BalanceVectorEnv(32, task((0.0, 10.0))))
    scaled = VecNormalize(envs, gamma=0.98)
    ppo = PPO(
        "MlpPolicy",
        scaled,
        n_steps=128,
        batch_size=512,
        n_epochs=5,
        gamma=0.98,
        learning_rate=lambda left: 1e-4 + 4e-4 * left,
        policy_kwargs={"net_arch": [64, 64], "activation_fn": torch.nn.Tanh, "log_std_init": -1.0},
        seed=seed,
        device="cpu",
    )
    ppo.learn(steps)
    return ppo, scaled


def export(ppo: PPO, scaled: VecNormalize, folder: Path) -> None:
    """Write the network, with the scaling of its inputs, and its description."""
    policy, size = ppo.policy, scaled.observation_space.shape[0]
    layers = [*(m for m in policy.mlp_extractor.policy_net if isinstance(m, torch.nn.Linear)), policy.action_net]
    deviation = np.sqrt(scaled.obs_rms.var + scaled.epsilon)
    constants = {"mean": scaled.obs_rms.mean, "deviation": deviation, "low": -scaled.clip_obs, "high": scaled.clip_obs}
    nodes = [
        helper.make_node("Sub", ["observation", "mean"], ["centred"]),
        helper.make_node("Div", ["centred", "deviation"], ["scaled"]),
        helper.make_node("Clip", ["scaled", "low", "high"], ["out_0"]),
    ]
    for k, layer in enumerate(layers):
        constants |= {f"weight_{k}": layer.weight.detach().numpy(), f"bias_{k}": layer.bias.detach().numpy()}
        last = k == len(layers) - 1
        inputs, output = [f"out_{k}", f"weight_{k}", f"bias_{k}"], "action" if last else f"sum_{k}"
        nodes.append(helper.make_node("Gemm", inputs, [output], transB=1))
        nodes += [] if last else [helper.make_node("Tanh", [output], [f"out_{k + 1}"])]
    tensors = [numpy_helper.from_array(np.asarray(value, np.float32), name) for name, value in constants.items()]
    ends = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, n])
        for name, n in (("observation", size), ("action", 12))
    ]
    graph = helper.make_graph(nodes, "policy", ends[:1], ends[1:], tensors)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    folder.mkdir(parents=True, exist_ok=True)
    onnx.save(model, folder / "policy.onnx")
    about = task(None)
    (folder / "policy.toml").write_text(f"""\
network = "policy.onnx"
period = {about.period}
default = {about.initial_posture.tolist()}
action_scale = {about.by_joint("action_scale").tolist()}
action_limit = 1.0
kp = {about.by_joint("stiffness").tolist()}
kd = {about.by_joint("servo_damping").tolist()}
observation = ["projected_gravity", "base_lin_vel", "base_ang_vel", "joint_pos", "joint_vel", "last_action"]
""")


def main() -> None:
    """Train, evaluate beside servos alone, and export."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="folder for policy.onnx and policy.toml")
    parser.add_argument("--steps", type=int, default=1_500_000, help="number of periods simulated in training")
    parser.add_argument("--seed", type=int, default=1, help="seed of the training")
    options = parser.parse_args()
    begin = time.perf_counter()
    ppo, scaled = train(options.steps, options.seed)
    print(f"trained for {time.perf_counter() - begin:.0f} s")
    export(ppo, scaled, options.folder)

    def learned(observations):
        return ppo.predict(scaled.normalize_obs(observations), deterministic=True)[0]

    def servos_alone(observations):
        return np.zeros((len(observations), 12), np.float32)

    print("share of episodes of 10 s without a fall, by impulse of a push in a random direction")
    for name, act in (("policy", learned), ("servos alone", servos_alone)):
        shares = {push: share_standing(push, act) for push in (None, 5.0, 10.0)}
        print(name, ", ".join(f"{push or 0:g} N·s: {share:.0%}" for push, share in shares.items()))


if __name__ == "__main__":
    main()
