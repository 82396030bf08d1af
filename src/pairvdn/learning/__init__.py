"""From environments and values to trained values: one loop for every method."""

from pairvdn.learning.collector import Collector
from pairvdn.learning.collectors import Collects
from pairvdn.learning.divergence import Diverged, Divergence, raise_if_diverged
from pairvdn.learning.host_collector import HostCollector
from pairvdn.learning.learner import Learner, LearnerState
from pairvdn.learning.records import Metrics, Transition
from pairvdn.learning.replay import Minibatches, RandomBatches, WholePass
from pairvdn.learning.schedules import collector_for, paper_learner, parallel_learner
from pairvdn.learning.updater import Learned, Updater

__all__ = [
    "Collector",
    "Collects",
    "Diverged",
    "Divergence",
    "HostCollector",
    "Learned",
    "Learner",
    "LearnerState",
    "Metrics",
    "Minibatches",
    "RandomBatches",
    "Transition",
    "Updater",
    "WholePass",
    "collector_for",
    "paper_learner",
    "parallel_learner",
    "raise_if_diverged",
]
