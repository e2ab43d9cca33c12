"""`tf.image`. Written by `make faces` from exports.txt."""

from graphgrad.extras.image.adjust import adjust_brightness as adjust_brightness
from graphgrad.extras.image.adjust import adjust_contrast as adjust_contrast
from graphgrad.extras.image.adjust import adjust_gamma as adjust_gamma
from graphgrad.extras.image.adjust import convert_image_dtype as convert_image_dtype
from graphgrad.extras.image.adjust import per_image_standardization as per_image_standardization
from graphgrad.extras.image.adjust import random_brightness as random_brightness
from graphgrad.extras.image.adjust import random_contrast as random_contrast
from graphgrad.extras.image.bounding_boxes import draw_bounding_boxes as draw_bounding_boxes
from graphgrad.extras.image.bounding_boxes import sample_distorted_bounding_box as sample_distorted_bounding_box
from graphgrad.extras.image.bounding_boxes import stateless_sample_distorted_bounding_box as stateless_sample_distorted_bounding_box
from graphgrad.extras.image.box_proposals import combined_non_max_suppression as combined_non_max_suppression
from graphgrad.extras.image.box_proposals import generate_bounding_box_proposals as generate_bounding_box_proposals
from graphgrad.extras.image.box_proposals import non_max_suppression_padded as non_max_suppression_padded
from graphgrad.extras.image.codec_functions import adjust_jpeg_quality as adjust_jpeg_quality
from graphgrad.extras.image.codec_functions import decode_and_crop_jpeg as decode_and_crop_jpeg
from graphgrad.extras.image.codec_functions import decode_bmp as decode_bmp
from graphgrad.extras.image.codec_functions import decode_gif as decode_gif
from graphgrad.extras.image.codec_functions import extract_jpeg_shape as extract_jpeg_shape
from graphgrad.extras.image.codec_functions import random_jpeg_quality as random_jpeg_quality
from graphgrad.extras.image.codec_functions import stateless_random_jpeg_quality as stateless_random_jpeg_quality
from graphgrad.extras.image.color_spaces import adjust_hue as adjust_hue
from graphgrad.extras.image.color_spaces import adjust_saturation as adjust_saturation
from graphgrad.extras.image.color_spaces import grayscale_to_rgb as grayscale_to_rgb
from graphgrad.extras.image.color_spaces import hsv_to_rgb as hsv_to_rgb
from graphgrad.extras.image.color_spaces import image_gradients as image_gradients
from graphgrad.extras.image.color_spaces import psnr as psnr
from graphgrad.extras.image.color_spaces import random_hue as random_hue
from graphgrad.extras.image.color_spaces import random_saturation as random_saturation
from graphgrad.extras.image.color_spaces import rgb_to_grayscale as rgb_to_grayscale
from graphgrad.extras.image.color_spaces import rgb_to_hsv as rgb_to_hsv
from graphgrad.extras.image.color_spaces import rgb_to_yiq as rgb_to_yiq
from graphgrad.extras.image.color_spaces import rgb_to_yuv as rgb_to_yuv
from graphgrad.extras.image.color_spaces import sobel_edges as sobel_edges
from graphgrad.extras.image.color_spaces import stateless_random_brightness as stateless_random_brightness
from graphgrad.extras.image.color_spaces import stateless_random_contrast as stateless_random_contrast
from graphgrad.extras.image.color_spaces import stateless_random_hue as stateless_random_hue
from graphgrad.extras.image.color_spaces import stateless_random_saturation as stateless_random_saturation
from graphgrad.extras.image.color_spaces import total_variation as total_variation
from graphgrad.extras.image.color_spaces import yiq_to_rgb as yiq_to_rgb
from graphgrad.extras.image.color_spaces import yuv_to_rgb as yuv_to_rgb
from graphgrad.extras.image.crop_and_resize import crop_and_resize as crop_and_resize
from graphgrad.extras.image.decode_encode import decode_image as decode_image
from graphgrad.extras.image.decode_encode import encode_jpeg as encode_jpeg
from graphgrad.extras.image.decode_encode import encode_png as encode_png
from graphgrad.extras.image.decode_encode import is_jpeg as is_jpeg
from graphgrad.extras.image.flips_and_crops import central_crop as central_crop
from graphgrad.extras.image.flips_and_crops import crop_to_bounding_box as crop_to_bounding_box
from graphgrad.extras.image.flips_and_crops import flip_left_right as flip_left_right
from graphgrad.extras.image.flips_and_crops import flip_up_down as flip_up_down
from graphgrad.extras.image.flips_and_crops import pad_to_bounding_box as pad_to_bounding_box
from graphgrad.extras.image.flips_and_crops import random_flip_left_right as random_flip_left_right
from graphgrad.extras.image.flips_and_crops import random_flip_up_down as random_flip_up_down
from graphgrad.extras.image.flips_and_crops import resize_with_crop_or_pad as resize_with_crop_or_pad
from graphgrad.extras.image.flips_and_crops import rot90 as rot90
from graphgrad.extras.image.flips_and_crops import stateless_random_flip_left_right as stateless_random_flip_left_right
from graphgrad.extras.image.flips_and_crops import stateless_random_flip_up_down as stateless_random_flip_up_down
from graphgrad.extras.image.flips_and_crops import transpose as transpose
from graphgrad.extras.image.glimpse import extract_glimpse_v2 as extract_glimpse
from graphgrad.extras.image.jpeg_png import decode_jpeg as decode_jpeg
from graphgrad.extras.image.jpeg_png import decode_png as decode_png
from graphgrad.extras.image.non_max_suppression import non_max_suppression as non_max_suppression
from graphgrad.extras.image.non_max_suppression import non_max_suppression_overlaps as non_max_suppression_overlaps
from graphgrad.extras.image.non_max_suppression import non_max_suppression_with_scores as non_max_suppression_with_scores
from graphgrad.extras.image.resize_functions import ResizeMethod as ResizeMethod
from graphgrad.extras.image.resize_functions import resize as resize
from graphgrad.extras.image.resize_functions import resize_with_pad as resize_with_pad
from graphgrad.extras.image.ssim import ssim as ssim
from graphgrad.extras.image.ssim import ssim_multiscale as ssim_multiscale
from graphgrad.ops.nn.conv.patches import extract_patches as extract_patches
from graphgrad.ops.random.random import random_crop as random_crop
from graphgrad.ops.random.stateless_functions import stateless_random_crop as stateless_random_crop

