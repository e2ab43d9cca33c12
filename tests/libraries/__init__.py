"""Programs on libraries on top of TensorFlow, compared with what they give there; `make test-libraries` runs them."""
