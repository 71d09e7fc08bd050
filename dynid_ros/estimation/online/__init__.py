# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""
Online identification, sample by sample, while the arm moves.

From a joint state to a published estimate, class by class, each with its input and output. The
node `Identifier` runs the first two, and `replay` feeds a recording to the fourth:

1. `StateSubscription`, for the `ArmSubscription` of a node: a topic → messages
2. `JointStateReader`: messages → stamps, positions of encoders and drive signals, joint by joint
3. `OnlineIdentifier`, the session, which runs the stages below: these → times since its first
   sample and joint positions, counted and hashed
4. `RowSource`: samples → rows of the regressor, by the `RowPipeline` of stages 5 to 8; it holds
   the first samples to choose cut-off and delay, unless both are given
5. `SampleValidation`: samples → stretches without repeats, spikes, jumps and gaps
6. `Resampler`: stretches → samples at a uniform rate
7. `CausalConditioner`: uniform samples → low-passed positions, velocities and torque
8. `RowPipeline`: conditioned samples → `RowBlock`, filtered rows of the regressor
9. `RowLearner`: `RowBlock` → predicted torque, and the rows without outliers, by `DoubtfulRows`
10. `RecursiveLeastSquares`: rows → triangular factors → `Estimate`, which `ArmReport` publishes
"""
