"""From environments and values to trained values: one loop for every method."""

from pairvdn.learning.collector import Collector
from pairvdn.learning.collectors import Collects
from pairvdn.learning.divergence import Diverged, Divergence, raise_if_diverged
from pairvdn.learning.host_collector import HostCollector
from pairvdn.learning.learner import Learner, LearnerState
from pairvdn.learning.losses import ErrorRule, Loss, TransitionLoss
from pairvdn.learning.optimisers import DecayingOptimiser, LinearDecay, Schedules
from pairvdn.learning.pqn import pqn_learner
from pairvdn.learning.recorders import Sequences, Windows
from pairvdn.learning.records import Frame, Metrics, Sequence, Transition
from pairvdn.learning.replay import Minibatches, Passes, RandomBatches, WholePass
from pairvdn.learning.schedules import collector_for, paper_learner, parallel_learner
from pairvdn.learning.sequence_losses import BlockLoss, ReturnRule, SequenceLoss
from pairvdn.learning.updater import Learned, Updater

__all__ = [
    "BlockLoss",
    "Collector",
    "Collects",
    "DecayingOptimiser",
    "Diverged",
    "Divergence",
    "ErrorRule",
    "Frame",
    "HostCollector",
    "Learned",
    "Learner",
    "LearnerState",
    "LinearDecay",
    "Loss",
    "Metrics",
    "Minibatches",
    "Passes",
    "RandomBatches",
    "ReturnRule",
    "Schedules",
    "Sequence",
    "SequenceLoss",
    "Sequences",
    "Transition",
    "TransitionLoss",
    "Updater",
    "WholePass",
    "Windows",
    "collector_for",
    "paper_learner",
    "parallel_learner",
    "pqn_learner",
    "raise_if_diverged",
]
