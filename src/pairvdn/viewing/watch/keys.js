// The table of all keys: key, help text and action.

function keyTable(actions) {
  const { player, nextMark, faster, switchTheme, help } = actions;
  const { cycleEpisode, cycleLabels, cycleAgent, cyclePair } = actions;
  return [
    { keys: [" ", "k"], shown: "Space", text: "play or pause", act: () => player.toggle() },
    {
      keys: ["ArrowRight"],
      shown: "→",
      text: "one step forward; with Shift, ten",
      act: (event) => player.go(player.step + (event.shiftKey ? 10 : 1)),
    },
    {
      keys: ["ArrowLeft"],
      shown: "←",
      text: "one step back; with Shift, ten",
      act: (event) => player.go(player.step - (event.shiftKey ? 10 : 1)),
    },
    { keys: ["Home"], shown: "Home", text: "to the start", act: () => player.go(0) },
    { keys: ["End"], shown: "End", text: "to the end", act: () => player.go(player.length) },
    {
      keys: ["n"],
      shown: "N",
      text: "to the next agent step in which agents coordinate",
      act: nextMark,
    },
    { keys: ["+", "="], shown: "+", text: "faster", act: () => faster(1) },
    { keys: ["-"], shown: "−", text: "slower", act: () => faster(-1) },
    { keys: ["e"], shown: "E", text: "next episode", act: cycleEpisode },
    {
      keys: ["a", "A"],
      shown: "A",
      text: "next agent; with Shift, the one before",
      act: (event) => cycleAgent(event.shiftKey ? -1 : 1),
    },
    {
      keys: ["p", "P"],
      shown: "P",
      text: "next pair; with Shift, the one before",
      act: (event) => cyclePair(event.shiftKey ? -1 : 1),
    },
    {
      keys: ["l"],
      shown: "L",
      text: "what agents show: actions, numbers, nothing",
      act: cycleLabels,
    },
    { keys: ["d"], shown: "D", text: "light or dark", act: switchTheme },
    { keys: ["?", "h"], shown: "?", text: "keys and words", act: help },
  ];
}

function listenToKeys(table) {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]"))
      return;
    const target = event.target;
    // Lists keep all their keys, sliders their arrows, and buttons the space bar.
    if (target.matches("select")) return;
    if (target.matches("button") && event.key === " ") return;
    if (target.matches("input[type=range]") && /^(Arrow|Home|End)/.test(event.key)) return;
    const entry = table.find(({ keys }) => keys.includes(event.key));
    if (!entry) return;
    event.preventDefault();
    entry.act(event);
  });
}

function showKeys(table, list) {
  list.replaceChildren(
    ...table.flatMap(({ shown, text }) => [
      element("dt", {}, [element("kbd", { text: shown })]),
      element("dd", { text }),
    ]),
  );
}
