// The scene of one run: the shapes of the environment, and pairs over them.

const REACH = 7; // pixels around a curve that select it

class SceneView {
  constructor(onPick, onHover) {
    this.canvas = element("canvas", { class: "scene", role: "img", tabindex: "-1" });
    this.canvas.addEventListener("click", (event) => onPick(this.thingAt(event)));
    this.canvas.addEventListener("pointermove", (event) => {
      const thing = this.thingAt(event);
      this.canvas.classList.toggle("over-thing", thing !== null);
      onHover(thing);
    });
    this.canvas.addEventListener("pointerleave", () => onHover(null));
  }

  // As wide as the column, as high as the world needs, but at most this share of the window.
  resize(episode, share) {
    const { left, bottom, right, top } = episode.bounds;
    const room = this.canvas.parentElement.clientWidth;
    const most = Math.max(220, Math.min(share * window.innerHeight, 620));
    this.width = room;
    this.height = Math.round(Math.min((room * (top - bottom)) / (right - left), most));
    this.canvas.style.height = `${this.height}px`;
    this.context = fitCanvas(this.canvas, this.width, this.height);
    this.scale = Math.min(this.width / (right - left), this.height / (top - bottom));
    this.origin = {
      x: this.width / 2 - (this.scale * (left + right)) / 2,
      y: this.height / 2 + (this.scale * (bottom + top)) / 2,
    };
  }

  place(x, y) {
    return { x: this.origin.x + this.scale * x, y: this.origin.y - this.scale * y };
  }

  // The k-th point of an array of points.
  point(points, frame, k) {
    return this.place(points.at(frame, 2 * k), points.at(frame, 2 * k + 1));
  }

  draw(episode, step, { labels, agent, pair }) {
    Object.assign(this, { episode, step });
    const context = this.context;
    context.fillStyle = theme.canvas;
    context.fillRect(0, 0, this.width, this.height);
    this.drawPicture(episode.pictures[episode.frame(step)], episode.bounds);
    this.drawRectangles(episode, episode.frame(step));
    this.drawCircles(episode, episode.frame(step));
    this.drawLines(episode, episode.frame(step));
    this.places = Array.from({ length: episode.run.agents }, (_, one) => {
      const shape = episode.agentShape(step, one);
      return shape && { ...this.place(shape.x, shape.y), radius: this.scale * shape.radius };
    });
    this.edges = episode.hasPairs ? pairCurves(episode, step, this.places) : [];
    const strongestLast = [...this.edges].sort((a, b) => Math.abs(a.share) - Math.abs(b.share));
    const chosen = pair && episode.findPair(step, pair);
    for (const edge of strongestLast) drawEdge(context, edge, edge.pair === chosen?.pair);
    this.drawAgents(episode, step, labels, agent);
    for (const edge of this.edges) if (edge.coordinates) drawMark(context, edge);
  }

  // The frame that the environment itself rendered, if it did.
  drawPicture(picture, { left, bottom, right, top }) {
    if (!picture) return;
    const corner = this.place(left, top);
    const size = [this.scale * (right - left), this.scale * (top - bottom)];
    this.context.drawImage(picture, corner.x, corner.y, ...size);
  }

  drawRectangles(episode, frame) {
    const get = (field) => episode.array(`scene.rectangles.${field}`);
    for (let k = 0; k < episode.shapes("rectangles"); k++) {
      const { x, y } = this.point(get("centre"), frame, k);
      const width = this.scale * get("size").at(frame, 2 * k);
      const height = this.scale * get("size").at(frame, 2 * k + 1);
      this.context.save();
      this.context.translate(x, y);
      this.context.rotate(-get("angle").at(frame, k));
      this.context.beginPath();
      this.context.rect(-width / 2, -height / 2, width, height);
      this.fill(ownColour(get("colour"), frame, k), Math.min(width, height));
      this.context.restore();
    }
  }

  drawCircles(episode, frame) {
    const get = (field) => episode.array(`scene.circles.${field}`);
    for (let k = 0; k < episode.shapes("circles"); k++) {
      const radius = this.scale * get("radius").at(frame, k);
      if (radius <= 0) continue;
      const { x, y } = this.point(get("centre"), frame, k);
      this.context.beginPath();
      this.context.arc(x, y, radius, 0, 2 * Math.PI);
      this.fill(ownColour(get("colour"), frame, k), 2 * radius);
    }
  }

  // Fill the path, with an outline inside of it.
  fill(colour, size) {
    this.context.save();
    this.context.fillStyle = css(colour);
    this.context.fill();
    this.context.clip();
    this.context.lineWidth = Math.min(3, size / 6);
    this.context.strokeStyle = outlineColour(colour);
    this.context.stroke();
    this.context.restore();
  }

  drawLines(episode, frame) {
    const get = (field) => episode.array(`scene.lines.${field}`);
    this.context.lineWidth = 1;
    for (let k = 0; k < episode.shapes("lines"); k++) {
      const [from, to] = [get("start"), get("end")].map((ends) => this.point(ends, frame, k));
      this.context.strokeStyle = lineColour(ownColour(get("colour"), frame, k));
      this.context.beginPath();
      this.context.moveTo(from.x, from.y);
      this.context.lineTo(to.x, to.y);
      this.context.stroke();
    }
  }

  drawAgents(episode, step, labels, selected) {
    const context = this.context;
    context.textAlign = "center";
    context.textBaseline = "middle";
    this.places.forEach((place, agent) => {
      if (!place) return;
      if (agent === selected) {
        context.beginPath();
        context.arc(place.x, place.y, place.radius * 1.25 + 4, 0, 2 * Math.PI);
        context.lineWidth = 2.5;
        context.strokeStyle = theme.focus;
        context.stroke();
      }
      if (labels === "none" || place.radius < 6) return;
      const action = episode.actionName(episode.action(step, agent));
      const sign = episode.isOver(step) ? "" : glyph(action);
      const text = labels === "number" ? String(agent) : sign;
      const size = Math.max(10, Math.min(1.15 * place.radius, 17));
      context.font = `700 ${size}px system-ui, sans-serif`;
      context.lineWidth = 3;
      context.lineJoin = "round";
      context.strokeStyle = "rgba(255,255,255,0.85)";
      context.strokeText(text, place.x, place.y + 0.5);
      context.fillStyle = "#10141a";
      context.fillText(text, place.x, place.y + 0.5);
    });
  }

  // The agent or pair under the pointer, or null; agents first: they are smaller targets.
  thingAt(event) {
    const box = this.canvas.getBoundingClientRect();
    const point = { x: event.clientX - box.left, y: event.clientY - box.top };
    let [nearest, least] = [null, Infinity];
    (this.places ?? []).forEach((place, agent) => {
      const distance = place
        ? Math.hypot(place.x - point.x, place.y - point.y) - place.radius
        : Infinity;
      if (distance <= 1 && distance < least) [nearest, least] = [{ agent }, distance];
    });
    if (nearest) return nearest;
    least = REACH;
    for (const edge of this.edges ?? []) {
      const distance = Math.max(0, distanceTo(edge.curve, point) - edgeWidth(edge.share) / 2);
      if (distance < least) [nearest, least] = [{ pair: [edge.i, edge.j] }, distance];
    }
    return nearest;
  }
}
