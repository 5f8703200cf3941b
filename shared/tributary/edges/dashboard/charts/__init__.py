"""Charts: numbers in, a frozen description out, which the macro `chart` of `templates/charts.html` draws. No I/O.

What is None is not known: it is left out of the picture, and called unknown in the table. Noughts are drawn as noughts.
"""

from tributary.edges.dashboard.charts.bars import bars
from tributary.edges.dashboard.charts.chart import Chart, Series
from tributary.edges.dashboard.charts.figures import Unit, figure
from tributary.edges.dashboard.charts.histogram import histogram
from tributary.edges.dashboard.charts.lines import lines
from tributary.edges.dashboard.charts.matrix import matrix
from tributary.edges.dashboard.charts.sparkline import sparkline
from tributary.edges.dashboard.charts.strip import strip

__all__ = ["Chart", "Series", "Unit", "bars", "figure", "histogram", "lines", "matrix", "sparkline", "strip"]
