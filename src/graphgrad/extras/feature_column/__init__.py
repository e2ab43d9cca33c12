"""`tf.feature_column`: how models read named features."""
