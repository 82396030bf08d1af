// One agent: its action, the values of its actions, its observation.

class AgentPanel {
  constructor() {
    this.heading = element("h3");
    this.about = element("p", { class: "about" });
    this.worthTitle = element("h4");
    this.worth = element("div", { class: "rows worth" });
    this.seen = element("dl", { class: "seen" });
    this.root = element("section", { class: "panel agent-panel", "aria-label": "Agent" }, [
      this.heading,
      this.about,
      this.worthTitle,
      this.worth,
      element("h4", { text: "Observes" }),
      element("div", { class: "scroll tall", tabindex: "0" }, [this.seen]),
    ]);
    this.rows = [];
  }

  build(run) {
    this.rows = run.actions.map((name) => {
      const made = barRow("div", {});
      setText(made.name, name);
      return made;
    });
    this.worth.replaceChildren(...this.rows.map(({ row }) => row));
    this.numbers = run.observations.map(() => element("dd"));
    this.seen.replaceChildren(
      ...run.observations.flatMap((name, k) => [element("dt", { text: name }), this.numbers[k]]),
    );
  }

  show(episode, step, agent) {
    if (this.rows.length === 0) this.build(episode.run);
    const action = episode.action(step, agent);
    const name = episode.actionName(action);
    setText(this.heading, `Agent ${agent}`);
    setText(this.about, this.sentence(episode, step, agent, name));
    const observation = episode.array("observation");
    this.numbers.forEach((cell, k) => {
      setText(cell, observation.text(episode.frame(step), agent * this.numbers.length + k));
    });
    this.showWorth(episode, step, agent, action);
  }

  sentence(episode, step, agent, name) {
    if (episode.isOver(step)) return `The episode is over; its last action was ${name}.`;
    if (!episode.hasPairs) return `Does: ${name}.`;
    const additive = episode.actionName(episode.additiveAction(step, agent));
    if (name === additive) return `Does: ${name}, as in the additive baseline.`;
    const mark = episode.coordinates(step, agent) ? " ◆" : "";
    return `Does: ${name}. Additive baseline: ${additive}${mark}.`;
  }

  // Pair-wise methods: the additive baseline. Others: the agent's own utilities.
  showWorth(episode, step, agent, action) {
    const source = episode.hasPairs ? "explanation.additive.utilities" : "explanation.utilities";
    const worth = episode.array(source);
    this.worthTitle.hidden = this.worth.hidden = worth === undefined;
    if (worth === undefined) return;
    setText(
      this.worthTitle,
      episode.hasPairs
        ? "Additive baseline: value of each action (●: taken, ○: its best)"
        : "Its own value of each action (●: taken)",
    );
    const first = agent * this.rows.length;
    const numbers = this.rows.map((_, k) => worth.at(episode.agentStep(step), first + k));
    const finite = numbers.filter(Number.isFinite);
    const [low, high] = [Math.min(...finite), Math.max(...finite)];
    this.rows.forEach(({ row, mark, number, fill }, k) => {
      const share = Number.isFinite(numbers[k])
        ? 0.06 + (0.94 * (numbers[k] - low)) / (high - low || 1)
        : 0;
      setText(number, worth.text(episode.agentStep(step), first + k));
      const isAdditive = episode.hasPairs && k === episode.additiveAction(step, agent);
      setText(mark, k === action ? "●" : isAdditive ? "○" : "");
      fill.style.width = `${100 * share}%`;
      row.classList.toggle("chosen", k === action);
      row.classList.toggle("forbidden", !episode.isAllowed(step, agent, k));
    });
  }
}
