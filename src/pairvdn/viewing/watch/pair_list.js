// All pairs of a step as a list, for the keyboard and for exact numbers.

class PairList {
  constructor(onPick) {
    this.onPick = onPick;
    this.list = element("div", { class: "rows", role: "group", "aria-label": "Pairs" });
    this.root = element("section", { class: "panel pair-list", "aria-label": "All pairs" }, [
      element("h3", { text: "Pairs" }),
      element("p", {
        class: "about",
        text: "Contribution of each pair to the value; ◆ its agents coordinate.",
      }),
      this.list,
    ]);
    this.rows = [];
  }

  build(count) {
    this.rows = Array.from({ length: count }, (_, pair) => {
      const made = barRow("button", { type: "button", data: { pair } });
      made.row.addEventListener("click", () => this.onPick({ pair: this.agents[pair] }));
      return made;
    });
    this.list.replaceChildren(...this.rows.map(({ row }) => row));
  }

  show(episode, step, wanted) {
    if (this.rows.length !== episode.pairCount) this.build(episode.pairCount);
    const selected = wanted && episode.findPair(step, wanted);
    const large = episode.largeContribution();
    const pairs = episode.pairs(step);
    this.agents = pairs.map(({ i, j }) => [i, j]);
    pairs.forEach((one, pair) => {
      const { row, name, mark, number, fill } = this.rows[pair];
      const share = shareOf(one.contribution, large);
      setText(name, `${one.i} – ${one.j}`);
      setText(mark, one.coordinates ? "◆" : "");
      setText(number, numberText(one.contribution, episode.payoffDecimals));
      fill.style.width = `${50 * Math.abs(share)}%`;
      fill.style.left = `${share < 0 ? 50 - 50 * Math.abs(share) : 50}%`;
      fill.style.backgroundColor = diverging(share);
      row.setAttribute("aria-pressed", String(selected?.pair === pair));
    });
    this.selected = selected ? this.rows[selected.pair].row : null;
  }

  // Scroll the list, and only the list, to the selected pair.
  reveal() {
    if (!this.selected) return;
    const [box, row] = [this.list, this.selected].map((one) => one.getBoundingClientRect());
    if (row.top < box.top) this.list.scrollTop -= box.top - row.top;
    if (row.bottom > box.bottom) this.list.scrollTop += row.bottom - box.bottom;
  }
}
