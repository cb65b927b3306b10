// Small charts without a library: a line for each series, a bar for each row.

const SVG = "http://www.w3.org/2000/svg";
const WIDTH = 320;
const HEIGHT = 96;
const TOP = 14;

/** An element of a drawing. */
function shape(name, attributes, ...children) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

/**
 * Lines over the minutes, the last one at the right; a minute without a value breaks the line, one between two such is a dot.
 * @param series of a `name`, a `kind` (its class) and `values` (numbers or null) @param words of a number, for the scale
 */
export function lineChart(label, series, words) {
  const values = series.flatMap((one) => one.values).filter((value) => value !== null);
  const most = Math.max(...values, 0);
  const last = series.map(({ name, values }) => {
    const value = values.findLast((one) => one !== null);
    return `${name} ${value == null ? "without data" : words(value)}`;
  });
  const drawing = shape("svg", {
    ...{ viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "chart", role: "img" },
    "aria-label": `${label}: ${last.join(", ")}`,
  });
  drawing.append(
    shape("line", { class: "axis", x1: 0, x2: WIDTH, y1: HEIGHT - 1, y2: HEIGHT - 1 }),
    shape("line", { class: "axis", x1: 0, x2: WIDTH, y1: TOP, y2: TOP }),
    shape("text", { x: 0, y: TOP - 4 }, values.length === 0 ? "no data yet" : words(most)),
  );
  for (const { kind, values } of series) {
    const step = WIDTH / Math.max(1, values.length - 1);
    const at = (value, i) => [
      values.length === 1 ? WIDTH : i * step,
      HEIGHT - 2 - (most === 0 ? 0 : (value / most) * (HEIGHT - TOP - 4)),
    ];
    for (const run of runsOf(values)) {
      const points = run.map(({ value, i }) =>
        at(value, i)
          .map((number) => number.toFixed(1))
          .join(","),
      );
      const [x, y] = points.at(-1).split(",");
      if (points.length > 1) drawing.append(shape("polyline", { class: kind, points: points.join(" ") }));
      else
        drawing.append(
          shape("circle", { class: kind, cx: Math.max(3, Math.min(Number(x), WIDTH - 3)), cy: y, r: 2.5 }),
        );
    }
  }
  return drawing;
}

/** Stretches of values without a gap. */
function runsOf(values) {
  const runs = [[]];
  values.forEach((value, i) => {
    if (value !== null) runs.at(-1).push({ value, i });
    else if (runs.at(-1).length > 0) runs.push([]);
  });
  return runs.filter((run) => run.length > 0);
}

/** A bar as long as its share of the whole. @param share 0 to 1 */
export function bar(share) {
  const drawing = shape("svg", {
    viewBox: "0 0 100 6",
    class: "bar",
    preserveAspectRatio: "none",
    "aria-hidden": "true",
  });
  const width = Math.max(0, Math.min(1, share)) * 100;
  drawing.append(shape("rect", { class: "whole", width: 100, height: 6 }), shape("rect", { width, height: 6 }));
  return drawing;
}
