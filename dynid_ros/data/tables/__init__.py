"""Tables of numbers in named columns: text, npz, npy and MAT files, data sets of LeRobot."""
