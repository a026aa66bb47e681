"""Plots for the pages that repeat the papers' experiments."""
import html
import math


def ticks(most):
    """Four to eight ticks from 0 to `most`, in steps of 1, 2 or 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(most / 3))
    step = next((power * k for k in (5, 2) if power * k <= most / 3), power)
    return [k * step for k in range(math.floor(most / step * (1 + 1e-9)) + 1)]


def log_ticks(least, most):
    """The powers of ten from `least` to `most`; with fewer than three, also 2 and 5 times a power of ten."""
    powers = range(math.floor(math.log10(least)), math.ceil(math.log10(most)) + 1)
    for factors in ((1,), (1, 2, 5)):
        found = [float(f"{k}e{p}") for p in powers for k in factors]
        found = [v for v in found if least * (1 - 1e-9) <= v <= most * (1 + 1e-9)]
        if len(found) > 2:
            break
    return found


def plot(title, x_label, y_label, series, diagonal=False, log_x=False):
    """Lines with markers as one SVG; series: name -> (colour, [(x, y)]), or (x, y, half of y's interval, NaN if it is not
    known). With `log_x`, x is logarithmic and above 0."""
    if diagonal and log_x:
        raise ValueError("diagonal needs a linear x axis")
    width, height, left, bottom, top, right = 430, 320, 52, 40, 28, 12
    whole = height + 14 * len(series) + 4  # the names stand below the lines, so that neither hides the other
    series = {name: (colour, [(*p, math.nan)[:3] for p in data]) for name, (colour, data) in series.items()}
    points = [(x, y + (0 if math.isnan(half) else half)) for _, data in series.values() for x, y, half in data]
    x_least = min(p[0] for p in points) / 1.1 if log_x else 0
    x_most = max(p[0] for p in points) * (1.1 if log_x else 1.02)
    y_most = max([p[1] for p in points] + ([x_most] if diagonal else [])) * 1.05

    def at(x, y):
        share = math.log(x / x_least) / math.log(x_most / x_least) if log_x else x / x_most
        return (left + (width - left - right) * share, height - bottom - (height - top - bottom) * y / y_most)

    out = [f'<svg viewBox="0 0 {width} {whole}" width="{width}" height="{whole}" xmlns="http://www.w3.org/2000/svg" '
           'font-family="sans-serif" font-size="11">', f'<rect width="{width}" height="{whole}" fill="white"/>',
           f'<text x="{width / 2}" y="16" text-anchor="middle" font-size="13">{html.escape(title)}</text>']
    for value in log_ticks(x_least, x_most) if log_x else ticks(x_most):
        x, y = at(value, 0)
        out.append(f'<text x="{x:.1f}" y="{y + 14:.1f}" text-anchor="middle">{value:.6g}</text>')
    for value in ticks(y_most):
        x, y = at(x_least, value)
        out.append(f'<line x1="{x:.1f}" y1="{y:.1f}" x2="{width - right}" y2="{y:.1f}" stroke="#ddd"/>'
                   f'<text x="{x - 4:.1f}" y="{y + 4:.1f}" text-anchor="end">{value:.6g}</text>')
    out.append(f'<text x="{width / 2}" y="{height - 6}" text-anchor="middle">{html.escape(x_label)}</text>')
    out.append(f'<text x="12" y="{height / 2}" text-anchor="middle" transform="rotate(-90 12 {height / 2})">'
               f'{html.escape(y_label)}</text>')
    if diagonal:
        (x1, y1), (x2, y2) = at(0, 0), at(x_most, x_most)
        out.append(f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="#999" '
                   'stroke-dasharray="4 3"/>')
    for k, (name, (colour, data)) in enumerate(series.items()):
        path = " ".join(f"{a:.1f},{b:.1f}" for a, b in (at(x, y) for x, y, _ in data))
        out.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="1.6"/>')
        for x, y, half in data:
            a, b = at(x, y)
            if not math.isnan(half):
                low, high = at(x, max(0, y - half))[1], at(x, y + half)[1]
                out.append(f'<path d="M{a:.1f} {low:.1f}V{high:.1f}M{a - 4:.1f} {low:.1f}h8M{a - 4:.1f} {high:.1f}h8" '
                           f'stroke="{colour}" fill="none"/>')
            out.append(f'<circle cx="{a:.1f}" cy="{b:.1f}" r="2.4" fill="{colour}"/>')
        out.append(f'<text x="{left}" y="{height + 10 + 14 * k}" fill="{colour}">{html.escape(name)}</text>')
    return "\n".join(out + ["</svg>"])
