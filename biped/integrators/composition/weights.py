"""Symmetric compositions: a step as several of another integrator's, some of them backwards in time.

S(w_s h) ∘ … ∘ S(w_1 h) of a symmetric S of order 2, with w_i = w_{s+1-i}, is symmetric again, and of the order whose
conditions on the weights it satisfies. It inherits what each of its steps conserves: symplecticity, momentum.

E. Hairer, C. Lubich, G. Wanner, "Geometric Numerical Integration", 2nd edition, 2006, section V.3.2 collects them;
the digits here solve the order conditions to 1e-25 (``tests/biped/integrators/test_compositions.py`` checks them anew).
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Scheme:
    """A symmetric composition."""

    name: str  #: as on the command line
    paper: str  #: author and year
    order: int  #: of the composed step, where that of the step composed is 2
    half: tuple[str, ...]  #: the weights up to the one in the middle, as decimals of more digits than a float has

    @property
    def decimals(self) -> tuple[str, ...]:
        """All weights."""
        return (*self.half, *self.half[-2::-1])

    @property
    def weights(self) -> tuple[float, ...]:
        """All weights, rounded to floats."""
        return tuple(float(weight) for weight in self.decimals)


SCHEMES: dict[str, Scheme] = {
    scheme.name: scheme
    for scheme in (
        # Creutz & Gocksch, Forest, Suzuki and Yoshida found it in 1989 and 1990: 1 / (2 − 2^(1/3)).
        Scheme(
            "triple-jump-4",
            "Yoshida 1990",
            4,
            ("1.3512071919596576340476878089715", "-1.7024143839193152680953756179429"),
        ),
        # 1 / (4 − 4^(1/3)).
        Scheme(
            "suzuki-4",
            "Suzuki 1990",
            4,
            (
                "0.41449077179437573714235406286076",
                "0.41449077179437573714235406286076",
                "-0.65796308717750294856941625144305",
            ),
        ),
        # His solution A.
        Scheme(
            "yoshida-6",
            "Yoshida 1990",
            6,
            (
                "0.78451361047755726381949763386635",
                "0.23557321335935813368479318297853",
                "-1.1776799841788710069464156809643",
                "1.3151863206839112188842497282389",
            ),
        ),
        Scheme(
            "kahan-li-6",
            "Kahan and Li 1997",
            6,
            (
                "0.39216144400731413927925055518118",
                "0.33259913678935943859974864032027",
                "-0.70624617255763935980996481947476",
                "0.082213596293550800231490447448828",
                "0.79854399093482996339895035304896",
            ),
        ),
        Scheme(
            "sofroniou-spaletta-6",
            "Sofroniou and Spaletta 2005",
            6,
            (
                "0.21375583945878254555518066964857",
                "0.18329381407425713911385974425217",
                "0.17692819473098943794898811709929",
                "-0.44329082681170215849622829626258",
                "0.11728560432865935385403585669136",
                "0.50405474843802736404832781714239",
            ),
        ),
        Scheme(
            "kahan-li-8",
            "Kahan and Li 1997",
            8,
            (
                "0.1302024830888900808788176320967",
                "0.56116298177510838456196440770015",
                "-0.38947496264484728640807859823525",
                "0.15884190655515560089621074570715",
                "-0.39590389413323757733623153934794",
                "0.18453964097831570709183254153338",
                "0.25837438768632204729397910999494",
                "0.29501172360931029887096624021823",
                "-0.60550853383003451169892107933472",
            ),
        ),
    )
}
