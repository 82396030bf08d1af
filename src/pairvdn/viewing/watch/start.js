// The page: unpack, build, and connect everything to the player.

async function main() {
  const about = JSON.parse(byId("about").textContent);
  const bytes = await inflate(byId("numbers").textContent);
  const episodes = about.runs.map((run, side) => episodesOf(run, side, about.arrays, bytes));
  await loadPictures(episodes.flat());
  const view = { labels: "action", agent: 0, pair: firstPair(episodes) };
  const player = new Player(() => refresh());
  const hovered = about.runs.map(() => null);
  const pick = (thing) => {
    Object.assign(view, thing ?? {});
    draw();
  };
  const hover = (side, thing) => {
    hovered[side] = thing;
    sides[side].showTip(thing, player.step);
  };
  const sides = about.runs.map((run, side) => new Side(run, side, { pick, hover }));
  const timeline = new Timeline(byId("lanes"), (step) => player.go(step));
  byId("sides").append(...sides.map(({ root }) => root));
  byId("sides").dataset.count = sides.length;
  describe(about.runs);

  const current = () => episodes.map((one) => one[Number(byId("episode").value)]);
  function draw() {
    for (const side of sides) side.draw(player.step, view);
  }
  function refresh() {
    document.body.dataset.step = player.step;
    document.body.classList.toggle("playing", player.playing);
    byId("play").setAttribute("aria-label", player.playing ? "Pause" : "Play");
    setText(byId("step"), `${player.step} / ${player.length}`);
    byId("scrub").value = player.step;
    byId("scrub").setAttribute("aria-valuetext", `step ${player.step} of ${player.length}`);
    timeline.move(player.step);
    draw();
    sides.forEach((side, order) => side.showTip(hovered[order], player.step));
  }
  // After a change of size or theme, draw everything again.
  function layout() {
    theme.read();
    setText(byId("theme"), theme.isDark ? "Light" : "Dark");
    sides.forEach((side, order) => {
      side.open(current()[order]);
      side.resize(sides.length);
    });
    timeline.redraw();
    draw();
  }
  function open() {
    const length = Math.max(...current().map((one) => one.length));
    byId("scrub").max = length;
    hovered.fill(null);
    sides.forEach((side, order) => side.open(current()[order]));
    timeline.show(current(), length);
    sides.forEach((side) => side.resize(sides.length));
    player.open(length);
    byId("speed").value = String(player.speed);
  }

  theme.read();
  connect({ player, view, sides, current, draw, layout, open });
  open();
  let known = "";
  const noticeSize = () => {
    // Panels change the height all the time; the drawings depend on these two sizes only.
    const size = `${byId("sides").clientWidth} ${window.innerHeight}`;
    if (size !== known) layout();
    known = size;
  };
  new ResizeObserver(noticeSize).observe(byId("sides"));
  window.addEventListener("resize", noticeSize);
  document.body.classList.add("ready");
}

function episodesOf(run, side, directory, bytes) {
  const episodes = run.episodes.map((about, number) => {
    const prefix = `${side}.${number}.`;
    const names = Object.keys(directory).filter((name) => name.startsWith(prefix));
    const arrays = Object.fromEntries(
      names.map((name) => [name.slice(prefix.length), new Numbers(bytes, directory[name])]),
    );
    return new Episode(run, about, arrays);
  });
  run.hasPairs = episodes[0].hasPairs;
  return episodes;
}

// Pictures that environments rendered, as images that a canvas can draw.
async function loadPictures(episodes) {
  for (const episode of episodes) {
    episode.pictures = episode.pictures.map((address) =>
      Object.assign(new Image(), { src: address }),
    );
    await Promise.all(episode.pictures.map((image) => image.decode()));
  }
}

// The first selection: a pair that coordinates, if there is one.
function firstPair(episodes) {
  const first = episodes.map((one) => one[0]).find((one) => one.hasPairs);
  if (!first) return null;
  const { i, j } = first.pairs(0).find(({ coordinates }) => coordinates) ?? first.pair(0, 0);
  return [i, j];
}

