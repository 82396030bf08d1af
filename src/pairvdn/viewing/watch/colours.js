// The colours of the style sheet, and scales of them.

const theme = {
  read() {
    const style = getComputedStyle(document.documentElement);
    const get = (name) => style.getPropertyValue(`--${name}`).trim();
    const names = "ink muted line surface canvas less more neutral cell-low cell-high focus";
    for (const name of names.split(" ")) this[name] = get(name);
    this.sides = [get("side-0"), get("side-1")];
    this.isDark = get("is-dark") === "1";
  },
};

function parts(hex) {
  return [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
}

function mix(from, to, share) {
  const [a, b] = [parts(from), parts(to)];
  return `rgb(${a.map((part, k) => Math.round(part + share * (b[k] - part))).join(",")})`;
}

// From orange at -1 over grey at 0 to blue at 1: safe for the colour-blind.
function diverging(share) {
  const strength = Math.sqrt(Math.abs(share)); // so that small ones are visible
  return mix(theme.neutral, share < 0 ? theme.less : theme.more, strength);
}

// Cells of a table, from low to high.
function sequential(share) {
  return mix(theme["cell-low"], theme["cell-high"], share);
}

function luminance([red, green, blue]) {
  return (0.2126 * red + 0.7152 * green + 0.0722 * blue) / 255;
}

function textOn(colour) {
  const channels = colour.match(/\d+/g).map(Number);
  return luminance(channels) > 0.5 ? "#10141a" : "#ffffff";
}

// A shape's own colour, from 0 to 1, as 0 to 255.
function ownColour(array, row, shape) {
  return [0, 1, 2].map((part) => Math.round(255 * array.at(row, 3 * shape + part)));
}

function css(colour) {
  return `rgb(${colour.join(",")})`;
}

// On a dark ground greys are inverted, so that faint lines stay faint, and colours get lighter.
function lineColour(colour) {
  if (!theme.isDark) return css(colour);
  const isGrey = Math.max(...colour) - Math.min(...colour) < 12;
  return css(
    colour.map((part) => Math.round(isGrey ? 255 - 0.9 * part : part + 0.35 * (255 - part))),
  );
}

function outlineColour(colour) {
  const dark = theme.isDark && luminance(colour) < 0.35;
  return css(colour.map((part) => Math.round(dark ? part + 0.45 * (255 - part) : 0.6 * part)));
}
