"""Frame to figure: no Streamlit, no reading, no global theme."""

from forensics.charts.consumers import consumers_figure
from forensics.charts.lanes import LaneModel, lane_model
from forensics.charts.overview import overview_figure
from forensics.charts.timeline import timeline_figure

__all__ = ["LaneModel", "consumers_figure", "lane_model", "overview_figure", "timeline_figure"]
