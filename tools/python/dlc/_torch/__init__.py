"""PyTorch graphs: the backend of torch.compile, and dlc.compile of PyTorch modules."""
