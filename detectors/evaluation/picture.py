"""Precision–recall and reliability curves of a few sets, as one PNG."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from sklearn.calibration import calibration_curve
from sklearn.metrics import average_precision_score, precision_recall_curve

from detectors.evaluation.rows import Judged

_BINS = 10


def draw(groups: Mapping[str, Sequence[Judged]], file: Path) -> None:
    """Groups that have rows of both kinds get a curve each; the others are left out."""
    figure = Figure(figsize=(11, 5), layout="constrained")
    FigureCanvasAgg(figure)
    curve, reliable = figure.subplots(1, 2)
    for name, judged in groups.items():
        known = [one for one in judged if one.row.crisis is not None]
        truth = np.array([bool(one.row.crisis) for one in known])
        chance = np.array([one.signal.score for one in known])
        if truth.all() or not truth.any():
            continue
        precision, recall, _ = precision_recall_curve(truth, chance)
        curve.plot(recall, precision, label=f"{name} (AP {average_precision_score(truth, chance):.3f})")
        true, named = calibration_curve(truth, chance, n_bins=_BINS, strategy="quantile")
        reliable.plot(named, true, marker="o", markersize=3, label=name)
    curve.set(
        title="Precision and recall", xlabel="recall", ylabel="precision", xlim=(0, 1.01), ylim=(0, 1.01)
    )
    reliable.plot([0, 1], [0, 1], color="grey", linestyle=":", label="as it should be")
    reliable.set(title="Reliability", xlabel="chance named", ylabel="share that was a crisis")
    for axes in (curve, reliable):
        axes.grid(visible=True, alpha=0.3)
        if axes.get_legend_handles_labels()[0]:
            axes.legend(fontsize=8)
    figure.savefig(file, dpi=110)
