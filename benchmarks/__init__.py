"""The project's own benchmark: `python -m benchmarks`.

Figures of a shared machine drift, so only ratios within one run count: references and the tap take
turns, each ratio is of two neighbours, and what is reported is the median of those.
"""
