"""Films and pictures, opened with FFmpeg's libraries (PyAV)."""

import av
import numpy

from expected import equal, near, runs

# The encoder keeps each of 256 shades within about three (its quantiser is 20), colours of neighbouring pixels are shared:
# decoded pictures are 35 dB and more from the PNG. Another picture of the same film is below 30 dB where things move.
CLEAN = 33.0


def decibels(a, b):
    """Peak signal to noise ratio of two pictures."""
    error = numpy.mean((a.astype(float) - b.astype(float)) ** 2)
    return 10.0 * numpy.log10(255.0**2 / max(error, 1e-9))


def picture(run, number):
    """The PNG picture of a frame."""
    with av.open(str(run.folder / "pictures" / f"frame_{number:05}.png")) as file:
        return next(file.decode(video=0)).to_ndarray(format="rgb24")


for run in runs():
    path = run.folder / "film.mp4"
    with av.open(str(path)) as film:
        stream = film.streams.video[0]
        equal(stream.codec_context.name, "h264", f"{path}: codec")
        equal((stream.width, stream.height), run.picture, f"{path}: size")
        equal(stream.codec_context.pix_fmt, "yuv420p", f"{path}: pixels")
        equal(stream.frames, len(run.frames), f"{path}: frames by its table")
        near(float(stream.average_rate), run.frame_rate, f"{path}: frame rate")
        near(float(stream.duration * stream.time_base), len(run.frames) / run.frame_rate, f"{path}: duration")
        decoded = list(film.decode(video=0))
    equal(len(decoded), len(run.frames), f"{path}: frames by decoding")
    for frame in run.looked_at:
        number = frame["frame"]
        near(float(decoded[number].time), number / run.frame_rate, f"{path}: time of frame {number}")
        shown = decoded[number].to_ndarray(format="rgb24", src_colorspace="ITU709", dst_colorspace="ITU709")
        found = decibels(shown, picture(run, number))
        assert found > CLEAN, f"{path}: frame {number} is {found:.1f} dB from its picture, {CLEAN} expected"
    print(f"film: {path.parent.name}, {len(decoded)} frames")
