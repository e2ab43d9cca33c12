"""`tf.distribute`: which strategy and which replica the code that runs belongs to, and the strategy of one replica."""
