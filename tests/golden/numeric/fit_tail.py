"""The coefficients of `activations.TAIL_P` and `TAIL_Q`, fitted with mpmath (run by a person; prints them).

Φ(-y)·exp(y²/2) is interpolated by P/Q, deg Q = deg P + 1, at the Chebyshev nodes of (y - a)/(y + a) on 0 to `end`. The
last figure of each is the largest relative error on 2000 points.
"""

from mpmath import cos, erfc, exp, lu_solve, matrix, mp, mpf, pi, polyval, sqrt

FITS = {"d": (9, 39.0, 4.0), "f": (4, 14.5, 3.0)}  # degree of P, end, a


def tail(y: mpf) -> mpf:
    """Φ(-y)·exp(y²/2)."""
    return erfc(y / sqrt(2)) * exp(y * y / 2) / 2


def fit(degree: int, end: float, a: float) -> tuple[list[mpf], list[mpf], mpf]:
    """(P, Q, largest relative error), lowest coefficients first."""
    n = 2 * degree + 2
    top = (mpf(end) - a) / (mpf(end) + a)

    def point(fraction: mpf) -> mpf:
        s = -1 + (top + 1) * fraction
        return a * (1 + s) / (1 - s)

    ys = [point((1 - cos(pi * (2 * i + 1) / (2 * n))) / 2) for i in range(n)]
    left, right = matrix(n, n), matrix(n, 1)
    for i, y in enumerate(ys):
        value = tail(y)
        row = [y**j for j in range(degree + 1)] + [-value * y**j for j in range(1, degree + 2)]
        for j, entry in enumerate(row):
            left[i, j] = entry
        right[i] = value
    solution = list(lu_solve(left, right))
    P, Q = solution[: degree + 1], [mpf(1), *solution[degree + 1 :]]
    points = [point(mpf(i) / 2000) for i in range(2001)]
    return P, Q, max(abs(polyval(P[::-1], y) / polyval(Q[::-1], y) / tail(y) - 1) for y in points)


def main() -> None:
    """Print both fits."""
    mp.dps = 60
    for name, (degree, end, a) in FITS.items():
        P, Q, error = fit(degree, end, a)
        print(name, [float(c) for c in P], [float(c) for c in Q], float(error), sep="\n")


if __name__ == "__main__":
    main()
