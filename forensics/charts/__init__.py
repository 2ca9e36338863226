"""Frame to figure: no Streamlit, no reading, no global theme."""

from forensics.charts.lanes import LaneModel, lane_model
from forensics.charts.timeline import timeline_figure

__all__ = ["LaneModel", "lane_model", "timeline_figure"]
