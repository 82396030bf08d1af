// Pairs as curves between agents: their shape, their look, and their distance to a point.

const BULGE = 0.18; // of the length, so that i-j and j-i are two curves
const SEGMENTS = 16;

// Curves bulge upwards, and the second of two between the same agents downwards.
function curveOf(from, to, flipped) {
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  const side = (dx < 0 ? -1 : 1) * (flipped ? -1 : 1);
  return {
    from,
    to,
    control: {
      x: (from.x + to.x) / 2 + 2 * BULGE * side * dy,
      y: (from.y + to.y) / 2 - 2 * BULGE * side * dx,
    },
  };
}

function pointOn({ from, control, to }, share) {
  const [a, b, c] = [(1 - share) ** 2, 2 * share * (1 - share), share ** 2];
  return { x: a * from.x + b * control.x + c * to.x, y: a * from.y + b * control.y + c * to.y };
}

function distanceTo(curve, point) {
  let [least, before] = [Infinity, curve.from];
  for (let k = 1; k <= SEGMENTS; k++) {
    const after = pointOn(curve, k / SEGMENTS);
    least = Math.min(least, distanceToSegment(point, before, after));
    before = after;
  }
  return least;
}

function distanceToSegment(point, from, to) {
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  const length = dx * dx + dy * dy || 1e-9;
  const along = ((point.x - from.x) * dx + (point.y - from.y) * dy) / length;
  const share = Math.min(1, Math.max(0, along));
  return Math.hypot(point.x - from.x - share * dx, point.y - from.y - share * dy);
}

// The curves of all pairs of visible agents, with their shares.
function pairCurves(episode, step, places) {
  const pairs = episode.pairs(step).filter(({ i, j }) => i !== j && places[i] && places[j]);
  const known = new Set(pairs.map(({ i, j }) => `${i},${j}`));
  const large = episode.largeContribution();
  return pairs.map((pair) => ({
    ...pair,
    share: shareOf(pair.contribution, large),
    curve: curveOf(
      places[pair.i],
      places[pair.j],
      pair.i > pair.j && known.has(`${pair.j},${pair.i}`),
    ),
  }));
}

// From -1 to 1.
function shareOf(contribution, large) {
  return Number.isFinite(contribution) ? Math.max(-1, Math.min(1, contribution / large)) : 0;
}

function strokeCurve(context, { from, control, to }, width, colour) {
  context.beginPath();
  context.moveTo(from.x, from.y);
  context.quadraticCurveTo(control.x, control.y, to.x, to.y);
  context.lineWidth = width;
  context.strokeStyle = colour;
  context.stroke();
}

function edgeWidth(share) {
  return 1.25 + 5 * Math.sqrt(Math.abs(share)); // so that small ones are visible
}

function drawEdge(context, edge, selected) {
  const width = edgeWidth(edge.share);
  context.lineCap = "round";
  const [border, colour] = selected ? [5, theme.focus] : [2, theme.canvas];
  strokeCurve(context, edge.curve, width + border, colour);
  strokeCurve(context, edge.curve, width, diverging(edge.share));
}

// A diamond on a pair that coordinates.
function drawMark(context, edge) {
  const { x, y } = pointOn(edge.curve, 0.5);
  const size = Math.max(3.5, Math.min(6, 0.5 * edge.curve.from.radius)); // smaller than agents
  context.beginPath();
  context.moveTo(x, y - size);
  context.lineTo(x + size, y);
  context.lineTo(x, y + size);
  context.lineTo(x - size, y);
  context.closePath();
  context.fillStyle = theme.canvas;
  context.fill();
  context.lineWidth = size / 3;
  context.strokeStyle = theme.ink;
  context.stroke();
}
