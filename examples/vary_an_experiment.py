"""Run a published experiment with parameters of your own: throw the block faster and faster."""

from experiments import experiment_named

thrown_block = experiment_named("thrown-block")
for speed in (4.5, 5.0, 5.5, 6.0, 7.0):
    run = thrown_block.run({"block.velocity": (-speed, 0.0, 0.2)})
    print(f"{speed:.1f} m/s: {run.verdict_line}")
