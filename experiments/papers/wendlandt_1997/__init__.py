"""J. M. Wendlandt, Control and Simulation of Multibody Systems, 1997: its tables and figures."""

from dataclasses import replace

from experiments.papers.item import Item, Paper, misprints
from experiments.papers.wendlandt_1997 import chapter5, claims, experiment2, pendulum_items, rigid_body
from experiments.papers.wendlandt_1997.friction_figure import ITEM as FRICTION

#: Tables 2.1 and 2.2, and figures 2.2 to 2.12, which are of Lagrangian systems.
CHAPTER_2: tuple[Item, ...] = tuple(
    replace(item, packages=("sympy",)) for item in (*rigid_body.ITEMS, *pendulum_items.ITEMS)
)
#: Place in the thesis, printed text, correction, evidence.
MISPRINTS = (
    ("proof of theorem 2.1", "Dᵀψ(q_{k+1})", "Dᵀψ(q_k)", "the same paragraph: Dᵀψ(q_k) Dᵀg(ψ(q_k)) = 0"),
    ("2.4.1, before (2.47)", "𝕃 : TV → ℝ", "𝕃 : V × V → ℝ", "(2.23)"),
    ("(2.48)", "((y + x)/2) ⋆ ((y − x)/h)", "twice that, the first factor conjugate", "(2.49)"),
    ("2.4.1, 2.4.2", "tables 2.4.1 and 2.4.2", "tables 2.1 and 2.2", "their captions"),
    ("2.4.2, momentum", "m²/s", "kg m²/s", "masses of 2 and 3.5 kg; its value (table 2.2)"),
    ("3.2.2, configurations of a joint", "d_k ≤ e_k ≤ 6", "≤ 7", "a floating joint's: a quaternion and a position"),
    ("3.3.4, before (3.21)", "τ of θ_k; H by stacking H_k", "of τ_k; H block diagonal", "(3.21), (3.24); tests"),
    ("4.1, total mass", "74.558 kg", "74.548 kg", "the sum of the printed masses"),
    ("4.2.3, last paragraph", "F_1 = P_1 V_1 + z_1", "F_1 = P_1 V̇_1 + z_1", "(4.2)"),
    ("algorithm 4.3, P_{k.i} and z_{k.i}", "P_{k.o} + …, z_{k.o} + …", "P_{k.i} + …, z_{k.i} + …", "algorithm 3.3"),
    ("algorithm 4.4, X_c", "ω × p", "ω × ṗ", "(4.12)"),
    ("4.3, quaternion of experiment 2", "that of experiment 1", "(0.99144486, 0, −0.13052619, 0)", "15° about −Y"),
    ("5.2, conditions of the states", "ṗ_t ≤ zvt; F_t > μ_s F_n", "their norms", "both are vectors in the plane"),
    ("5.4.2, after (5.11)", "Σ_j G_{k.i}ᵀ λ_j", "Σ_j G_{j.i}ᵀ λ_j", "(5.11)"),
    ("A.6, last equation", "frames C and K; V_{s,b}", "C and B; V_{l,b}", "the frames of the same sentence"),
    ("A.7; (4.28) to (4.31); algorithms 4.5, 4.6", "Adᵀ of g_{c,b}", "of g_{b,c}", "A.6; A.7's own matrix; (3.17)"),
)
PAPER = Paper(
    "wendlandt-1997",
    "J. M. Wendlandt, Control and Simulation of Multibody Systems, PhD thesis, UC Berkeley, 1997",
    (*CHAPTER_2, *experiment2.ITEMS, *chapter5.ITEMS, FRICTION, *claims.ITEMS, misprints("Wendlandt 1997", MISPRINTS)),
)
