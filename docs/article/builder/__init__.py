"""What makes the article: WebAssembly of the batched twin and of faults planted in it, Python, the page."""
