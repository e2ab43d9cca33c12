import tensorflow as tf

# Fits the rate constants of Robertson's chemical reactions, a stiff differential equation, to measurements: Gauss and
# Newton's method (Levenberg, Marquardt) with the Jacobian of the trajectory, whose steps are implicit.

import numpy as np

true_rates = np.array([0.04, 3e7, 1e4])
times = np.array([0.0, 0.01, 0.3, 4.0, 40.0])


def trajectory(log_rates):
    k1, k2, k3 = tf.unstack(tf.exp(log_rates))

    def slope(y, t):
        slow, fast = k1 * y[0] - k3 * y[1] * y[2], k2 * y[1] ** 2
        return tf.stack([-slow, slow - fast, fast])

    return tf.implicit.odeint(slope, np.array([1.0, 0.0, 0.0]), times, rtol=1e-5, atol=1e-9, method="radau")


log_rates = tf.placeholder(tf.float64, [3])
scale = np.array([1.0, 1e4, 1.0])
simulated = tf.reshape(trajectory(log_rates)[1:] * scale, [-1])
slopes = tf.jacobian(simulated, log_rates)

with tf.Session() as sess:
    measured = sess.run(simulated, {log_rates: np.log(true_rates)})
    guess = np.log(true_rates) + np.array([0.5, -0.4, 0.3])
    damping = 1e-3
    values, J = sess.run([simulated, slopes], {log_rates: guess})
    for iteration in range(4):
        residual = values - measured
        print("iteration %d: rms error %.5f, rates %.4f %.3e %.3e" % (
            iteration, np.sqrt(np.mean(residual**2)), *np.exp(guess)))
        guess = guess - np.linalg.solve(J.T @ J + damping * np.diag(np.diag(J.T @ J)), J.T @ residual)
        damping /= 10
        values, J = sess.run([simulated, slopes], {log_rates: guess})
    print("rates found:", " ".join("%.3e" % k for k in np.exp(guess)))
    print("relative error below 1e-4:", bool(np.max(np.abs(np.exp(guess) / true_rates - 1)) < 1e-4))
