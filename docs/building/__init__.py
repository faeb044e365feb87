"""What `make docs` makes: the reference, the pictures, the index for programs. One file each."""
