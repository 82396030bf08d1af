// Numbers and names as text.

function numberText(number, decimals) {
  if (Number.isNaN(number)) return "–";
  if (!Number.isFinite(number)) return number > 0 ? "∞" : "−∞";
  const text = Math.abs(number).toFixed(decimals);
  return number < 0 && Number(text) !== 0 ? `−${text}` : text;
}

function signedText(number, decimals) {
  return number > 0 ? `+${numberText(number, decimals)}` : numberText(number, decimals);
}

// best_height -> best height
function words(name) {
  return name.replaceAll("_", " ");
}

function counted(count, noun) {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

const GLYPHS = {
  left: "←",
  right: "→",
  up: "↑",
  down: "↓",
  jump: "↑",
  "up left": "↖",
  "up right": "↗",
  "down left": "↙",
  "down right": "↘",
  nothing: "•",
  stay: "•",
  idle: "•",
  rest: "•",
  stop: "•",
};

// One sign for an action, drawn on its agent.
function glyph(name) {
  return GLYPHS[name] ?? name.slice(0, 1).toUpperCase();
}
