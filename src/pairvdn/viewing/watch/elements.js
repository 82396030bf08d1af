// Elements. Text from files is set as textContent and attributes, never as HTML.

function element(tag, properties = {}, children = []) {
  const made = document.createElement(tag);
  const { text, data, ...attributes } = properties;
  if (text !== undefined) made.textContent = text;
  for (const [name, value] of Object.entries(data ?? {})) made.dataset[name] = value;
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

function byId(id) {
  return document.getElementById(id);
}

// Comparing is cheaper than writing to the page.
function setText(target, text) {
  if (target.textContent !== text) target.textContent = text;
}

// A row with a name, a mark, a bar and a number, around `tag`.
function barRow(tag, properties) {
  const span = (name) => element("span", { class: name });
  const [name, mark, number, fill] = ["name", "mark", "number", "fill"].map(span);
  const bar = element("span", { class: "bar" }, [fill]);
  const row = element(tag, { class: "row", ...properties }, [name, mark, bar, number]);
  return { row, name, mark, number, fill };
}

// A canvas in device pixels, drawn in CSS pixels.
function fitCanvas(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1;
  canvas.width = Math.max(1, Math.round(width * ratio));
  canvas.height = Math.max(1, Math.round(height * ratio));
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  return context;
}
