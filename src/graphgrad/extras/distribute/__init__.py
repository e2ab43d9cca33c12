"""The strategies of `tf.distribute`: replicas of a program on several devices of one process."""
