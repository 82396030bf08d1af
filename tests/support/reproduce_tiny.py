"""The paper's experiments at a scale for tests."""

from pairvdn.studies.reproduce import Scale

TINY = Scale(
    seeds=2,
    methods=("vdn",),
    episodes=2,
    long_steps=16,
    changes={
        "epochs": 2,
        "learner.steps_per_epoch": 8,
        "learner.random_steps": 16,
        "learner.replay_capacity": 32,
        "learner.batch_size": 8,
        "method.hidden_sizes": (4,),
        "evaluation.every": 1,
        "evaluation.episodes": 2,
    },
    per_environment={
        "box-jump": {"env.num_boxes": 2, "env.max_steps": 8},
        "simple-spread": {"env.num_agents": 2, "env.max_steps": 8},
        "cooking": {"env.max_steps": 8},
    },
    note="TINY: a test.",
)
