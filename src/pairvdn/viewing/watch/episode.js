// One recorded episode (evaluation/recording.py), by step.

class Episode {
  constructor(run, about, arrays) {
    Object.assign(this, about); // length, actionRepeat, measures, pictures
    this.run = run;
    this.arrays = arrays;
    this.hasPairs = "explanation.payoffs" in arrays;
    this.actionCount = run.actions.length;
    this.bounds = this.wholeBounds();
  }

  array(name) {
    return this.arrays[name];
  }

  // The frame to show at a step; the last one after the end.
  frame(step) {
    return Math.min(step, this.length);
  }

  // The agent step of a step; the last one after the end.
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
    const mask = this.array("explanation.mask");
    return mask.at(this.agentStep(step), agent * this.actionCount + action) > 0;
  }

  additiveAction(step, agent) {
    return this.array("explanation.additive.actions").at(this.agentStep(step), agent);
  }

  coordinates(step, agent) {
    const coordinated = this.array("explanation.additive.coordinated");
    return this.hasPairs && coordinated.at(this.agentStep(step), agent) > 0;
  }

  coordinatingAgents(step) {
    let count = 0;
    for (let agent = 0; agent < this.run.agents; agent++) count += this.coordinates(step, agent);
    return count;
  }

  // The value of the chosen joint action minus that of the additive baseline.
  teamGain(step) {
    const agentStep = this.agentStep(step);
    const [value, additive] = ["explanation.value", "explanation.additive.value"];
    return this.array(value).at(agentStep) - this.array(additive).at(agentStep);
  }

  // The value of the agent step; the mean over agents if each has its own.
  value(step) {
    const [values, agentStep] = [this.array("explanation.value"), this.agentStep(step)];
    let sum = 0;
    for (let head = 0; head < values.rowLength; head++) sum += values.at(agentStep, head);
    return sum / values.rowLength;
  }

  get pairCount() {
    return this.hasPairs ? this.array("explanation.edges").shape[1] : 0;
  }

  cell(step, pair, row, column) {
    if (row < 0 || column < 0) return NaN;
    const index = (pair * this.actionCount + row) * this.actionCount + column;
    return this.array("explanation.payoffs").at(this.agentStep(step), index);
  }

  get payoffDecimals() {
    return this.array("explanation.payoffs").decimals;
  }

  // One pair at one step: its agents, their actions, and those of the additive baseline.
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
      additive: [this.additiveAction(step, i), this.additiveAction(step, j)],
      contribution: this.cell(step, pair, ...chosen),
      coordinates: this.coordinates(step, i) || this.coordinates(step, j),
    };
  }

  pairs(step) {
    return Array.from({ length: this.pairCount }, (_, pair) => this.pair(step, pair));
  }

  // The pair of two agents; if they are not paired now, the pair of the first and its partner.
  findPair(step, [i, j]) {
    const pairs = this.pairs(step);
    return (
      pairs.find((one) => one.i === i && one.j === j) ??
      pairs.find((one) => one.i === j && one.j === i) ??
      pairs.find((one) => one.i === i) ??
      null
    );
  }

  // The contribution with full width and colour: the 0.9 quantile.
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

  // Position and radius of an agent in the world; null if it is invisible.
  agentShape(step, agent) {
    const frame = this.frame(step);
    for (const [kind, size, half] of [
      ["rectangles", "size", 0.5],
      ["circles", "radius", 1],
    ]) {
      const agents = this.shapes(kind) ? this.array(`scene.${kind}.agent`) : null;
      for (let k = 0; k < this.shapes(kind); k++) {
        if (agents.at(frame, k) !== agent) continue;
        const centre = this.array(`scene.${kind}.centre`);
        const sizes = this.array(`scene.${kind}.${size}`);
        const radius = half * sizes.at(frame, (sizes.rowLength / agents.rowLength) * k);
        return radius > 0
          ? { x: centre.at(frame, 2 * k), y: centre.at(frame, 2 * k + 1), radius }
          : null;
      }
    }
    return null;
  }

  // The area of all frames, so that the picture does not jump.
  wholeBounds() {
    const bounds = this.array("scene.bounds");
    const extreme = (side, choose) => {
      let edge = bounds.at(0, side);
      for (let frame = 1; frame < bounds.rows; frame++) edge = choose(edge, bounds.at(frame, side));
      return edge;
    };
    const [left, bottom] = [0, 1].map((side) => extreme(side, Math.min));
    const [right, top] = [2, 3].map((side) => extreme(side, Math.max));
    return { left, bottom, right, top };
  }
}
