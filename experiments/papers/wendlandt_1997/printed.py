"""Tables 2.1 and 2.2 of Wendlandt 1997 as printed, and the numbers in the text around them."""

#: [s]
STEPS = (1e-4, 1e-3, 1e-2, 1e-1)

#: Table 2.1, rigid body: CPU time [s], errors of quaternion, energy and momentum (2.53), by step.
RIGID_BODY = {
    "cpu": (97.620, 9.905, 1.397, 0.301),
    "quaternion": (0.0, 3.960e-6, 3.997e-4, 3.648e-2),
    "energy": (6.256e-7, 6.274e-5, 6.274e-3, 6.217e-1),
    "momentum": (1.671e-7, 1.687e-5, 1.687e-3, 1.665e-1),
}
#: [J] least and greatest energy at 1e-4 s and 1e-3 s.
RIGID_BODY_ENERGY = ((32.999999349, 32.999999359), (32.999937235, 32.999937236))
#: [N·m·s] "±" of the momentum at 1e-4 s.
RIGID_BODY_MOMENTUM_SPREAD = 1e-9

#: Table 2.2, double spherical pendulum: CPU time [s], errors of position, energy and momentum (2.56), by step.
PENDULUM_DVP = {
    "cpu": (73.648, 9.065, 1.152, 0.211),
    "position": (2.329e-7, 1.146e-5, 1.135e-3, 9.576e-2),
    "energy": (6.475e-6, 3.269e-4, 3.224e-2, 2.665),
    "momentum": (2.547e-6, 1.707e-4, 1.696e-2, 1.560),
}
PENDULUM_EM = {
    "cpu": (103.871, 13.250, 1.549, 0.263),
    "position": (0.0, 1.214e-5, 1.225e-3, 1.184e-1),
    "energy": (0.0, 0.0, 0.0, 0.0),
    "momentum": (0.0, 0.0, 0.0, 0.0),
}
#: [J] least and greatest energy of the DVP runs at 1e-4 s and at 0.1 s.
PENDULUM_ENERGY = {1e-4: (24.944495109, 24.944499828), 1e-1: (20.910805793, 25.583335766)}
#: [N·m·s] least and greatest momentum of the DVP run at 1e-4 s.
PENDULUM_MOMENTUM = (199.825467170, 199.825467184)