__all__ = [
    "ResizeMethod", "adjust_brightness", "adjust_contrast", "adjust_gamma", "adjust_hue", "adjust_jpeg_quality",
    "adjust_saturation", "central_crop", "combined_non_max_suppression", "convert_image_dtype", "crop_and_resize",
    "crop_to_bounding_box", "decode_and_crop_jpeg", "decode_bmp", "decode_gif", "decode_image", "decode_jpeg",
    "decode_png", "draw_bounding_boxes", "encode_jpeg", "encode_png", "extract_glimpse", "extract_jpeg_shape",
    "extract_patches", "flip_left_right", "flip_up_down", "generate_bounding_box_proposals", "grayscale_to_rgb",
    "hsv_to_rgb", "image_gradients", "is_jpeg", "non_max_suppression", "non_max_suppression_overlaps",
    "non_max_suppression_padded", "non_max_suppression_with_scores", "pad_to_bounding_box", "per_image_standardization",
    "psnr", "random_brightness", "random_contrast", "random_crop", "random_flip_left_right", "random_flip_up_down",
    "random_hue", "random_jpeg_quality", "random_saturation", "resize", "resize_with_crop_or_pad", "resize_with_pad",
    "rgb_to_grayscale", "rgb_to_hsv", "rgb_to_yiq", "rgb_to_yuv", "rot90", "sample_distorted_bounding_box",
    "sobel_edges", "ssim", "ssim_multiscale", "stateless_random_brightness", "stateless_random_contrast",
    "stateless_random_crop", "stateless_random_flip_left_right", "stateless_random_flip_up_down",
    "stateless_random_hue", "stateless_random_jpeg_quality", "stateless_random_saturation",
    "stateless_sample_distorted_bounding_box", "total_variation", "transpose", "yiq_to_rgb", "yuv_to_rgb"
]
