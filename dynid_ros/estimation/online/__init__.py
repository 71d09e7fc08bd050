# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""
Online identification, sample by sample, while the arm moves.

From a joint state to a published estimate, nine classes pass the data on, each with its input and
output. The node `Identifier` makes the first, second and last one, joins the second to the third,
and asks the third for the estimate; `replay` feeds a recording to the third:

1. `StateSubscription`: a topic → messages
2. `JointStateReader`: messages → stamps, positions of encoders and drive signals, joint by joint
3. `OnlineIdentifier`, the session, which runs the stages below: these → times since its first
   sample and joint positions, counted and hashed
4. `RowPipeline`, which runs stages 5 to 7: samples → `RowBlock`, filtered rows of the regressor;
   it holds the first samples to choose cut-off and delay, unless both are given
5. `SampleValidation`: samples → stretches without repeats, spikes, jumps and gaps
6. `Resampler`: stretches → samples at a uniform rate
7. `CausalConditioner`: uniform samples → low-passed positions, velocities and torque
8. `RecursiveLeastSquares`: `RowBlock` → predicted torque, triangular factors → `LiveEstimate`
9. `ArmReport`: `LiveEstimate` → messages

Their bases (`JointStream` of 4, `StreamFilter` of 7) serve other streams, too. What one stage
alone owns stands in its module or in `dynid_ros.data.signals`: filters, the `Counters` of 5 and 6,
the `Intake`, `DoubtfulRows` and `RowHistory` of 3, and the `InnovationStatistics`,
`RunningMetrics` and `TimeBlocks` of 8. `ArmSubscription` makes 1 and 2 and watches for problems.
"""
