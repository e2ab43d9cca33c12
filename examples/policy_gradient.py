import tensorflow as tf

# REINFORCE on a pole that is balanced on a cart: grad_ys weighs the gradient of each action's log-probability by the
# discounted reward that followed. (Williams, 1992; the cart of Barto, Sutton and Anderson, 1983.)

import numpy as np

rng = np.random.RandomState(4)


def move(state, action):
    """One hundredth of 2 seconds later."""
    position, speed, angle, turning = state
    force = 10.0 if action else -10.0
    s, c = np.sin(angle), np.cos(angle)
    push = (force + 0.05 * turning**2 * s) / 1.1
    turning_faster = (9.8 * s - c * push) / (0.5 * (4.0 / 3.0 - 0.1 * c**2 / 1.1))
    faster = push - 0.05 * turning_faster * c / 1.1
    return np.array([position + 0.02 * speed, speed + 0.02 * faster, angle + 0.02 * turning,
                     turning + 0.02 * turning_faster])


states = tf.placeholder(tf.float32, [None, 4])
actions = tf.placeholder(tf.int32, [None])
advantages = tf.placeholder(tf.float32, [None])
W1 = tf.Variable((rng.randn(4, 16) * 0.5).astype(np.float32))
b1 = tf.Variable(tf.zeros([16]))
W2 = tf.Variable((rng.randn(16, 2) * 0.1).astype(np.float32))
logits = tf.matmul(tf.nn.relu(tf.matmul(states, W1) + b1), W2)
log_probabilities = tf.reduce_sum(tf.one_hot(actions, 2) * tf.nn.log_softmax(logits), 1)
variables = tf.trainable_variables()
gradients = tf.gradients(log_probabilities, variables, grad_ys=-advantages)
train = tf.train.AdamOptimizer(0.02).apply_gradients(zip(gradients, variables))
probability = tf.nn.softmax(logits)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    lengths = []
    for batch in range(10):
        seen, done, worth = [], [], []
        for _ in range(6):
            state, rewards = rng.uniform(-0.05, 0.05, 4), 0
            while abs(state[0]) < 2.4 and abs(state[2]) < 0.2095 and rewards < 200:
                action = int(rng.rand() < sess.run(probability, {states: [state]})[0, 1])
                seen.append(state)
                done.append(action)
                state = move(state, action)
                rewards += 1
            lengths.append(rewards)
            worth.extend((1 - 0.97 ** np.arange(rewards, 0, -1)) / 0.03)
        worth = (worth - np.mean(worth)) / np.std(worth)
        sess.run(train, {states: seen, actions: done, advantages: worth})
        print("batch %d: steps on average %.2f" % (batch, np.mean(lengths[-6:])))
