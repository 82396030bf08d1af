// One recorded episode: what evaluation/recording.py writes, by step.

class Episode {
  constructor(run, about, arrays) {
    Object.assign(this, about); // length, actionRepeat, measures
    this.run = run;
    this.arrays = arrays;
    this.hasPairs = "explanation.payoffs" in arrays;
    this.actionCount = run.actions.length;
    this.bounds = this.wholeBounds();
  }

  array(name) {
    return this.arrays[name];
  }

  // The frame to show at a step; after its end an episode stands still.
  frame(step) {
    return Math.min(step, this.length);
  }

  // The agent step that a step belongs to; at the end, the last one.
  agentStep(step) {
    return Math.floor(Math.min(step, this.length - 1) / this.actionRepeat);
  }

  isOver(step) {
    return step >= this.length;
  }

  // The action that an agent takes in this step, or took last; -1: none was allowed.
  action(step, agent) {
    return this.array("actions").at(Math.min(step, this.length - 1), agent);
  }

  actionName(action) {
    return action < 0 ? "none" : this.run.actions[action];
  }

  isAllowed(step, agent, action) {
    return (
      this.array("explanation.mask").at(this.agentStep(step), agent * this.actionCount + action) > 0
    );
  }

  aloneAction(step, agent) {
    return this.array("explanation.additive.actions").at(this.agentStep(step), agent);
  }

  coordinates(step, agent) {
    return (
      this.hasPairs && this.array("explanation.additive.coordinated").at(this.agentStep(step), agent) > 0
    );
  }

  coordinatingAgents(step) {
    let count = 0;
    for (let agent = 0; agent < this.run.agents; agent++) count += this.coordinates(step, agent);
    return count;
  }

  // What the chosen joint action is worth more than that of agents who act alone.
  teamGain(step) {
    const agentStep = this.agentStep(step);
    return (
      this.array("explanation.value").at(agentStep) - this.array("explanation.additive.value").at(agentStep)
    );
  }

  // The value of the agent step; the mean over agents where each has its own.
  value(step) {
    const values = this.array("explanation.value");
    let sum = 0;
    for (let head = 0; head < values.rowLength; head++) sum += values.at(this.agentStep(step), head);
    return sum / values.rowLength;
  }

  get pairCount() {
    return this.hasPairs ? this.array("explanation.edges").shape[1] : 0;
  }

  cell(step, pair, row, column) {
    if (row < 0 || column < 0) return NaN;
    const place = (pair * this.actionCount + row) * this.actionCount + column;
    return this.array("explanation.payoffs").at(this.agentStep(step), place);
  }

  get payoffDecimals() {
    return this.array("explanation.payoffs").decimals;
  }

  // One pair at one step: who, what they chose, and what each would have chosen alone.
  pair(step, pair) {
    const edges = this.array("explanation.edges");
    const agentStep = this.agentStep(step);
    const [i, j] = [edges.at(agentStep, 2 * pair), edges.at(agentStep, 2 * pair + 1)];
    const chosen = [this.action(step, i), this.action(step, j)];
    return {
      pair,
      i,
      j,
      chosen,
      alone: [this.aloneAction(step, i), this.aloneAction(step, j)],
      contribution: this.cell(step, pair, ...chosen),
      coordinates: this.coordinates(step, i) || this.coordinates(step, j),
    };
  }

  pairs(step) {
    return Array.from({ length: this.pairCount }, (_, pair) => this.pair(step, pair));
  }

  // The pair of two agents; where they are none now, the pair of the first with its partner.
  findPair(step, [i, j]) {
    const pairs = this.pairs(step);
    return (
      pairs.find((one) => one.i === i && one.j === j) ??
      pairs.find((one) => one.i === j && one.j === i) ??
      pairs.find((one) => one.i === i) ??
      null
    );
  }

  // The contribution that has full width and colour: nine of ten are smaller.
  largeContribution() {
    if (this.large === undefined) {
      const sizes = [];
      for (let step = 0; step < this.length; step += this.actionRepeat) {
        for (const { contribution } of this.pairs(step))
          if (Number.isFinite(contribution)) sizes.push(Math.abs(contribution));
      }
      sizes.sort((a, b) => a - b);
      this.large = sizes[Math.floor(0.9 * sizes.length)] || sizes.at(-1) || 1;
    }
    return this.large;
  }

  shapes(kind) {
    const colour = this.array(`scene.${kind}.colour`);
    return colour === undefined ? 0 : colour.shape[1];
  }

  // Where an agent is and how large, in the world; null if nothing shows it.
  agentShape(step, agent) {
    const frame = this.frame(step);
    for (const [kind, size, half] of [
      ["rectangles", "size", 0.5],
      ["circles", "radius", 1],
    ]) {
      const who = this.shapes(kind) ? this.array(`scene.${kind}.agent`) : null;
      for (let k = 0; k < this.shapes(kind); k++) {
        if (who.at(frame, k) !== agent) continue;
        const centre = this.array(`scene.${kind}.centre`);
        const sizes = this.array(`scene.${kind}.${size}`);
        const radius = half * sizes.at(frame, (sizes.rowLength / who.rowLength) * k);
        return radius > 0
          ? { x: centre.at(frame, 2 * k), y: centre.at(frame, 2 * k + 1), radius }
          : null;
      }
    }
    return null;
  }

  // What is visible in any frame, so that the picture does not jump.
  wholeBounds() {
    const bounds = this.array("scene.bounds");
    const extreme = (place, choose) => {
      let found = bounds.at(0, place);
      for (let frame = 1; frame < bounds.rows; frame++)
        found = choose(found, bounds.at(frame, place));
      return found;
    };
    const [left, bottom] = [0, 1].map((place) => extreme(place, Math.min));
    const [right, top] = [2, 3].map((place) => extreme(place, Math.max));
    return { left, bottom, right, top };
  }
}
