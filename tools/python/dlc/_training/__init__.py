"""dlc.train_step: a whole training step as one program."""
