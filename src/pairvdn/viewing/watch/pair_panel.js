// The table of the selected pair: a heat map that marks the chosen cell and the additive one.

class PairPanel {
  constructor() {
    this.heading = element("h3", { text: "Pair" });
    this.about = element("p", { class: "about" });
    this.table = element("table", { class: "heat" });
    this.verdict = element("p", { class: "verdict" });
    const key = element("p", { class: "key" }, [
      element("span", { class: "swatch chosen" }),
      "chosen ",
      element("span", { class: "swatch additive" }),
      explained("span", "additive baseline", GLOSSARY["additive baseline"]),
      element("span", { class: "ramp", "aria-hidden": "true" }),
      "low to high",
    ]);
    this.root = element("section", { class: "panel pair-panel", "aria-label": "Table of a pair" }, [
      this.heading,
      this.about,
      element("div", { class: "scroll" }, [this.table]),
      this.verdict,
      key,
    ]);
    this.cells = [];
  }

  // The cells are made once; steps change only their contents.
  build(actions) {
    const corner = element("td", { class: "corner" });
    const head = element("tr", {}, [
      corner,
      ...actions.map((name) => element("th", { scope: "col", text: name })),
    ]);
    this.cells = actions.map(() => actions.map(() => element("td")));
    const rows = this.cells.map((cells, row) =>
      element("tr", {}, [element("th", { scope: "row", text: actions[row] }), ...cells]),
    );
    this.table.replaceChildren(element("thead", {}, [head]), element("tbody", {}, rows));
    this.corner = corner;
  }

  show(episode, step, wanted) {
    if (this.cells.length === 0) this.build(episode.run.actions);
    const found = wanted && episode.findPair(step, wanted);
    this.root.classList.toggle("empty", !found);
    if (!found) {
      setText(this.heading, "Pair");
      setText(
        this.about,
        wanted
          ? `Agent ${wanted[0]} leads no pair in this step.`
          : "Click a pair to see its table.",
      );
      setText(this.verdict, "");
      return;
    }
    const { i, j, chosen, additive } = found;
    setText(this.heading, `Pair ${i} – ${j}`);
    const moved =
      wanted[0] === i && wanted[1] === j
        ? ""
        : ` (${wanted[0]} and ${wanted[1]} are no pair in this step)`;
    setText(this.about, `Rows: agent ${i}. Columns: agent ${j}.${moved}`);
    setText(this.corner, `${i} \\ ${j}`);
    this.colourCells(episode, step, found);
    this.showVerdict(episode, step, found, chosen, additive);
  }

  colourCells(episode, step, { pair, i, j, chosen, additive }) {
    const numbers = this.cells.map((cells, row) =>
      cells.map((_, column) => episode.cell(step, pair, row, column)),
    );
    const isAllowed = (row, column) =>
      episode.isAllowed(step, i, row) && episode.isAllowed(step, j, column);
    // Cells that are not allowed must not use up the colours.
    const compared = numbers.flatMap((line, row) =>
      line.filter((number, column) => Number.isFinite(number) && isAllowed(row, column)),
    );
    const [low, high] = [Math.min(...compared), Math.max(...compared)];
    this.cells.forEach((cells, row) =>
      cells.forEach((cell, column) => {
        const number = numbers[row][column];
        const allowed = isAllowed(row, column);
        const colour = sequential(
          allowed && Number.isFinite(number) ? (number - low) / (high - low || 1) : 0,
        );
        setText(cell, numberText(number, episode.payoffDecimals));
        cell.style.backgroundColor = colour;
        cell.style.color = textOn(colour);
        cell.classList.toggle("chosen", row === chosen[0] && column === chosen[1]);
        cell.classList.toggle("additive", row === additive[0] && column === additive[1]);
        cell.classList.toggle("forbidden", !allowed);
      }),
    );
  }

  showVerdict(episode, step, found, chosen, additive) {
    const names = (cell) => cell.map((action) => episode.actionName(action)).join(" × ");
    const decimals = episode.payoffDecimals;
    const both = `Chosen: ${names(chosen)}, ${numberText(found.contribution, decimals)}. `;
    const differs = chosen[0] !== additive[0] || chosen[1] !== additive[1];
    this.verdict.classList.toggle("coordinates", found.coordinates);
    if (!differs) {
      setText(this.verdict, `${both}The additive baseline is the same.`);
      return;
    }
    const there = episode.cell(step, found.pair, ...additive);
    const alternative = `Additive baseline: ${names(additive)}, ${numberText(there, decimals)}. `;
    const pairGain = signedText(found.contribution - there, decimals);
    const teamGain = signedText(episode.teamGain(step), decimals);
    const worth = found.coordinates
      ? `They coordinate: ${pairGain} for this pair, ${teamGain} for the team.`
      : "It makes no difference to the team.";
    setText(this.verdict, both + alternative + worth);
  }
}
