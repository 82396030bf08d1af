"""The rules of the environment contract, each as a test; `pairvdn.envs.check_env` runs them all.

A rule is a generator of complaints: it yields a sentence for whatever it finds wrong.
"""
