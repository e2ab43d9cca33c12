"""`tf.image` of TensorFlow 1. Written by `make faces` from exports.txt."""

from graphgrad.compat.lazy import face as _face

__all__, __getattr__, __dir__ = _face(__name__, """
graphgrad.extras.image.adjust: adjust_brightness adjust_contrast adjust_gamma convert_image_dtype
    per_image_standardization random_brightness random_contrast
graphgrad.extras.image.bounding_boxes: draw_bounding_boxes=draw_bounding_boxes_v1
    sample_distorted_bounding_box=sample_distorted_bounding_box_v1
graphgrad.extras.image.box_proposals: combined_non_max_suppression generate_bounding_box_proposals
    non_max_suppression_padded
graphgrad.extras.image.codec_functions: adjust_jpeg_quality decode_and_crop_jpeg decode_bmp decode_gif
    extract_jpeg_shape random_jpeg_quality
graphgrad.extras.image.color_spaces: adjust_hue adjust_saturation grayscale_to_rgb hsv_to_rgb image_gradients psnr
    random_hue random_saturation rgb_to_grayscale rgb_to_hsv rgb_to_yiq rgb_to_yuv sobel_edges total_variation
    yiq_to_rgb yuv_to_rgb
graphgrad.extras.image.crop_and_resize: crop_and_resize=crop_and_resize_v1
graphgrad.extras.image.decode_encode: decode_image encode_jpeg encode_png is_jpeg
graphgrad.extras.image.flips_and_crops: central_crop crop_to_bounding_box flip_left_right flip_up_down
    pad_to_bounding_box random_flip_left_right random_flip_up_down resize_image_with_crop_or_pad=resize_with_crop_or_pad
    resize_with_crop_or_pad rot90 transpose transpose_image=transpose
graphgrad.extras.image.glimpse: extract_glimpse
graphgrad.extras.image.jpeg_png: decode_jpeg decode_png
graphgrad.extras.image.non_max_suppression: non_max_suppression non_max_suppression_overlaps
    non_max_suppression_with_scores
graphgrad.extras.image.resize_functions: ResizeMethod=ResizeMethodV1 resize=resize_v1 resize_area resize_bicubic
    resize_bilinear resize_image_with_pad=resize_with_pad_v1 resize_images=resize_v1 resize_nearest_neighbor
graphgrad.extras.image.ssim: ssim ssim_multiscale
graphgrad.ops.nn.conv.patches: extract_image_patches=extract_patches_v1 extract_patches
graphgrad.ops.random.random: random_crop
""")
