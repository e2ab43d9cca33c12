"""What programs use besides: loaded when first used, never imported by the core or the `tf` surface."""
