"""Write tests/reference/calibration.json: C*, C^-, H, nu, mu and psi of every phi, to more than 30 digits (psi: 22).

The loss is L_alpha = ((1 - alpha) phi(t), (alpha / gamma) phi(-gamma t)) at threshold alpha. alpha, gamma, eta and eps
are the doubles that their decimals stand for. Run ``python tests/support/make_calibration_reference.py``. Finished phis
are kept in a cache in the temporary directory, so an interrupted run can be continued.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Iterator
from multiprocessing import Pool
from operator import itemgetter
from pathlib import Path

import reference_sides
from reference_sides import PHIS, Pair, Real, Sides, local_minima, minimise, mp

ALPHAS = (1e-6, 0.1, 0.25, 0.5, 0.8, 0.999)
GAMMAS = (1e-4, 0.1, 0.5, 1.0, 2.0, 10.0, 1e4)
PSI_ALPHAS = ALPHAS[1:5]
PSI_GAMMAS = GAMMAS[1:6]
ENDS = (0.0, 1.0)
ETAS = (1e-9, 0.03, 0.3, 0.5, 0.77, 1 - 1e-9)  # every other one for each pair (alpha, gamma)
OFFSETS = (1e-7, 1e-3, 0.05)
AGREE = mp.mpf(10) ** -25  # largest relative difference allowed between two routes
AGREE_PSI = mp.mpf(10) ** -22
NOTHING = mp.mpf(10) ** -60  # a smaller relative difference counts as rounding
COLUMNS = {
    "conditional": ("phi", "alpha", "gamma", "eta", "C_star", "C_minus", "H"),
    "bounds": ("phi", "alpha", "gamma", "eps", "nu", "mu", "psi"),
}
ABOUT = (
    "L_alpha = ((1 - alpha) phi(t), (alpha / gamma) phi(-gamma t)) at threshold alpha; alpha, gamma, eta and eps are "
    "the doubles their decimals stand for; made by tests/support/make_calibration_reference.py"
)
HERE = Path(__file__).resolve().parents[1]
Row = list[str | None]


def text(value: Real, digits: int = 32) -> str:
    """A number in so many significant digits."""
    return mp.nstr(value, digits) if value else "0"


class Threshold:
    """L_alpha at its threshold: the conditional quantities and the bounds of one (phi, alpha, gamma)."""

    def __init__(self, sides: Sides, alpha: float) -> None:
        """b is the distance from alpha to the nearer end of [0, 1], B that to the farther end."""
        self.sides, self.alpha = sides, mp.mpf(alpha)
        self.b, self.top = sorted((self.alpha, 1 - self.alpha))
        self.chords: list[Pair] = []  # the segments of psi found so far
        self.far = 1 if alpha <= 1 / 2 else -1
        self.label = (sides.name, repr(alpha), repr(float(sides.gamma)))

    def pair(self, eta: Real, *, check: bool) -> Pair:
        """(A, B) at eta by the first route; on request, compared with brute force."""
        a, b = (1 - self.alpha) * eta, self.alpha * (1 - eta)
        first = self.sides.first(a, b)
        if check:
            other = self.sides.brute(a, b)
            for x, y in (*zip(first, other, strict=True), (self._gap(eta, first), self._gap(eta, other))):
                if abs(x - y) > AGREE * max(abs(x), abs(y)):
                    raise ArithmeticError(f"{self.label} eta={text(eta)}: {first} by one route, {other} by the other")
        return first

    def _gap(self, eta: Real, pair: Pair) -> Real:
        """H = max(0, sign(alpha - eta) (A - B)), 0 at alpha."""
        return max(mp.sign(self.alpha - eta) * (pair[0] - pair[1]), mp.mpf(0))

    def conditional(self, eta: float) -> Row:
        """The row of one eta."""
        x = mp.mpf(eta)
        pair = self.pair(x, check=True)
        minus = min(pair) if x == self.alpha else pair[0] if x < self.alpha else pair[1]
        return [*self.label, repr(eta), text(min(pair)), text(minus), text(self._gap(x, pair))]

    def nu(self, eps: Real, *, check: bool = False) -> Real:
        """The least H at distance eps from alpha inside [0, 1]."""
        etas = [self.alpha + self.far * eps] + ([self.alpha - self.far * eps] if eps <= self.b else [])
        return min(self._gap(eta, self.pair(eta, check=check)) for eta in etas)

    def table(self, ratio: int, depth: int, count: int) -> dict[Real, Real]:
        """The graph of nu at nodes dense at 0, on the left of b and at B, where its slope may be infinite."""
        nodes = {mp.mpf(0), self.b, self.top}
        for lo, hi in ((mp.mpf(0), self.b), (self.b, self.top)):
            powers = [mp.mpf(ratio) ** -k for k in range(1, depth)]
            shares = powers + [1 - p for p in powers] + [mp.mpf(k) / count for k in range(1, count)]
            nodes |= {lo + (hi - lo) * share for share in shares if hi > lo}
        return {x: self.nu(x) for x in sorted(nodes)}

    def psi(self, eps: Real, graph: dict[Real, Real], other: dict[Real, Real]) -> Real:
        """The convex biconjugate of nu: a chord of the graph (an upper bound) that supports it (a lower bound)."""
        upper = self.nu(eps)
        if upper == 0:
            return upper
        for x, y in self.chords:
            if x <= eps <= y:
                return self.nu(x) + (self.nu(y) - self.nu(x)) * ((eps - x) / (y - x))
        contacts = {eps: upper}
        for slope in self._slopes(eps, graph | contacts):
            if self._below(eps, slope, graph | contacts) >= upper * (1 - AGREE_PSI):
                break
        else:
            contacts, slope, upper = self._chord(eps, graph | contacts)
        for x, value in contacts.items():
            if abs(self.nu(x, check=True) - value) > AGREE * value:
                raise ArithmeticError(f"{self.label} eps={text(eps)}: nu({text(x)}) is not {text(value)}")
        lower = self._below(eps, slope, other | contacts)
        if abs(upper - lower) > AGREE_PSI * upper:
            raise ArithmeticError(f"{self.label} eps={text(eps)}: psi between {text(lower)} and {text(upper)}")
        if len(contacts) == 2:
            self.chords.append(tuple(contacts))
        return upper

    def _slopes(self, eps: Real, graph: dict[Real, Real]) -> Iterator[Real]:
        """Slopes of a line that may touch nu at eps only: the left derivative, and at a kink one between the chords."""
        step = eps * AGREE
        yield (graph[eps] - self.nu(eps - step)) / step
        left = max((graph[eps] - value) / (eps - x) for x, value in graph.items() if x < eps)
        right = min(((value - graph[eps]) / (x - eps) for x, value in graph.items() if x > eps), default=3 * left)
        if left < right:
            yield (left + right) / 2

    def _below(self, eps: Real, slope: Real, graph: dict[Real, Real]) -> Real:
        """The highest line of this slope under nu, at eps: a lower bound of psi(eps) whatever the slope."""
        rough = min(value - slope * (x - eps) for x, value in graph.items())
        if rough < graph.get(eps, rough) * (1 - AGREE_PSI):
            return rough  # eps is no contact: no need to know by how much
        x = self._lowest(slope, sorted(graph), graph)
        return self.nu(x) - slope * (x - eps)

    def _lowest(self, slope: Real, nodes: list[Real], graph: dict[Real, Real]) -> Real:
        """Where nu(x) - slope x is least between the first node and the last."""
        heights = [graph[x] - slope * x for x in nodes]
        inner = local_minima(heights, slack=NOTHING * graph[nodes[-1]])
        found = [minimise(lambda x: self.nu(x) - slope * x, *nodes[i - 1 : i + 2]) for i in inner]
        return min((*found, *zip(nodes, heights, strict=True)), key=itemgetter(1))[0]

    def _chord(self, eps: Real, graph: dict[Real, Real]) -> tuple[dict[Real, Real], Real, Real]:
        """The contacts, slope and height at eps of the supporting chord over eps (guarded Newton on its slope)."""
        nodes = sorted(graph)
        cells = [nodes[nodes.index(eps) + side] - eps for side in (-1, 1)]
        graph = graph | {x: self.nu(x) for x in (eps + cell / 4**k for cell in cells for k in range(1, 12))}
        nodes = sorted(graph)
        cut = nodes.index(eps)
        points = [(float(x), float(graph[x])) for x in nodes]
        chords = ((x, y, u, v) for x, u in points[:cut] for y, v in points[cut + 1 :] if x < y)
        x, y, u, v = min(chords, key=lambda c: c[2] + (c[3] - c[2]) * (points[cut][0] - c[0]) / (c[1] - c[0]))
        slope, low, high = mp.mpf((v - u) / (y - x)), mp.mpf(0), mp.inf
        for _ in range(100):
            x, y = (self._lowest(slope, part, graph) for part in (nodes[: cut + 1], nodes[cut:]))
            u, v = self.nu(x), self.nu(y)
            excess = v - u - slope * (y - x)
            if abs(excess) <= AGREE * graph[eps]:
                return {x: u, y: v}, slope, u + (v - u) * (eps - x) / (y - x)
            low, high = (slope, high) if excess > 0 else (low, slope)
            newton = (v - u) / (y - x)
            slope = newton if low < newton < high else (low + high) / 2
        raise ArithmeticError(f"{self.label} eps={text(eps)}: the chord does not settle")

    def bounds(self, *, with_psi: bool) -> list[Row]:
        """The rows of nu, mu and, if wanted, psi."""
        width = self.top - self.b
        wanted = [self.b * 0.02, self.b * 0.3, self.b * 0.9, self.b, self.b + 0.3 * width, self.b + 0.8 * width]
        graph = self.table(2, 42, 16) if with_psi else self.table(4, 8, 6)
        other = self.table(3, 20, 11) if with_psi else {}
        rows = []
        for eps in dict.fromkeys(float(x) for x in wanted):  # 1 - alpha is a double for alpha >= 1/2: so is b
            x = mp.mpf(eps)
            nu = self.nu(x, check=True)
            if any(value < nu * (1 - AGREE) for y, value in (graph | other).items() if y >= x):
                raise ArithmeticError(f"{self.label} eps={eps!r}: nu is not monotone, mu < nu")
            psi = text(self.psi(x, graph, other), 24) if with_psi else None
            rows.append([*self.label, repr(eps), text(nu), text(nu), psi])
        return rows


def etas(alpha: float, parity: int) -> list[float]:
    """The values of eta for one pair (alpha, gamma)."""
    near = [alpha + sign * offset for offset in OFFSETS for sign in (-1, 1)]
    return sorted({x for x in (*ENDS, *ETAS[parity::2], *near) if 0 <= x <= 1})


def rows_of(name: str) -> dict[str, list[Row]]:
    """All rows of one phi."""
    key = hashlib.sha256(Path(__file__).read_bytes() + Path(reference_sides.__file__).read_bytes()).hexdigest()[:16]
    cache = Path(tempfile.gettempdir()) / f"uneven-calibration-{key}" / f"{name}.json"
    if cache.exists():
        return json.loads(cache.read_text())
    found: dict[str, list[Row]] = {part: [] for part in COLUMNS}
    for j, gamma in enumerate(GAMMAS):
        sides = Sides(name, gamma)
        for i, alpha in enumerate(ALPHAS):
            threshold = Threshold(sides, alpha)
            found["conditional"] += [threshold.conditional(eta) for eta in etas(alpha, (i + j) % 2)]
            found["bounds"] += threshold.bounds(with_psi=alpha in PSI_ALPHAS and gamma in PSI_GAMMAS)
    cache.parent.mkdir(exist_ok=True)
    cache.write_text(json.dumps(found))
    return found


def main() -> None:
    """Compute every phi, two at a time, and write one entry per line."""
    with Pool(2) as pool:
        found = pool.map(rows_of, PHIS, chunksize=1)
    parts = [f'"about": {json.dumps(ABOUT)}']
    for part, columns in COLUMNS.items():
        lines = ",\n".join(json.dumps(row, separators=(",", ":")) for rows in found for row in rows[part])
        parts.append(f'"{part}": {{"columns": {json.dumps(columns)}, "rows": [\n{lines}\n]}}')
    target = HERE / "reference" / "calibration.json"
    target.parent.mkdir(exist_ok=True)
    target.write_text("{" + ",\n".join(parts) + "}\n")


if __name__ == "__main__":
    main()
