// The meanings of words on the page: tooltips, and a list in the help.

const GLOSSARY = {
  reward: "Reward of the team in the last step.",
  return: "Sum of the rewards so far.",
  value: "Q of the chosen joint action: the discounted return that the method expects.",
  "mean value": "Mean over agents of Q of the chosen action: each agent has its own value.",
  "additive baseline":
    "The nearest sum of one value per agent, as in VDN: each agent takes its own best action, averaged over the actions of its partners.",
  coordinating:
    "Number of agents whose action differs from the additive baseline, while the team's value is higher.",
  gain: "Value of the chosen joint action minus the value of the additive baseline's.",
  contribution: "Entry of a pair's table at the actions that its two agents take.",
};

// A word with a dotted line and, if it has one, its meaning as a tooltip.
function explained(tag, word, meaning) {
  if (!meaning) return element(tag, { text: word });
  return element(tag, { text: word, class: "explained", title: meaning });
}

function showGlossary(list, meanings) {
  const entries = Object.entries({ ...GLOSSARY, ...meanings });
  list.replaceChildren(
    ...entries.flatMap(([word, meaning]) => [
      element("dt", { text: words(word) }),
      element("dd", { text: meaning }),
    ]),
  );
}
