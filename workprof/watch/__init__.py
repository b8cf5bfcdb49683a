"""What somebody should know: alerts over declared numbers, and digests that are sent."""
