"""`tf.sparse`, sets, sparse embeddings."""
