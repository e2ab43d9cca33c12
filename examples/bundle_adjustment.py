import tensorflow as tf

# Bundle adjustment: from where points are in pictures, SciPy finds where cameras and points are. A picture of a point
# depends on one camera and one point alone, so the Jacobian is sparse: of its columns few products give all entries.

import numpy as np
import scipy.optimize

rng = np.random.default_rng(0)
cameras, points = 6, 40
seen = np.array([(c, p) for c in range(cameras) for p in range(points) if (c + p) % 3])  # pairs of camera and point


def pictures(turns, places, positions):
    """Turns points by axis and angle (Rodrigues), moves them, and projects them."""
    angle = tf.sqrt(tf.reduce_sum(turns**2, 1, keepdims=True) + 1e-12)
    axis = turns / angle
    along = tf.reduce_sum(axis * positions, 1, keepdims=True)
    turned = (positions * tf.cos(angle) + tf.linalg.cross(axis, positions) * tf.sin(angle)
              + axis * along * (1.0 - tf.cos(angle)))
    moved = turned + places
    return moved[:, :2] / moved[:, 2:]


unknowns = tf.placeholder(tf.float64, [6 * cameras + 3 * points])
poses = tf.reshape(unknowns[: 6 * cameras], [cameras, 6])
positions = tf.reshape(unknowns[6 * cameras :], [points, 3])
pose = tf.gather(poses, seen[:, 0])
flat = tf.reshape(pictures(pose[:, :3], pose[:, 3:], tf.gather(positions, seen[:, 1])), [-1])

project = tf.as_function(flat, unknowns, sparse=True)
truth = np.concatenate([np.column_stack([0.2 * rng.normal(size=(cameras, 3)), 0.5 * rng.normal(size=(cameras, 3))
                                         + [0.0, 0.0, 6.0]]).ravel(), rng.normal(size=3 * points)])
measured = project(truth)
start = truth + 0.05 * rng.normal(size=truth.size)

found = scipy.optimize.least_squares(lambda v: project(v) - measured, start, jac=project.jac, method="trf",
                                     x_scale="jac", xtol=1e-14, ftol=1e-14, gtol=1e-14, max_nfev=50)
jacobian = project.jac(start)
step = 1e-6 * rng.normal(size=start.size)
difference = (project(start + step) - project(start - step)) / 2.0

print("entries of the Jacobian: %d of %d" % (jacobian.nnz, jacobian.shape[0] * jacobian.shape[1]))
print("rms error in the beginning: %.4f" % np.sqrt(np.mean((project(start) - measured) ** 2)))
print("rms error in the end below 1e-6:", bool(np.sqrt(np.mean(found.fun**2)) < 1e-6))
print("Jacobian and finite differences agree to 1e-6:",
      bool(np.abs(jacobian @ step - difference).max() < 1e-6 * np.abs(difference).max()))
