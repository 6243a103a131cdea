"""Networks of known functions, and descriptions of policies, as files."""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


def _saved(path, nodes, inputs, outputs, constants, metadata=None, weights=None):
    info = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in inputs]
    out = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in outputs]
    tensors = [numpy_helper.from_array(np.asarray(value, np.float32), name) for name, value in constants.items()]
    graph = helper.make_graph(nodes, "policy", info, out, tensors)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10)
    helper.set_model_props(model, metadata or {})
    onnx.save(model, str(path), save_as_external_data=weights is not None, location=weights, size_threshold=0)
    return path


def linear_network(path, matrix, metadata=None, weights=None):
    """Write the network ``action = matrix @ observation``; ``weights`` names a separate file for its weights."""
    node = helper.make_node("MatMul", ["obs", "w"], ["actions"])
    n, size = np.shape(matrix)
    inputs, outputs, constants = [("obs", [1, size])], [("actions", [1, n])], {"w": np.transpose(matrix)}
    return _saved(path, [node], inputs, outputs, constants, metadata, weights)


def counting_network(path, joints, size):
    """Write a network with memory: each action is the number of calls before it."""
    nodes = [
        helper.make_node("Add", ["h_in", "one"], ["h_out"]),
        helper.make_node("MatMul", ["obs", "zero"], ["nothing"]),
        helper.make_node("Add", ["nothing", "h_in"], ["actions"]),
    ]
    inputs, outputs = [("obs", [1, size]), ("h_in", [1, 1])], [("actions", [1, joints]), ("h_out", [1, 1])]
    return _saved(path, nodes, inputs, outputs, {"one": [[1.0]], "zero": np.zeros((size, joints))})


def describe(path, network, **keys):
    """Write the description of a policy; values of keys are TOML."""
    lines = [f'network = "{network.name}"', *(f"{key} = {value}" for key, value in keys.items())]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(path)
