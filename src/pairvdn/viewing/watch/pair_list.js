// All pairs of a step as a list: what is drawn as curves, for the keyboard and for exact numbers.

class PairList {
  constructor(onPick) {
    this.onPick = onPick;
    this.list = element("div", { class: "rows", role: "group", "aria-label": "Pairs" });
    this.root = element("section", { class: "panel pair-list", "aria-label": "All pairs" }, [
      element("h3", { text: "Pairs" }),
      element("p", {
        class: "about",
        text: "What each contributes to the value; ◆ they coordinate.",
      }),
      this.list,
    ]);
    this.rows = [];
  }

  build(count) {
    this.rows = Array.from({ length: count }, (_, pair) => {
      const [name, mark, number] = [
        element("span", { class: "name" }),
        element("span", { class: "mark" }),
        element("span", { class: "number" }),
      ];
      const fill = element("span", { class: "fill" });
      const button = element("button", { type: "button", class: "row", data: { pair } }, [
        name,
        mark,
        element("span", { class: "bar" }, [fill]),
        number,
      ]);
      button.addEventListener("click", () => this.onPick({ pair: this.agents[pair] }));
      return { button, name, mark, number, fill };
    });
    this.list.replaceChildren(...this.rows.map((row) => row.button));
  }

  show(episode, step, wanted) {
    if (this.rows.length !== episode.pairCount) this.build(episode.pairCount);
    const selected = wanted && episode.findPair(step, wanted);
    const large = episode.largeContribution();
    const pairs = episode.pairs(step);
    this.agents = pairs.map(({ i, j }) => [i, j]);
    pairs.forEach((one, pair) => {
      const row = this.rows[pair];
      const share = shareOf(one.contribution, large);
      setText(row.name, `${one.i} – ${one.j}`);
      setText(row.mark, one.coordinates ? "◆" : "");
      setText(row.number, numberText(one.contribution, episode.payoffDecimals));
      row.fill.style.width = `${50 * Math.abs(share)}%`;
      row.fill.style.left = `${share < 0 ? 50 - 50 * Math.abs(share) : 50}%`;
      row.fill.style.backgroundColor = diverging(share);
      row.button.setAttribute("aria-pressed", String(selected?.pair === pair));
    });
  }
}
