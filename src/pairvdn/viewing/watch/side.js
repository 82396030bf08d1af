// One run: its name, its numbers at this step, its scene and its panels.

class Side {
  constructor(run, order, actions) {
    this.run = run;
    this.facts = element("dl", { class: "facts" });
    this.scene = new SceneView(actions.pick, (thing) => actions.hover(order, thing));
    this.tip = element("div", { class: "tip", hidden: "" });
    const heading = element("header", { class: "side-head" }, [
      element("span", { class: `dot side-${order}`, "aria-hidden": "true" }),
      element("h2", { text: run.name }),
      element("p", {
        class: "about",
        text: `${run.method}, ${run.checkpoint} checkpoint, epoch ${run.epoch}`,
      }),
      this.facts,
    ]);
    const stage = element("div", { class: "stage" }, [this.scene.canvas, this.tip]);
    this.agentPanel = new AgentPanel();
    this.pairPanel = run.hasPairs ? new PairPanel() : null;
    this.pairList = run.hasPairs ? new PairList(actions.pick) : null;
    const panels = [this.pairPanel, this.agentPanel, this.pairList]
      .filter(Boolean)
      .map(({ root }) => root);
    this.legend = run.hasPairs ? legend() : null;
    this.root = element(
      "article",
      { class: "side", "aria-label": run.name, data: { side: order } },
      [
        heading,
        element("div", { class: "view" }, [stage, ...(this.legend ? [this.legend.root] : [])]),
        element("div", { class: "panels" }, panels),
      ],
    );
  }

  // Show another episode.
  open(episode) {
    this.episode = episode;
    const { left, bottom, right, top } = episode.bounds;
    this.root.classList.toggle("wide-scene", (right - left) / (top - bottom) > 1.8);
    this.root.classList.toggle("wide-table", episode.actionCount > 5);
    this.scene.canvas.setAttribute(
      "aria-label",
      `${this.run.environment}: the scene at this step; pairs and agents are listed beside it`,
    );
    const { decimals, rowLength: heads } = episode.array("explanation.value");
    const rows = [
      ["reward", (step) => episode.array("reward").text(episode.frame(step))],
      ["return", (step) => episode.array("return").text(episode.frame(step))],
      [heads === 1 ? "value" : "mean value", (step) => numberText(episode.value(step), decimals)],
    ];
    const bound = episode.array("explanation.bound");
    if (bound) {
      rows.push([
        "below its bound by",
        (step) => numberText(bound.at(episode.agentStep(step)) - episode.value(step), decimals),
      ]);
    }
    for (const name of episode.measures) {
      rows.push([
        words(name),
        (step) => episode.array(`measure.${name}`).text(episode.frame(step)),
      ]);
    }
    if (episode.hasPairs) {
      rows.push(["coordinating", (step) => String(episode.coordinatingAgents(step))]);
      rows.push(["gain", (step) => signedText(episode.teamGain(step), decimals)]);
    }
    this.readouts = rows.map(([name, text]) => ({
      text,
      value: element("dd", { data: { fact: name } }),
      name,
    }));
    this.facts.replaceChildren(
      ...this.readouts.map(({ name, value }) =>
        element("div", {}, [explained("dt", name, this.meaning(name)), value]),
      ),
    );
    this.legend?.show(episode);
  }

  meaning(name) {
    const measure = this.episode.measures.find((one) => words(one) === name);
    return GLOSSARY[name] ?? this.run.meanings[measure];
  }

  // Two runs share the height with the tables below their scenes.
  resize(count) {
    this.scene.resize(this.episode, count === 1 ? 0.56 : 0.28);
  }

  // Scroll to the table of a pair, or to the panel of an agent.
  reveal(panel) {
    panel?.root.scrollIntoView({ block: "nearest" });
    if (panel === this.pairPanel) this.pairList?.reveal();
  }

  draw(step, view) {
    this.scene.draw(this.episode, step, view);
    for (const { value, text } of this.readouts) setText(value, text(step));
    this.root.classList.toggle("over", this.episode.isOver(step));
    this.pairPanel?.show(this.episode, step, view.pair);
    this.pairList?.show(this.episode, step, view.pair);
    this.agentPanel.show(this.episode, step, view.agent);
  }

  // Describe the agent or pair under the pointer.
  showTip(thing, step) {
    const text =
      thing && (thing.pair ? this.pairTip(thing.pair, step) : this.agentTip(thing.agent, step));
    this.tip.hidden = !text;
    setText(this.tip, text ?? "");
  }

  agentTip(agent, step) {
    const action = this.episode.actionName(this.episode.action(step, agent));
    return `Agent ${agent}: ${action}`;
  }

  pairTip(agents, step) {
    const found = this.episode.findPair(step, agents);
    if (!found) return null;
    const { i, j, contribution, coordinates } = found;
    const number = numberText(contribution, this.episode.payoffDecimals);
    return `Pair ${i} – ${j} contributes ${number}${coordinates ? " ◆ coordinating" : ""}`;
  }
}

// The meaning of the widths and colours of curves.
function legend() {
  const canvas = element("canvas", { class: "legend-scale", "aria-hidden": "true" });
  const [low, high] = [element("span"), element("span")];
  const root = element("div", { class: "legend" }, [
    explained("span", "A pair contributes", GLOSSARY.contribution),
    low,
    canvas,
    high,
    element("span", { class: "legend-mark" }, [
      element("span", { class: "diamond", "aria-hidden": "true" }),
      explained("span", "its agents coordinate", GLOSSARY.coordinating),
    ]),
  ]);
  const show = (episode) => {
    const large = episode.largeContribution();
    const decimals = Math.min(2, episode.payoffDecimals);
    setText(low, `${numberText(-large, decimals)} or less`);
    setText(high, `${signedText(large, decimals)} or more`);
    const context = fitCanvas(canvas, 120, 12);
    for (let x = 0; x < 120; x++) {
      const share = (x - 59.5) / 59.5;
      context.fillStyle = diverging(share);
      context.fillRect(x, 6 - edgeWidth(share) / 2, 1.5, edgeWidth(share));
    }
  };
  return { root, show };
}
