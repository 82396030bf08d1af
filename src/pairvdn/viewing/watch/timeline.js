// Curves along the timeline, drawn once; only the playhead moves.

class Timeline {
  constructor(parent, onScrub) {
    this.parent = parent;
    this.playhead = element("div", { class: "playhead" });
    const scrub = (event) => {
      const box = parent.getBoundingClientRect();
      onScrub(Math.round(((event.clientX - box.left) / box.width) * this.length));
    };
    parent.addEventListener("pointerdown", (event) => {
      parent.setPointerCapture(event.pointerId);
      scrub(event);
    });
    parent.addEventListener("pointermove", (event) => {
      if (parent.hasPointerCapture(event.pointerId)) scrub(event);
    });
  }

  // `episodes` has one episode for each side.
  show(episodes, length) {
    this.length = length;
    const lanes = lanesOf(episodes).map((lane) => {
      const canvas = element("canvas", {
        role: "img",
        "aria-label": `${lane.label} along the episode`,
      });
      const label = element("span", { class: "lane-label", text: lane.label });
      const range = element("span", { class: "lane-range", text: lane.rangeText });
      return {
        ...lane,
        canvas,
        row: element("div", { class: `lane ${lane.kind}` }, [canvas, label, range]),
      };
    });
    this.lanes = lanes;
    this.parent.replaceChildren(...lanes.map((lane) => lane.row), this.playhead);
    this.redraw();
  }

  redraw() {
    for (const { canvas, row, draw, series, range } of this.lanes ?? []) {
      const [width, height] = [row.clientWidth, row.clientHeight];
      const context = fitCanvas(canvas, width, height);
      context.clearRect(0, 0, width, height);
      const shared = { count: series.length, range, width, height, length: this.length };
      series.forEach((one, order) => draw(context, { ...one, order, ...shared }));
    }
  }

  move(step) {
    this.playhead.style.left = `${(100 * step) / Math.max(1, this.length)}%`;
  }
}

// The lanes: the first measure, the value, the reward, the number of coordinating agents.
function lanesOf(episodes) {
  const sides = (has, at) =>
    episodes
      .map((episode, side) => ({ episode, side, at: (step) => at(episode, step) }))
      .filter(({ episode }) => has(episode));
  const measure = episodes[0].measures[0];
  const all = () => true;
  const hasMeasure = (one) => measure && one.measures.includes(measure);
  const measured = (one, step) => one.array(`measure.${measure}`).at(one.frame(step));
  const reward = (one, step) => one.array("reward").at(one.frame(step));
  const coordinating = (one, step) => (one.isOver(step) ? 0 : one.coordinatingAgents(step));
  const lanes = [
    lane(words(measure ?? ""), "line", drawLine, sides(hasMeasure, measured)),
    lane("value", "line", drawLine, sides(all, (one, step) => one.value(step))),
    lane("reward", "bars", drawBars, sides(all, reward)),
    lane("agents that coordinate", "marks", drawMarks, sides((one) => one.hasPairs, coordinating)),
  ];
  return lanes.filter(({ series }) => series.length > 0);
}

function lane(label, kind, draw, series) {
  let [low, high] = kind === "line" ? [Infinity, -Infinity] : [0, 0];
  for (const { episode, at } of series) {
    for (let step = 0; step <= episode.length; step++) {
      const number = at(step);
      if (!Number.isFinite(number)) continue;
      [low, high] = [Math.min(low, number), Math.max(high, number)];
    }
  }
  if (low > high) [low, high] = [0, 0];
  const decimals = kind === "marks" ? 0 : 2;
  const rangeText = `${numberText(low, decimals)} … ${numberText(high, decimals)}`;
  return { label, kind, draw, series, range: [low, high], rangeText };
}

function vertical(number, [low, high], height) {
  const share = high > low ? (number - low) / (high - low) : 0.5;
  return height - 3 - share * (height - 6);
}

function drawLine(context, { episode, side, at, range, width, height, length }) {
  context.beginPath();
  let drawing = false;
  for (let step = 0; step <= episode.length; step++) {
    const number = at(step);
    const x = (step / Math.max(1, length)) * width;
    if (Number.isFinite(number))
      context[drawing ? "lineTo" : "moveTo"](x, vertical(number, range, height));
    drawing = Number.isFinite(number);
  }
  context.setLineDash(side === 0 ? [] : [5, 3]); // distinguishable without colour
  context.lineWidth = 1.75;
  context.lineJoin = "round";
  context.strokeStyle = theme.sides[side];
  context.stroke();
  context.setLineDash([]);
}

function drawBars(context, { episode, side, at, order, count, range, width, height, length }) {
  const each = width / Math.max(1, length);
  const zero = vertical(0, range, height);
  context.fillStyle = theme.sides[side];
  for (let step = 1; step <= episode.length; step++) {
    const top = vertical(at(step), range, height);
    const bar = Math.max(1, (0.8 * each) / count);
    const x = (step - 0.5) * each + (order / count - 0.5) * 0.8 * each;
    if (top !== zero)
      context.fillRect(x, Math.min(top, zero), bar, Math.max(1, Math.abs(top - zero)));
  }
}

// A strip for each side: the more agents, the stronger.
function drawMarks(context, { episode, side, at, order, count, width, height, length }) {
  const each = width / Math.max(1, length);
  const strip = height / count;
  context.fillStyle = theme.sides[side];
  for (let step = 0; step < episode.length; step++) {
    const agents = at(step);
    if (agents === 0) continue;
    const tall = Math.max(2, (strip - 3) * (agents / episode.run.agents));
    context.fillRect(step * each, (order + 1) * strip - tall - 1, Math.max(1, each), tall);
  }
}
