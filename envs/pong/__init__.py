"""Constants of pong's spec, shared by both twins. All lengths are in pixels, all speeds in pixels a frame."""

from __future__ import annotations

WIDTH = 500
HEIGHT = 640
PADDLE_HEIGHT = 70
HALF_PADDLE = 35
BALL = 32
HALF_BALL = 16
PADDLE_SPEED = 8
PADDLE_LOW = -35
PADDLE_HIGH = 605
PADDLE_START = 285
BALL_RIGHT = 468
BALL_TOP = 608
SERVE_X = 100
SERVE_Y = 304
SPEED_X = 10
SERVE_SPEED = 1
SPIN = 3
TOP_SPEED = 13
MOST_FRAMES = 8
BOUNCE_REWARD = 0.1
MAX_EPISODE_STEPS = 1000