// Names come from files, so they are set as text.
function describe(runs) {
  const [first] = runs;
  setText(byId("title"), first.environment);
  setText(byId("subtitle"), `${counted(first.agents, "agent")}, greedy, seed ${first.seed}`);
  document.title = `${runs.map(({ name }) => name).join(" and ")} – pairvdn watch`;
  const options = first.episodes.map((_, number) => {
    const lengths = [...new Set(runs.map(({ episodes }) => episodes[number].length))];
    return element("option", {
      value: number,
      text: `${number + 1} (${lengths.map((length) => counted(length, "step")).join(", ")})`,
    });
  });
  byId("episode").replaceChildren(...options);
  byId("speed").replaceChildren(
    ...SPEEDS.map((speed) =>
      element("option", { value: speed, text: `${counted(speed, "step")}/s` }),
    ),
  );
}

// Buttons, lists, slider and keys.
function connect({ player, view, sides, current, draw, layout, open }) {
  const cycle = (list, by) => {
    list.selectedIndex = (list.selectedIndex + by + list.length) % list.length;
    list.dispatchEvent(new Event("change"));
  };
  // Agent steps only: a repeated action would count several times.
  const startsCoordinated = (one, step) =>
    step % one.actionRepeat === 0 && !one.isOver(step) && one.coordinatingAgents(step) > 0;
  const nextMark = () => {
    for (let step = player.step + 1; step < player.length; step++) {
      if (current().some((one) => startsCoordinated(one, step))) return player.go(step);
    }
  };
  const faster = (by) => {
    const list = byId("speed");
    list.selectedIndex = Math.min(list.length - 1, Math.max(0, list.selectedIndex + by));
    list.dispatchEvent(new Event("change"));
  };
  const switchTheme = () => {
    document.documentElement.dataset.theme = theme.isDark ? "light" : "dark";
    layout();
  };
  const cycleAgent = (by) => {
    const { agents } = current()[0].run;
    view.agent = (view.agent + by + agents) % agents;
    draw();
    sides.forEach((side) => side.reveal(side.agentPanel));
  };
  const cyclePair = (by) => {
    const episode = current().find((one) => one.hasPairs);
    if (!episode) return;
    const pairs = episode.pairs(player.step);
    const now = episode.findPair(player.step, view.pair)?.pair ?? 0;
    const { i, j } = pairs[(now + by + pairs.length) % pairs.length];
    view.pair = [i, j];
    draw();
    sides.forEach((side) => side.reveal(side.pairPanel));
  };
  const help = () => byId("help").showModal();
  const on = (id, event, act) => byId(id).addEventListener(event, act);
  on("first", "click", () => player.go(0));
  on("back", "click", () => player.go(player.step - 1));
  on("play", "click", () => player.toggle());
  on("forward", "click", () => player.go(player.step + 1));
  on("last", "click", () => player.go(player.length));
  on("next-mark", "click", nextMark);
  on("scrub", "input", (event) => player.go(Number(event.target.value)));
  on("speed", "change", (event) => (player.speed = Number(event.target.value)));
  on("episode", "change", open);
  on("labels", "change", (event) => {
    view.labels = event.target.value;
    draw();
  });
  on("theme", "click", switchTheme);
  on("help-button", "click", help);
  byId("next-mark").hidden = !current().some((one) => one.hasPairs);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", layout);
  const table = keyTable({
    player,
    nextMark,
    faster,
    cycleAgent,
    cyclePair,
    switchTheme,
    help,
    cycleEpisode: () => cycle(byId("episode"), 1),
    cycleLabels: () => cycle(byId("labels"), 1),
  });
  listenToKeys(table);
  showKeys(table, byId("help-keys"));
  showGlossary(byId("help-words"), Object.assign({}, ...sides.map(({ run }) => run.meanings)));
}

main().catch((error) => {
  byId("failure").hidden = false;
  setText(
    byId("failure"),
    `This page cannot be shown: ${error.message}. Use a browser from 2023 or later.`,
  );
  console.error(error);
});
