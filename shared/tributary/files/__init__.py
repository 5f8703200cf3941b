"""Places that keep the bytes of evidence files: a folder, or a bucket of S3. Imported lazily, one by one."""
