// Making elements. Text from files goes only into textContent and attributes, never into HTML.

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

// Writing to the page costs more than comparing.
function setText(target, text) {
  if (target.textContent !== text) target.textContent = text;
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
