#!/usr/bin/env python3
"""Derives the polynomial coefficients in include/tx/backends/cpu/vector_math.hpp.

For each function: Remez' exchange algorithm (E. Remez, 1934) on a weighted error, in 50 decimal digits; then the
coefficients are rounded to the working precision one by one from the lowest, the rest fitted anew after each, which
loses far less than rounding them together.  Needs mpmath:

    python3 tools/fit_polynomials.py            # prints every table and its largest weighted error in bits
    python3 tools/fit_polynomials.py erf_tail   # only the named ones
"""
import struct
import sys

import mpmath as mp

mp.mp.dps = 50


def f32(x):
    return mp.mpf(struct.unpack("f", struct.pack("f", float(x)))[0])


def f64(x):
    return mp.mpf(float(x))


def series(coefficients, powers, x):
    return mp.fsum(c * x**p for c, p in zip(coefficients, powers))


def remez(f, weight, lo, hi, powers, points=800):
    """Coefficients c that minimise max |weight(x) (f(x) - sum c_i x^p_i)| over [lo, hi]."""
    n = len(powers) + 1
    lo, hi = mp.mpf(lo), mp.mpf(hi)
    middle, radius = (lo + hi) / 2, (hi - lo) / 2
    # A grid dense at the ends, where the extrema are; x = 0 is avoided because quotients are not defined there.
    grid = [middle - radius * mp.cos(mp.pi * (i + mp.mpf("0.37")) / points) for i in range(points)]
    values = [(x, f(x), weight(x)) for x in grid]
    nodes = [values[(2 * i + 1) * points // (2 * n)] for i in range(n)]
    for _ in range(40):
        a = mp.matrix(n, n)
        b = mp.matrix(n, 1)
        for i, (x, fx, w) in enumerate(nodes):
            for j, p in enumerate(powers):
                a[i, j] = x**p * w
            a[i, n - 1] = (-1) ** i
            b[i] = fx * w
        solution = mp.lu_solve(a, b)
        c = [solution[j] for j in range(n - 1)]
        level = abs(solution[n - 1])
        error = [w * (fx - series(c, powers, x)) for x, fx, w in values]
        # One extremum for each run of equal sign, then the n alternating ones around the largest.
        runs = []
        for i, e in enumerate(error):
            if runs and (error[runs[-1]] > 0) == (e > 0):
                if abs(e) > abs(error[runs[-1]]):
                    runs[-1] = i
            else:
                runs.append(i)
        while len(runs) > n:
            runs.pop(0 if abs(error[runs[0]]) < abs(error[runs[-1]]) else -1)
        largest = max(abs(e) for e in error)
        if len(runs) < n or largest < level * mp.mpf("1.0001"):
            break
        nodes = [values[i] for i in runs]
    return c, largest


def fit(f, weight, lo, hi, powers, rounding):
    fixed = []
    free = list(powers)
    while free:
        rest = lambda x: f(x) - series(fixed, powers, x)
        c, _ = remez(rest, weight, lo, hi, free)
        fixed.append(rounding(c[0]))
        free = free[1:]
    lo, hi = mp.mpf(lo), mp.mpf(hi)
    grid = [lo + (hi - lo) * (i + mp.mpf("0.41")) / 3000 for i in range(3000)]
    worst = max(abs(weight(x) * (f(x) - series(fixed, powers, x))) for x in grid)
    return fixed, worst


LN2 = mp.log(2)
HALF_LN2 = LN2 / 2 * mp.mpf("1.0005")
ROOT_HALF = 1 / mp.sqrt(2)
QUARTER_PI = mp.pi / 4 * mp.mpf("1.0001")


def log2_kernel(z):
    # log2((1 + t) / (1 - t)) / t as a function of z = t^2
    t = mp.sqrt(z)
    return 2 * mp.atanh(t) / (t * LN2)


TABLES = {
    # name: (target, weight that turns its error into the relative error of the result, interval, powers, rounding)
    "exp": (lambda r: (mp.expm1(r) - r) / r**2, lambda r: r**2 / mp.exp(r), -HALF_LN2, HALF_LN2, range(5), f32),
    # 2^r = 1 + r P(r); of attention_exp.hpp
    "exp2": (lambda r: (2**r - 1) / r, lambda r: abs(r) / 2**r, -0.5001, 0.5001, range(5), f32),
    "expm1": (
        lambda r: (mp.expm1(r) - r) / r**2,
        lambda r: abs(r**2 / mp.expm1(r)),
        -HALF_LN2,
        HALF_LN2,
        range(6),
        f32,
    ),
    "log": (
        lambda f: (mp.log1p(f) - f + f**2 / 2) / f**3,
        lambda f: abs(f**3 / mp.log1p(f)),
        ROOT_HALF - 1,
        mp.sqrt(2) - 1,
        range(9),
        f32,
    ),
    # in z = x^2: tanh(x) = x + x z P(z)
    "tanh": (
        lambda z: (mp.tanh(mp.sqrt(z)) / mp.sqrt(z) - 1) / z,
        lambda z: z * mp.sqrt(z) / mp.tanh(mp.sqrt(z)),
        0,
        mp.mpf("0.625") ** 2,
        range(5),
        f32,
    ),
    # in z = x^2: erf(x) = x + x P(z)
    "erf": (
        lambda z: mp.erf(mp.sqrt(z)) / mp.sqrt(z) - 1,
        lambda z: mp.sqrt(z) / mp.erf(mp.sqrt(z)),
        0,
        1,
        range(7),
        f32,
    ),
    # in a = |x|: log(erfc(a)), weighted by erfc, so that the error is that of erf
    "erf_tail": (lambda a: mp.log(mp.erfc(a)), mp.erfc, 0.99, 4, range(7), f32),
    # binary64 kernels: sin(r) = r + r z P(z), cos(r) = 1 - z/2 + z^2 P(z), 2^f, log2
    "sin64": (
        lambda z: (mp.sin(mp.sqrt(z)) / mp.sqrt(z) - 1) / z,
        lambda z: z * mp.sqrt(z) / mp.sin(mp.sqrt(z)),
        0,
        QUARTER_PI**2,
        range(4),
        f64,
    ),
    "cos64": (
        lambda z: (mp.cos(mp.sqrt(z)) - 1 + z / 2) / z**2,
        lambda z: z**2 / mp.cos(mp.sqrt(z)),
        0,
        QUARTER_PI**2,
        range(4),
        f64,
    ),
    "exp2_64": (lambda f: (2**f - 1) / f, lambda f: abs(f) / 2**f, -0.5002, 0.5002, range(8), f64),
    # in z = t^2, t = (m - 1) / (m + 1): log2(m) = t P(z)
    "log2_64": (
        log2_kernel,
        lambda z: 1 / log2_kernel(z),
        mp.mpf("1e-12"),
        ((mp.sqrt(2) - 1) / (mp.sqrt(2) + 1)) ** 2,
        range(6),
        f64,
    ),
}


def main():
    for name in sys.argv[1:] or TABLES:
        target, weight, lo, hi, powers, rounding = TABLES[name]
        coefficients, worst = fit(target, weight, lo, hi, list(powers), rounding)
        print(f"{name}: 2^{float(mp.log(worst, 2)):.1f}")
        for c in coefficients:
            print(f"    {float(c):.9g}f," if rounding is f32 else f"    {float(c):.17g},")


if __name__ == "__main__":
    main()
