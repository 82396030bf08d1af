"""Games of a single joint action: the smallest tasks in which coordination decides."""
