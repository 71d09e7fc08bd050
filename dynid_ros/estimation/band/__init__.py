"""Cut-off and delay of recordings, chosen by the prediction of blocks that were not fitted."""
