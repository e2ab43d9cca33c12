"""A policy gradient: actions drawn in a run, their gradient in another."""

import numpy as np

import graphgrad.compat.v1 as tf


class Agent:
    def __init__(self, actions: int, rate: float = 0.01) -> None:
        self.observation = tf.placeholder(tf.float32, [None, 4])
        self.action = tf.placeholder(tf.int32, [None])
        self.advantage = tf.placeholder(tf.float32, [None])
        hidden = tf.layers.dense(self.observation, 8, tf.nn.tanh)
        self.logits = tf.layers.dense(hidden, actions)
        self.sample = tf.squeeze(tf.multinomial(self.logits, 1), axis=1)
        log_p = tf.nn.log_softmax(self.logits)
        chosen = tf.reduce_sum(tf.one_hot(self.action, actions) * log_p, axis=1)
        entropy = -tf.reduce_mean(tf.reduce_sum(tf.exp(log_p) * log_p, axis=1))
        self.loss = -tf.reduce_mean(chosen * self.advantage) - 0.01 * entropy
        self.train = tf.train.AdamOptimizer(rate).minimize(self.loss)

    def act(self, sess: tf.Session, observation: np.ndarray) -> int:
        return int(sess.run(self.sample, {self.observation: observation[None]})[0])

    def learn(self, sess: tf.Session, observations: list[np.ndarray], actions: list[int],
              rewards: list[float]) -> float:
        feed = {self.observation: np.array(observations), self.action: actions, self.advantage: rewards}
        loss, _ = sess.run([self.loss, self.train], feed_dict=feed)
        return float(loss)


agent = Agent(2)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    seen = [np.full(4, float(i)) for i in range(3)]
    done = [agent.act(sess, o) for o in seen]
    print(agent.learn(sess, seen, done, [1.0, 0.5, 0.25]))
