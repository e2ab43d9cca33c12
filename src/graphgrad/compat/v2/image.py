"""`tf.image` of TensorFlow 2."""

# -- files -------------------------------------------------------------------------------
from graphgrad.ops.files import decode_jpeg as decode_jpeg
from graphgrad.ops.files import decode_png as decode_png

# -- images -------------------------------------------------------------------------------
from graphgrad.ops.image import adjust_brightness as adjust_brightness
from graphgrad.ops.image import adjust_contrast as adjust_contrast
from graphgrad.ops.image import adjust_gamma as adjust_gamma
from graphgrad.ops.image import central_crop as central_crop
from graphgrad.ops.image import convert_image_dtype as convert_image_dtype
from graphgrad.ops.image import crop_to_bounding_box as crop_to_bounding_box
from graphgrad.ops.image import flip_left_right as flip_left_right
from graphgrad.ops.image import flip_up_down as flip_up_down
from graphgrad.ops.image import pad_to_bounding_box as pad_to_bounding_box
from graphgrad.ops.image import per_image_standardization as per_image_standardization
from graphgrad.ops.image import random_brightness as random_brightness
from graphgrad.ops.image import random_contrast as random_contrast
from graphgrad.ops.image import random_flip_left_right as random_flip_left_right
from graphgrad.ops.image import random_flip_up_down as random_flip_up_down
from graphgrad.ops.image import resize_with_crop_or_pad as resize_with_crop_or_pad
from graphgrad.ops.image import rot90 as rot90
from graphgrad.ops.image import stateless_random_flip_left_right as stateless_random_flip_left_right
from graphgrad.ops.image import stateless_random_flip_up_down as stateless_random_flip_up_down
from graphgrad.ops.image import transpose as transpose
from graphgrad.ops.image_measures import adjust_hue as adjust_hue
from graphgrad.ops.image_measures import adjust_saturation as adjust_saturation
from graphgrad.ops.image_measures import grayscale_to_rgb as grayscale_to_rgb
from graphgrad.ops.image_measures import hsv_to_rgb as hsv_to_rgb
from graphgrad.ops.image_measures import image_gradients as image_gradients
from graphgrad.ops.image_measures import psnr as psnr
from graphgrad.ops.image_measures import random_hue as random_hue
from graphgrad.ops.image_measures import random_saturation as random_saturation
from graphgrad.ops.image_measures import rgb_to_grayscale as rgb_to_grayscale
from graphgrad.ops.image_measures import rgb_to_hsv as rgb_to_hsv
from graphgrad.ops.image_measures import rgb_to_yiq as rgb_to_yiq
from graphgrad.ops.image_measures import rgb_to_yuv as rgb_to_yuv
from graphgrad.ops.image_measures import sobel_edges as sobel_edges
from graphgrad.ops.image_measures import ssim as ssim
from graphgrad.ops.image_measures import stateless_random_brightness as stateless_random_brightness
from graphgrad.ops.image_measures import stateless_random_contrast as stateless_random_contrast
from graphgrad.ops.image_measures import stateless_random_hue as stateless_random_hue
from graphgrad.ops.image_measures import stateless_random_saturation as stateless_random_saturation
from graphgrad.ops.image_measures import total_variation as total_variation
from graphgrad.ops.image_measures import yiq_to_rgb as yiq_to_rgb
from graphgrad.ops.image_measures import yuv_to_rgb as yuv_to_rgb
from graphgrad.ops.image_resize import ResizeMethod as ResizeMethod
from graphgrad.ops.image_resize import resize as resize
from graphgrad.ops.image_resize import resize_with_pad as resize_with_pad
from graphgrad.ops.patches import extract_patches as extract_patches
from graphgrad.ops.random import random_crop as random_crop
from graphgrad.ops.crops import crop_and_resize as crop_and_resize
from graphgrad.ops.glimpse import extract_glimpse_v2 as extract_glimpse
