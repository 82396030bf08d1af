"""Train VDN and PairVDN on the climbing game, whose best joint action is a risk for each agent."""

import jax
import optax

from pairvdn import envs, values
from pairvdn.acting import LinearEpsilon
from pairvdn.evaluation import greedy_episodes, random_episodes
from pairvdn.learning import parallel_learner, raise_if_diverged

env = envs.make("climbing")  # [[11, -30, 0], [-30, 7, 6], [0, 0, 5]]


def train(method: str) -> values.Value:
    learner = parallel_learner(
        env,
        values.maker(method, env.spec, hidden_sizes=(32, 32)),
        num_epochs=6,
        rounds_per_epoch=10,
        num_envs=32,
        updates_per_round=20,
        batch_size=64,
        replay_capacity=8_000,
        n_step=1,
        loss="squared",
        optimiser=optax.adam(3e-3),
        exploration=LinearEpsilon(1.0, 0.1, epochs=6),
    )
    # One epoch at a time, so that we can print, save or stop in between.
    state = jax.jit(learner.init)(jax.random.key(0))
    epoch = jax.jit(learner.epoch, donate_argnums=0)
    for _ in range(learner.num_epochs):
        state, metrics = epoch(state)
        raise_if_diverged(state.divergence)
        print(
            f"{method:8} epoch {metrics.epoch}  epsilon {metrics.epsilon:.2f}  "
            f"loss {metrics.loss:7.3f}  return {metrics.mean_return:6.2f}"
        )
    return learner.value(state)


for method in ("vdn", "pairvdn"):
    episodes = greedy_episodes(env, train(method), key=jax.random.key(1), num_episodes=5)
    print(f"{method}, greedy: {episodes.returns.mean():g} of 11\n")
episodes = random_episodes(env, key=jax.random.key(1), num_episodes=1_000)
print(f"random: {episodes.returns.mean():.2f}")
