"""Charts of a campaign's work: judgements a day, seconds of a judgement, disputed pairs by group."""

from collections.abc import Sequence
from datetime import timedelta
from typing import TYPE_CHECKING

import altair as alt

from eds.reports.charts import FITTED, MAIN, SERIES, Chart, interval_chart

MOST_TICKS = 6

if TYPE_CHECKING:
    import pandas as pd


def days_chart(days: "pd.DataFrame", height: int = 150) -> alt.Chart:
    """A bar for each day; `days` has the columns day and judgements."""
    rows = [
        {"day": f"{day:%Y-%m-%dT00:00:00}", "judgements": int(count)}
        for day, count in zip(days["day"], days["judgements"], strict=True)
    ]
    chart = alt.Chart({"values": rows}, height=height, autosize=FITTED)
    span = (days["day"].max() - days["day"].min()).days + 1 if len(days) else 1
    step = -(-span // MOST_TICKS)
    ticks = [  # never two of one day, and the last day has one
        alt.DateTime(year=day.year, month=day.month, date=day.day)
        for day in (days["day"].max() - timedelta(days=back) for back in range(0, span if len(days) else 0, step))
    ]
    # Vega writes the tip, so that a page's locale counts there, too.
    text = "timeFormat(toDate(datum.day), '%d %b %Y') + ': ' + format(datum.judgements, ',')"
    marks = chart.transform_calculate(text=text).mark_bar(color=MAIN, cornerRadiusEnd=2, aria=False)
    bars: alt.Chart = marks.encode(
        x=alt.X("yearmonthdate(day):T", title=None, axis=alt.Axis(format="%d %b", values=ticks, grid=False)),
        y=alt.Y("judgements:Q", title=None, axis=alt.Axis(tickMinStep=1, tickCount=4)),
        tooltip=alt.Tooltip("text:N"),
    )
    return bars


def seconds_chart(seconds: "pd.DataFrame", names_shown: Sequence[str] = ("expert", "seconds", "share")) -> alt.Chart:
    """An area for each expert over logarithmic seconds; the frame is that of `eds.truth.throughput`."""
    names = sorted(seconds["expert_id"].unique().tolist())
    colours = [SERIES[place % len(SERIES)] for place in range(len(names))]
    rows = [
        {"expert": name, "seconds": round(float(at), 3), "share": round(float(share), 4)}
        for name, at, share in zip(seconds["expert_id"], seconds["seconds"], seconds["share"], strict=True)
    ]
    axis = alt.Axis(values=[0.1, 0.3, 1, 3, 10, 30], labelExpr="format(datum.value, '~') + ' s'", grid=False)
    legend = alt.Legend(title=None, orient="top", columns=4, symbolOpacity=1)
    chart = alt.Chart({"values": rows}, height=200, autosize=FITTED)
    marks = chart.mark_area(opacity=0.18, line={"strokeWidth": 2}, interpolate="monotone", aria=False)
    areas: alt.Chart = marks.encode(
        x=alt.X("seconds:Q", scale=alt.Scale(type="log", domain=[0.1, 60.0], nice=False), title=None, axis=axis),
        y=alt.Y("share:Q", stack=None, title=None, axis=None),
        color=alt.Color("expert:N", scale=alt.Scale(domain=names, range=colours), legend=legend),
        tooltip=[
            alt.Tooltip("expert:N", title=names_shown[0]),
            alt.Tooltip("seconds:Q", title=names_shown[1]),
            alt.Tooltip("share:Q", title=names_shown[2], format=".1%"),
        ],
    )
    return areas


def disputed_chart(groups: "pd.DataFrame", most: int = 12) -> Chart:
    """The share of disputed pairs of the first groups; the frame is that of `eds.truth.disagreement`."""
    rows = groups.head(most)
    names, values, low, high = (rows[name].tolist() for name in ("group", "rate", "low", "high"))
    return interval_chart(names, values, low, high, kind="share", lowest=0.0)
